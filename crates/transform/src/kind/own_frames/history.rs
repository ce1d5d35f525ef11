//! What happens to one page frame, and which process uses which of its memory for itself.

use homenode_base::{Access, AccessKind};
use rustc_hash::FxHashMap;

/// Bytes of a page frame.
pub(super) const PAGE: u64 = 4096;
const WORDS: usize = 1024;

/// Writes by what happens next to the word that contains their first byte.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct NextAccesses {
    pub(super) read_by_another: u64,
    pub(super) overwritten_by_another: u64,
    pub(super) own: u64,
    pub(super) none: u64,
}

/// Consecutive references to a frame by one process.
struct FrameTurn {
    process: u32,
    /// A turn of the same use, or itself.
    parent: u32,
    /// Whether the use has several processes.
    bound: bool,
    /// Whether another process overwrites its memory without reading it, or it another's.
    recycled: bool,
}

/// The references to one frame. A *use* is a set of turns that read what the others wrote, or the
/// same words from before the trace.
pub(super) struct FrameHistory {
    turns: Vec<FrameTurn>,
    /// The turn that wrote each word last, and the one that touched it last, plus one.
    written: Box<[u32; WORDS]>,
    touched: Box<[u32; WORDS]>,
    /// The process that wrote each word last, plus one, if nothing has happened to it since.
    writer: Box<[u32; WORDS]>,
    pub(super) next: NextAccesses,
    /// The frames of processes that have their own.
    own: FxHashMap<u32, u64>,
    /// Of the second pass: the turn at hand.
    at: usize,
}

impl FrameHistory {
    pub(super) fn new() -> Self {
        Self {
            turns: Vec::new(),
            written: Box::new([0; WORDS]),
            touched: Box::new([0; WORDS]),
            writer: Box::new([0; WORDS]),
            next: NextAccesses::default(),
            own: FxHashMap::default(),
            at: 0,
        }
    }

    /// Counts a reference by a process, which touches these words of the frame.
    pub(super) fn refer(&mut self, access: &Access, first: usize, last: usize) {
        let process = access.pid;
        if self.turns.last().is_none_or(|turn| turn.process != process) {
            let parent = u32::try_from(self.turns.len()).unwrap_or(u32::MAX);
            self.turns.push(FrameTurn { process, parent, bound: false, recycled: false });
        }
        self.settle_write(access, first);
        let turn = self.turns.len() - 1;
        for word in first..=last {
            if access.kind != AccessKind::Write {
                self.read(turn, word);
            }
            if access.kind.writes() {
                self.write(turn, word);
            }
            self.touched[word] = number(turn) + 1;
        }
    }

    fn read(&mut self, turn: usize, word: usize) {
        // What was there before the trace belongs to those who read it.
        let by = if self.written[word] > 0 { self.written[word] } else { self.touched[word] };
        if by > 0 {
            self.join(turn, by as usize - 1);
        }
    }

    fn write(&mut self, turn: usize, word: usize) {
        let before = self.touched[word];
        if before > 0 {
            let other = self.turns[before as usize - 1].process != self.turns[turn].process;
            let (before, now) = (self.root(before as usize - 1), self.root(turn));
            if other && before != now {
                self.turns[before].recycled = true;
                self.turns[now].recycled = true;
            }
        }
        self.written[word] = number(turn) + 1;
    }

    fn root(&mut self, mut turn: usize) -> usize {
        while self.turns[turn].parent as usize != turn {
            let parent = self.turns[turn].parent as usize;
            self.turns[turn].parent = self.turns[parent].parent;
            turn = parent;
        }
        turn
    }

    fn join(&mut self, one: usize, other: usize) {
        let (one, other) = (self.root(one), self.root(other));
        if one == other {
            return;
        }
        let (low, high) = (one.min(other), one.max(other));
        self.turns[high].parent = number(low);
        let FrameTurn { process, bound, recycled, .. } = self.turns[high];
        let joined = &mut self.turns[low];
        joined.bound |= bound || joined.process != process;
        joined.recycled |= recycled;
    }

    fn settle_write(&mut self, access: &Access, first: usize) {
        let by = access.pid.wrapping_add(1);
        let writer = &mut self.writer[first];
        match (*writer, access.kind) {
            (0, _) => {}
            (before, _) if before == by => self.next.own += 1,
            (_, AccessKind::Write) => self.next.overwritten_by_another += 1,
            _ => self.next.read_by_another += 1,
        }
        *writer = if access.kind.writes() { by } else { 0 };
    }

    /// Whether several processes reference the frame.
    pub(super) fn is_of_several(&self) -> bool {
        self.turns.len() > 1
    }

    /// Ends the first pass: processes with uses of their own get frames. Returns how many.
    pub(super) fn close(&mut self, free: &mut u64) -> u64 {
        self.next.none = self.writer.iter().filter(|&&by| by > 0).count() as u64;
        for words in [&mut self.written, &mut self.touched, &mut self.writer] {
            **words = [0; WORDS];
        }
        for turn in 0..self.turns.len() {
            let root = self.root(turn);
            let FrameTurn { process, bound, recycled, .. } = self.turns[root];
            if recycled && !bound {
                self.own.entry(process).or_insert_with(|| {
                    *free += 1;
                    *free - 1
                });
            }
        }
        self.own.len() as u64
    }

    /// The frame of the next reference in the second pass, unless it is the recorded one.
    pub(super) fn own_frame(&mut self, process: u32) -> Option<u64> {
        if self.turns[self.at].process != process {
            self.at += 1;
        }
        let root = self.root(self.at);
        let FrameTurn { bound, recycled, .. } = self.turns[root];
        (recycled && !bound).then(|| self.own[&process])
    }
}

/// A turn's number as it is stored; frames have far fewer turns than it can tell apart.
fn number(turn: usize) -> u32 {
    u32::try_from(turn).unwrap_or(u32::MAX)
}
