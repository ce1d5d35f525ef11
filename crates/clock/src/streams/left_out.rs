//! Instructions whose references do not count, but which take a place in the processor's window.

use super::operation::OpKind;

/// Instructions of a process whose references were left out, where the trace counts instructions:
/// they are among those before its next reference.
#[derive(Clone, Copy, Default)]
pub struct LeftOut {
    instructions: u32,
    /// Whether the last one was fetched, and the next reference may be its own.
    fetched: bool,
    /// Whether fetches are not left out: they are all the instructions there are.
    fetches: bool,
}

impl LeftOut {
    /// A reference with so many instructions before it is left out.
    pub fn add(&mut self, gap: u32, kind: OpKind) {
        let own = u32::from(kind != OpKind::Fetch || self.fetched);
        self.instructions = self.instructions.saturating_add(gap).saturating_add(own);
        self.fetched = kind == OpKind::Fetch;
    }

    /// Instructions before a reference with this gap that is not left out.
    pub fn before(&mut self, gap: u32, kind: OpKind) -> u32 {
        let fetches = self.fetches || kind == OpKind::Fetch;
        let before = std::mem::replace(self, Self { fetches, ..Self::default() });
        if fetches { 0 } else { before.instructions.saturating_add(gap) }
    }
}
