//! The pages to which a processor refers in its turn.

use homenode_base::ProcId;

use super::word_pages::WordSpan;

/// Remembered pages: a turn is a few hundred references.
const ENTRIES: usize = 256;

#[derive(Clone, Copy, Default)]
struct TurnPage {
    page: u64,
    turn: u32,
    number: u32,
}

/// The pages to which a processor has referred in its turn. For these, the visits of the page's
/// region are already updated, and the next reference need not do it again.
pub(super) struct TurnPages {
    entries: Box<[TurnPage; ENTRIES]>,
    processor: Option<ProcId>,
    /// Turns are counted from 1: an entry of turn 0 is none.
    turn: u32,
}

impl TurnPages {
    pub(super) fn new() -> Self {
        Self { entries: Box::new([TurnPage::default(); ENTRIES]), processor: None, turn: 0 }
    }

    pub(super) fn begin_turn(&mut self, processor: ProcId) {
        if self.processor.replace(processor) == Some(processor) {
            return;
        }
        if self.turn == u32::MAX {
            self.entries.fill(TurnPage::default());
            self.turn = 0;
        }
        self.turn += 1;
    }

    /// The number of the page of some words, if the processor has referred to it in this turn.
    #[inline]
    pub(super) fn get(&self, span: WordSpan) -> Option<u32> {
        let page = span.page();
        let known = self.entries[slot(page)];
        (known.page == page && known.turn == self.turn).then_some(known.number)
    }

    pub(super) fn set(&mut self, span: WordSpan, number: u32) {
        let page = span.page();
        self.entries[slot(page)] = TurnPage { page, turn: self.turn, number };
    }
}

#[inline]
fn slot(page: u64) -> usize {
    usize::try_from((page ^ page >> 8) % ENTRIES as u64).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn span(first: u64) -> WordSpan {
        WordSpan { first, count: 1 }
    }

    #[test]
    fn a_page_is_known_until_the_turn_is_over() {
        let mut pages = TurnPages::new();
        pages.begin_turn(0);
        assert_eq!(pages.get(span(0)), None);
        pages.set(span(0), 7);
        assert_eq!((pages.get(span(1023)), pages.get(span(1024))), (Some(7), None));
        pages.begin_turn(0);
        assert_eq!(pages.get(span(5)), Some(7), "it is the same turn");
        pages.begin_turn(1);
        assert_eq!(pages.get(span(5)), None);
        pages.begin_turn(0);
        assert_eq!(pages.get(span(5)), None, "another turn of the same processor");
    }

    #[test]
    fn the_numbers_of_turns_begin_again() {
        let mut pages = TurnPages::new();
        pages.begin_turn(0);
        pages.set(span(0), 7);
        pages.turn = u32::MAX;
        pages.begin_turn(1);
        assert_eq!((pages.turn, pages.get(span(0))), (1, None));
    }
}
