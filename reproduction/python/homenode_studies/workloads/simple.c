/* simple: hydrodynamics and heat flow on a mesh that moves with the fluid.
 *
 * A square of gas between walls, cut into zones by nodes that move with it. A step accelerates the
 * nodes by the pressures around them, moves them, finds density, energy and pressure of the zones
 * from their new shapes, and lets heat flow, implicitly, along the rows and then the columns.
 *
 * Sharing: loop iterations, here rows of nodes or zones, are divided into bands of adjacent ones,
 * so a band's first and last rows are read by its neighbour; in the flow of heat along columns all
 * threads use pieces of all rows. The length of a step is found by all together. A thread copies
 * the rows that it needs into private memory first; most references are private.
 *
 * Source: Bolosky's thesis, section 2.2.1 (e-simp, an EPEX program from IBM, a version of the
 * benchmark SIMPLE by Crowley, Hendrickson and Rudy); Markatos and Chronaki use it too.
 * Ours: own code from the published outline: the same phases, an ideal gas in plane geometry, and
 * a constant conductance between zones.
 */
enum { BY_COLUMNS = 0 };
#include "simple.h"

static const struct workload simple = {
    .name = "simple",
    .summary = "Hydrodynamics and heat flow on a mesh that moves with the fluid",
    .size_help = "zones in a row and in a column",
    .size_default = 96, .size_quick = 16, .size_min = 2, .size_max = 2048,
    .iterations_default = 14, .iterations_quick = 4,
};

int main(int argc, char **argv)
{
    return run(&simple, argc, argv);
}
