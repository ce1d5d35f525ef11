"""Claims of section 5.3: the tiers on separate machines."""

from collections.abc import Callable, Mapping
from itertools import pairwise

from homenode_studies.studies.claims import Claim, empty, less_than, more_than
from homenode_studies.studies.foglia import DB, EC, WEB
from homenode_studies.studies.foglia import measures as m
from homenode_studies.studies.foglia.claims_workload import of_workloads
from homenode_studies.studies.foglia.judging import ANY_DIFFERENCE, HIGHER, LOWER, under_both
from homenode_studies.studies.foglia.matrix import PROTOCOLS, SERVER
from homenode_studies.studies.foglia.reasons import CHATTY, of
from homenode_studies.studies.foglia.runs import ours
from homenode_studies.studies.foglia.tables import label
from homenode_studies.studies.reasons import Number, Reason
from homenode_studies.studies.tables import Evidence, Row

PAPERS_ORDER = "PSCR > AMSD > MESI"
"""Section 5.2.2: PSCR outperforms both others, and MESI is the least."""
SIGNIFICANT = 0.1
"""The share of the invalidation misses from which on it is significant."""


def by_workload(value: Callable[[Row], float]) -> Number:
    """A value of each workload under MESI."""
    return lambda e: {name: value(ours(e).at(name, SERVER)) for name in (EC, DB, WEB)}


def _kernels_part(row: Row) -> float:
    return 100 * m.over(m.misses(row, part="kernel"), m.misses(row), "misses")


def own_misses(row: Row) -> float:
    """The user misses of true and false sharing."""
    names = ("misses_invalidation_true", "misses_invalidation_false")
    return float(sum(row[name] - row[f"kernel_{name}"] for name in names))


def of_sharing(value: Callable[..., float]) -> Number:
    """User transactions or misses of true and false sharing, DB over EC-server, under MESI."""
    return lambda e: under_mesi(e, lambda row: value(row, "true", "false", part="user"), DB, EC)


_KERNEL = Reason(
    "checked: the kernel, which handles the network and files, has these percentages of the "
    "misses: {kernel:.0f}. User misses in % of the references: {user:.3f} (MESI; in the paper all "
    "misses have the order DB, EC-server, Web-server)",
    {
        "kernel": by_workload(_kernels_part),
        "user": by_workload(lambda row: m.misses(row, part="user")),
    },
)


def against(
    evidence: Evidence, value: Callable[[Row], float], one: str, other: str
) -> dict[str, float]:
    """A value of one workload over that of another, by protocol."""
    runs = ours(evidence)
    return {
        label(name): m.over(
            value(runs.at(one, SERVER.changed(protocol=name))),
            value(runs.at(other, SERVER.changed(protocol=name))),
            f"such events in {other}",
        )
        for name in PROTOCOLS
    }


def under_mesi(evidence: Evidence, value: Callable[[Row], float], one: str, other: str) -> float:
    """A value of one workload over that of another, under MESI."""
    runs = ours(evidence)
    return m.over(
        value(runs.at(one, SERVER)), value(runs.at(other, SERVER)), f"such events in {other}"
    )


def in_order(powers: Mapping[str, float]) -> str:
    """The names by power, the one with the most first.

    >>> in_order({"MESI": 1.00, "AMSD": 1.01, "PSCR": 1.5})
    'PSCR > AMSD = MESI'
    """
    names = sorted(powers, key=lambda name: -powers[name])
    said = names[0]
    for before, after in pairwise(names):
        said += f" {'>' if HIGHER(powers[before] / powers[after]) else '='} {after}"
    return said


def orders(evidence: Evidence) -> dict[str, str]:
    """The protocols of each workload in their order."""
    runs = ours(evidence)
    found = {}
    for workload in (EC, DB, WEB):
        powers = {
            label(name): m.gsp(runs.at(workload, SERVER.changed(protocol=name)))
            for name in PROTOCOLS
        }
        found[workload] = in_order(powers)
    return found


def user_part(evidence: Evidence, workload: str) -> float:
    """The share of user references in the invalidation misses under MESI."""
    row = ours(evidence).at(workload, SERVER)
    return m.over(m.invalidations(row, part="user"), m.invalidations(row), "invalidation misses")


