//! Instructions of excluded references, which still occupy the processor's instruction window.

use super::operation::OpKind;

/// Instructions of a process since its last counted reference whose references are excluded, if the
/// trace counts instructions; added to the gap before the next counted reference.
#[derive(Clone, Copy, Default)]
pub struct ExcludedInstructions {
    instructions: u32,
    /// Whether the last excluded reference was a fetch: the next one may belong to the same
    /// instruction.
    fetched: bool,
    /// Whether fetches are counted: then every instruction is a reference and gaps are 0.
    fetches: bool,
}

impl ExcludedInstructions {
    /// Excludes a reference with this gap before it.
    pub fn add(&mut self, gap: u32, kind: OpKind) {
        let own = u32::from(kind != OpKind::Fetch || self.fetched);
        self.instructions = self.instructions.saturating_add(gap).saturating_add(own);
        self.fetched = kind == OpKind::Fetch;
    }

    /// The gap of a counted reference, with the excluded instructions before it.
    pub fn before(&mut self, gap: u32, kind: OpKind) -> u32 {
        let fetches = self.fetches || kind == OpKind::Fetch;
        let before = std::mem::replace(self, Self { fetches, ..Self::default() });
        if fetches { 0 } else { before.instructions.saturating_add(gap) }
    }

    /// Whether a fetch has been counted so far.
    pub fn fetches(&self) -> bool {
        self.fetches
    }
}
