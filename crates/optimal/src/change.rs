//! A placement as a list of changes.

use homenode_base::ProcId;

/// A change of the set of places that hold a block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// Position in the block's own history, counted from 0, of the first reference made with
    /// these places.
    pub reference: u64,
    /// The processors, ascending.
    pub places: Vec<ProcId>,
    /// Whether global memory is among the places.
    pub global: bool,
}

#[derive(Default)]
pub(crate) struct Changes(Vec<Change>);

impl Changes {
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn finish(self) -> Vec<Change> {
        self.0
    }

    /// From this reference on the block is at these places.
    pub(crate) fn set(&mut self, reference: u64, mut places: Vec<ProcId>, global: bool) {
        places.sort_unstable();
        match self.0.last_mut() {
            Some(last) if last.places == places && last.global == global => {}
            Some(last) if last.reference == reference => {
                *last = Change { reference, places, global };
            }
            Some(_) | None => self.0.push(Change { reference, places, global }),
        }
    }

    /// From this reference on it is also at this processor, or, for `None`, in global memory.
    pub(crate) fn add(&mut self, reference: u64, place: Option<ProcId>) {
        let last = self.0.last().cloned();
        let (mut places, global) = last.map(|c| (c.places, c.global)).unwrap_or_default();
        places.extend(place);
        self.set(reference, places, global || place.is_none());
    }
}