CLAIMS = (
    Claim(
        "5.3",
        "DB has less power than EC-server",
        "decrease",
        "power of DB over EC-server",
        lambda e: against(e, m.gsp, DB, EC),
        LOWER,
        why=_KERNEL,
        post_hoc=ANY_DIFFERENCE,
    ),
    Claim(
        "5.3",
        "DB has more other misses than EC-server",
        "higher",
        "other misses of DB over EC-server",
        lambda e: against(e, m.others, DB, EC),
        more_than(1),
        why=_KERNEL,
    ),
    Claim(
        "5.3",
        "DB has the higher miss rate of the two",
        "higher",
        "misses of DB over EC-server",
        lambda e: against(e, m.misses, DB, EC),
        more_than(1),
        why=_KERNEL,
    ),
    Claim(
        "5.3",
        "DB has more coherence overhead of its user part than EC-server",
        "increased",
        "user coherence transactions and invalidation misses, DB over EC-server, MESI",
        lambda e: {
            "transactions": under_mesi(e, lambda r: m.coherence(r, part="user"), DB, EC),
            "misses": under_mesi(e, lambda r: m.invalidations(r, part="user"), DB, EC),
        },
        more_than(1),
        why=Reason(
            "checked: most of it is passive sharing, which is caused by migrations. Of true and "
            "false sharing DB has {transactions:.1f} times the transactions and {misses:.1f} times "
            "the misses",
            {
                "transactions": of_sharing(m.coherence),
                "misses": of_sharing(m.invalidations),
            },
        ),
    ),
    Claim(
        "5.3",
        "Invalidation misses of the user part are significant in DB",
        "significant",
        "their share of the invalidation misses of DB, MESI",
        lambda e: user_part(e, DB),
        more_than(SIGNIFICANT),
        "%",
        why=_KERNEL,
    ),
    Claim(
        "5.3",
        "Web-server has more power than EC-server",
        "higher",
        "power of Web-server over EC-server",
        lambda e: against(e, m.gsp, WEB, EC),
        HIGHER,
        why=_KERNEL,
        post_hoc=ANY_DIFFERENCE,
    ),
    Claim(
        "5.3",
        "Web-server misses less than EC-server",
        "lower",
        "misses of Web-server over EC-server",
        lambda e: against(e, m.misses, WEB, EC),
        less_than(1),
        why=_KERNEL,
    ),
    Claim(
        "5.3",
        "Web-server has the lowest miss rate of the three and DB the highest",
        "order",
        "miss rate of DB over EC-server, and of EC-server over Web-server, MESI",
        lambda e: [under_mesi(e, m.misses, DB, EC), under_mesi(e, m.misses, EC, WEB)],
        more_than(1),
        why=_KERNEL,
    ),
    Claim(
        "5.3",
        "Web-server shares no user data",
        "none",
        "data blocks that several of its processes reference in user mode, at least one of which "
        "writes",
        lambda e: of_workloads(e, "written_shared_blocks", "table-3-user")[WEB],
        lambda value: value == 0,
        why="Apache has a scoreboard in shared memory, and freed pages are reused by other "
        "processes",
    ),
    Claim(
        "5.3",
        "Web-server has no user misses of true or false sharing",
        "absent",
        "in % of references, MESI",
        lambda e: m.invalidations(ours(e).at(WEB, SERVER), "true", "false", part="user"),
        lambda value: value == 0,
        why=Reason(
            "checked: the blocks of its data that several processes share and write in user mode "
            "are {blocks:.0f}, and yet there are {misses:,.0f} such misses, some even without the "
            "kernel (users), on pages of Apache's scoreboard. They are caused by migrations of the "
            "process to which a block belongs, but several processes have blocks on a page",
            {
                "blocks": lambda e: of_workloads(e, "written_shared_blocks", "table-3-user")[WEB],
                "misses": of(SERVER, own_misses, WEB),
            },
        ),
    ),
    Claim(
        "5.3",
        "It nevertheless has user invalidations of passive sharing",
        "some",
        "passive user transactions for 100 references, MESI",
        lambda e: m.coherence(ours(e).at(WEB, SERVER), "passive", part="user"),
        more_than(0),
    ),
    Claim(
        "5.3",
        "Its kernel has more invalidation misses than that of DB",
        "more",
        "the kernel's invalidation misses, Web-server over DB, MESI",
        lambda e: under_mesi(e, lambda r: m.invalidations(r, part="kernel"), WEB, DB),
        more_than(1),
    ),
    Claim(
        "5.3",
        "and more coherence transactions",
        "more",
        "the kernel's coherence transactions, Web-server over DB, MESI",
        lambda e: under_mesi(e, lambda r: m.coherence(r, part="kernel"), WEB, DB),
        more_than(1),
    ),
    *under_both(
        Claim(
            "5.3",
            "The protocols have the same order in all three workloads",
            "the same",
            "protocols by power; in the paper PSCR has more than AMSD, and AMSD more than MESI",
            orders,
            lambda found: set(found.values()) == {PAPERS_ORDER},
            why=CHATTY,
            post_hoc="the same order in all three, whichever it was, by any difference",
        )
    ),
    *under_both(
        Claim(
            "7",
            "PSCR is the best protocol for each workload",
            "best",
            "workloads with another one",
            lambda e: [w for w, order in orders(e).items() if not order.startswith("PSCR >")],
            empty,
            why=CHATTY,
            post_hoc=ANY_DIFFERENCE,
        )
    ),
    Claim(
        "7",
        "DB is the part with the least power",
        "less performing",
        "power of DB over Web-server",
        lambda e: against(e, m.gsp, DB, WEB),
        LOWER,
        why=_KERNEL,
        post_hoc=ANY_DIFFERENCE,
    ),
)
"""Claims of section 5.3, with figures 19 to 22."""
