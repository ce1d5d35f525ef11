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
/// gcc numbers instructions as it makes them: an access and its fence are at most this far apart.
const WITH_FENCE: u32 = 4;

/// What gcc says of one instruction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Explained {
    /// It saves or loads a register that had to give way.
    pub(crate) is_spill: bool,
    /// Its memory is that of an atomic operation.
    pub(crate) is_atomic: bool,
    /// It is an atomic update that does not order other accesses.
    pub(crate) is_relaxed_update: bool,
    /// Whether a fence of its own is before it in its block, and after it: a store with an order
    /// has the former, a load the latter.
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
            Kind::Other if piece.text.trim_start().starts_with('.') => reader.forget(),
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

/// Where an instruction comes from. A fence belongs to an access of the same origin.
#[derive(Clone, Copy, Default)]
struct Origin<'a> {
    /// gcc's number of it.
    number: u32,
    /// Line and column of the source, as in `:36:1`.
    place: &'a str,
}

impl<'a> Origin<'a> {
    /// What the first comment of an instruction says, as in `#(insn 201 200 738 2 (set ...`.
    fn beginning(text: &'a str) -> Self {
        let number = text.split(' ').nth(1).and_then(|word| word.parse().ok()).unwrap_or(0);
        Self { number, place: "" }
    }

    fn owns(self, fence: Self) -> bool {
        self.place == fence.place && self.number.abs_diff(fence.number) <= WITH_FENCE
    }
}

struct Fence<'a> {
    origin: Origin<'a>,
    /// How many instructions precede it.
    at: usize,
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
    /// Origins of the block's instructions.
    origins: Vec<Origin<'a>>,
    fences: Vec<Fence<'a>>,
    origin: Origin<'a>,
    is_fence: bool,
}

impl<'a> Reader<'a> {
    fn comment(&mut self, text: &'a str) {
        if text.starts_with("#(") {
            self.end_of_fence();
            self.origin = Origin::beginning(text);
        }
        if let Some((_, place)) = text.rsplit_once("\":") {
            self.origin.place = place.split(' ').next().unwrap_or("");
        }
        self.next.is_spill |= text.contains(SPILL);
        self.next.is_atomic |= text.contains(ATOMIC);
        // The first one: what a comparison stores has no order of its own.
        if self.relaxed.is_none() && UPDATES.iter().any(|update| text.contains(update)) {
            self.relaxed = Some(self.previous.trim_start_matches(['#', ' ']) == RELAXED);
        }
        self.is_fence |= text.contains(FENCE);
        self.previous = text;
    }

    /// Forgets what was said of instructions that get no hooks: those of another section.
    fn forget(&mut self) {
        self.end_of_fence();
        self.next = Explained::default();
        self.relaxed = None;
    }

    fn instruction(&mut self, text: &str) {
        self.end_of_fence();
        self.origins.push(std::mem::take(&mut self.origin));
        self.next.is_relaxed_update = self.relaxed.take() == Some(true);
        self.all.push(std::mem::take(&mut self.next));
        if ["j", "call", "ret"].iter().any(|word| text.starts_with(word)) {
            self.end_of_block();
        }
    }

    fn end_of_fence(&mut self) {
        if std::mem::take(&mut self.is_fence) {
            self.fences.push(Fence { origin: self.origin, at: self.all.len() });
        }
    }

    fn end_of_block(&mut self) {
        self.end_of_fence();
        for (at, origin) in (self.block..).zip(self.origins.drain(..)) {
            let own = || self.fences.iter().filter(|fence| origin.owns(fence.origin));
            let fenced = [own().any(|fence| fence.at <= at), own().any(|fence| fence.at > at)];
            self.all[at].fenced = fenced;
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
    fn a_fence_belongs_to_the_access_it_was_made_for() {
        let load = |place: &str| {
            format!(
                "#(insn 12 8 13 2 (set (reg:SI 1 dx) (mem/v:SI x [-1  S4])) \"a.c\":{place} 81 \
                 {{*movsi}}\n\tmovl c(%rip), %edx\n#(insn 13 12 16 2 (set (mem/v:BLK)\n\
                 #   ] UNSPEC_MEMORY_BLOCKAGE)) \"a.c\":5:9 9 {{*blockage}}\n\tret\n"
            )
        };
        assert_eq!(read(&load("5:9"))[0].fenced, [false, true]);
        assert_eq!(read(&load("4:9"))[0].fenced, [false, false], "a store's");
        let later = load("5:9").replace("#(insn 13", "#(insn 33");
        assert_eq!(read(&later)[0].fenced, [false, false], "another of the same macro");
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
    fn what_is_said_in_another_section_is_forgotten() {
        let text = "\t.section .text.homenode_unrecorded,\"ax\"\n#(insn (mem [3 %sfp+-8 S8]))\n\
                    \tmovq %rax, -8(%rbp)\n\t.text\nf:\n\t.loc 1 2\n\tmovl side(%rip), %eax\n";
        assert_eq!(read(text), [Explained::default()]);
    }

    #[test]
    fn spilled_registers_are_told() {
        let comment = "#(insn (set (mem/c:DI (plus bp -8) [3 %sfp+-8 S8 A64])))";
        let found = read(&format!("{comment}\n\tmovq %rax, -8(%rbp)\n"));
        assert!(found[0].is_spill);
    }
}
