//! What gcc says of its instructions when it explains them (`-dP`): comments in front of each, in
//! its register transfer language.

use crate::statement::{Kind, Piece};

/// Memory of this alias set is that of atomic operations.
const ATOMIC: &str = "[-1 ";
/// The register allocator's name of the frame.
const SPILL: &str = "%sfp";
/// What keeps loads and stores in order; on this processor it is no instruction.
const FENCE: &str = "UNSPEC_MEMORY_BLOCKAGE";
/// An atomic update; the line before has its memory order.
const UPDATES: [&str; 3] = ["] UNSPECV_LOCK", "] UNSPECV_XCHG", "] UNSPECV_CMPXCHG"];
const RELAXED: &str = "(const_int 0 [0])";

/// What gcc says of one instruction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Explained {
    /// It saves or loads a register that had to give way.
    pub(crate) is_spill: bool,
    /// Its memory is that of an atomic operation.
    pub(crate) is_atomic: bool,
    /// It is an atomic update that does not order other accesses.
    pub(crate) is_relaxed_update: bool,
    /// Whether a fence is before it in its block, and after it: a store with an order has the
    /// former, a load the latter.
    pub(crate) fenced: [bool; 2],
}

/// What the comments say, for each instruction. Without comments nothing is said.
pub(crate) fn explained(pieces: &[Piece<'_>]) -> Vec<Explained> {
    let mut reader = Reader::default();
    for piece in pieces {
        match piece.kind {
            _ if piece.is_code() => reader.instruction(piece.text.trim_start()),
            Kind::Label if is_target(piece.text.trim_start()) => reader.end_of_block(),
            Kind::Other if piece.text.starts_with('#') => reader.comment(piece.text),
            _ => {}
        }
    }
    reader.end_of_block();
    reader.all
}

/// Whether a label may be jumped to; others belong to the debugging information.
fn is_target(label: &str) -> bool {
    label.strip_prefix(".L").is_none_or(|local| local.starts_with(|c: char| c.is_ascii_digit()))
}

#[derive(Default)]
struct Reader<'a> {
    all: Vec<Explained>,
    next: Explained,
    /// Whether the next instruction is a relaxed update, if it is one.
    relaxed: Option<bool>,
    previous: &'a str,
    /// The first instruction of the block.
    block: usize,
    /// How many instructions precede each fence of the block.
    fences: Vec<usize>,
}

impl<'a> Reader<'a> {
    fn comment(&mut self, text: &'a str) {
        self.next.is_spill |= text.contains(SPILL);
        self.next.is_atomic |= text.contains(ATOMIC);
        // The first one: what a comparison stores has no order of its own.
        if self.relaxed.is_none() && UPDATES.iter().any(|update| text.contains(update)) {
            self.relaxed = Some(self.previous.trim_start_matches(['#', ' ']) == RELAXED);
        }
        if text.contains(FENCE) {
            self.fences.push(self.all.len());
        }
        self.previous = text;
    }

    fn instruction(&mut self, text: &str) {
        self.next.is_relaxed_update = self.relaxed.take() == Some(true);
        self.all.push(std::mem::take(&mut self.next));
        if ["j", "call", "ret"].iter().any(|word| text.starts_with(word)) {
            self.end_of_block();
        }
    }

    fn end_of_block(&mut self) {
        for at in self.block..self.all.len() {
            let before = self.fences.iter().any(|&fence| fence <= at);
            let after = self.fences.iter().any(|&fence| fence > at);
            self.all[at].fenced = [before, after];
        }
        self.block = self.all.len();
        self.fences.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::statement::pieces;

    fn read(text: &str) -> Vec<Explained> {
        explained(&pieces(text))
    }

    #[test]
    fn orders_of_plain_loads_and_stores_are_fences() {
        let load = "#(insn (set ax (mem/v:SI x [-1  S4 A32])))\n\tmovl\tc, %eax\n";
        let text = format!("{load}.LVL1:\n#  ] UNSPEC_MEMORY_BLOCKAGE))\n\tret\n");
        let found = read(&text);
        assert!(found[0].is_atomic && found[0].fenced == [false, true]);
        assert!(!found[1].is_atomic);
        assert_eq!(read(&text.replace(".LVL1", ".L1"))[0].fenced, [false, false], "another block");
    }

    #[test]
    fn updates_have_their_order_in_front() {
        let update = |order: &str| {
            let text = format!(
                "#  (mem/v:SI x [-1  S4])\n#   (const_int {order})\n#   ] UNSPECV_CMPXCHG))\n\
                 #   (const_int 0 [0])\n#   ] UNSPECV_CMPXCHG))\n\tlock cmpxchgl %esi, c(%rip)\n"
            );
            read(&text)[0]
        };
        assert!(update("0 [0]").is_relaxed_update && !update("5 [0x5]").is_relaxed_update);
    }

    #[test]
    fn spilled_registers_are_told() {
        let comment = "#(insn (set (mem/c:DI (plus bp -8) [3 %sfp+-8 S8 A64])))";
        let found = read(&format!("{comment}\n\tmovq %rax, -8(%rbp)\n"));
        assert!(found[0].is_spill);
    }
}
