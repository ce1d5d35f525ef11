//! First use: the node that references a page first when initialisation is over.

use super::{Entry, HomePolicy, PlacedPage};

/// The node that references a page first after the event `init-done`, hit or miss, is its home for
/// good. Until then the page is where it was touched first; a page that nobody had referenced
/// before is touched first when it is used first.
///
/// Source: Marchetti, Kontothanassis, Bianchini and Scott 1995.
///
/// # Deviations
/// In a trace without the event it is first touch. An event after the first one changes nothing.
pub const ENTRY: Entry = Entry {
    name: "first-use",
    summary: "the node that references the page first after initialisation",
    source: "Marchetti et al. 1995",
    params: &[],
    needs_first_run: false,
    build: |_, _| Ok(Box::new(FirstUseHome)),
};

struct FirstUseHome;

impl HomePolicy for FirstUseHome {
    fn place(&mut self, page: PlacedPage) -> u16 {
        page.node
    }

    fn moves_at_first_use(&self) -> bool {
        true
    }
}
