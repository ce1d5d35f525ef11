//! First use: the node that references a page first when initialisation is over.

use super::{Entry, HomePolicy, PlacedPage};

/// The node that references a page first after the event `init-done`, hit or miss, is its home for
/// good. Until then pages are where round robin put them: the operating system begins to place them
/// at that event.
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
    needs_allocations: false,
    build: |setup, _| {
        let before = setup.marks_init_done.then_some(setup.nodes);
        Ok(Box::new(FirstUseHome { before }))
    },
};

struct FirstUseHome {
    /// Nodes among which pages are dealt out until initialisation is over, if that has an end.
    before: Option<u16>,
}

impl HomePolicy for FirstUseHome {
    fn place(&mut self, page: PlacedPage) -> u16 {
        self.before.map_or(page.node, |nodes| page.round_robin(nodes))
    }

    fn places_at_use(&self) -> bool {
        self.before.is_none()
    }

    fn moves_at_first_use(&self) -> bool {
        true
    }
}
