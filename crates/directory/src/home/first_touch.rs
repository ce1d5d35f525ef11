//! First touch: the node that references a page first.

use super::{Entry, HomePolicy, PlacedPage};

/// The node that references a page first is its home for good, even if only to initialise it.
///
/// Source: Marchetti, Kontothanassis, Bianchini and Scott 1995; the naive policy that they compare
/// with `first-use`.
pub const ENTRY: Entry = Entry {
    name: "first-touch",
    summary: "the node that references the page first",
    source: "Marchetti et al. 1995",
    params: &[],
    needs_first_run: false,
    needs_allocations: false,
    build: |_, _| Ok(Box::new(FirstTouchHome)),
};

struct FirstTouchHome;

impl HomePolicy for FirstTouchHome {
    fn place(&mut self, page: PlacedPage) -> u16 {
        page.node
    }

    fn places_at_use(&self) -> bool {
        true
    }
}
