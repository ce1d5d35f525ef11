//! One processor's cache: frames, and what is known of the copy in each.

use super::frames::{Frames, QUIET_READ, QUIET_WRITE};
use super::words::Words;
use crate::table::Table;
use crate::vocabulary::{Action, Area, Cell, Copies, Event, Source, Transaction};

/// Why a frame lost its copy, or what is still open about the copy it has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Story {
    /// Nothing.
    #[default]
    None,
    /// The copy was fetched by an invalidation miss that is not yet known to be true sharing.
    Open,
    /// The same, and it was the kernel's reference that missed.
    OpenKernel,
    /// Another processor's transaction invalidated the copy.
    Invalidated,
    /// The copy went with its process.
    Removed,
}

impl Story {
    /// Whether the miss is still open, and then whether it is the kernel's.
    #[inline]
    pub(crate) fn open(self) -> Option<bool> {
        match self {
            Self::Open => Some(false),
            Self::OpenKernel => Some(true),
            Self::None | Self::Invalidated | Self::Removed => None,
        }
    }
}

/// What is known of a frame's copy, besides what every reference looks at.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Book {
    /// Number of the block in the directory.
    pub(crate) number: u32,
    pub(crate) state: u8,
    pub(crate) story: Story,
}

/// A processor's cache.
pub(crate) struct Cache<F, W> {
    pub(crate) frames: F,
    /// For each frame the words its holder has read, and those it has written since the others were
    /// last told ([`Cache::take_written`]).
    pub(crate) marks: Vec<[W; 2]>,
    pub(crate) books: Vec<Book>,
    /// For each frame the words that others wrote since its copy was lost, or before an open miss.
    pub(crate) fresh: Vec<W>,
}

/// Positions in [`Cache::marks`].
pub(crate) const READ: usize = 0;
/// See [`READ`].
pub(crate) const WRITTEN: usize = 1;

impl<F: Frames, W: Words> Cache<F, W> {
    pub(crate) fn new(sets: usize, ways: usize) -> Self {
        let frames = F::new(sets, ways);
        Self {
            marks: vec![[W::default(); 2]; frames.count()],
            books: vec![Book::default(); frames.count()],
            fresh: vec![W::default(); frames.count()],
            frames,
        }
    }

    /// Does a reference that needs nobody, as `need` says. If it is not such a one, returns the
    /// frame that has or had the block.
    #[inline]
    pub(crate) fn quiet(
        &mut self,
        (block, words): (u64, W),
        need: u64,
    ) -> Result<(), Option<usize>> {
        let mark = if need == QUIET_WRITE { WRITTEN } else { READ };
        let front = self.frames.front(block);
        let above = self.frames.label(front) ^ (block << 2);
        if above & need != 0 && above < 4 {
            self.marks[front][mark].add(words);
            return Ok(());
        }
        let found = self.frames.find(block);
        if let Some(frame) = found
            && self.frames.label(frame) & need != 0
        {
            self.frames.touch(block, frame);
            self.marks[frame][mark].add(words);
            return Ok(());
        }
        Err(found)
    }

    /// The frame of a block that this cache is known to have or have lost.
    pub(crate) fn frame(&self, block: u64) -> usize {
        self.frames.find(block).expect("the directory knows who has a frame for the block")
    }

    /// Words that the holder touched during the life of its copy.
    pub(crate) fn touched(&self, frame: usize) -> W {
        let [mut touched, written] = self.marks[frame];
        touched.add(written);
        touched
    }

    /// Words written since the last call; they count as touched from now on.
    pub(crate) fn take_written(&mut self, frame: usize) -> W {
        let written = std::mem::take(&mut self.marks[frame][WRITTEN]);
        self.marks[frame][READ].add(written);
        written
    }

    /// Puts the copy in a state, and says in the label what its holder may do unasked.
    pub(crate) fn become_state(&mut self, table: &Quiet, frame: usize, state: u8) {
        let book = &mut self.books[frame];
        book.state = state;
        let open = book.story.open().is_some();
        // An open miss has to see every reference until it is known what it was.
        self.frames.allow(frame, if open { 0 } else { table.bits(state) });
    }
}

/// What needs no other cache: see [`Table::is_quiet`].
pub(crate) struct Quiet {
    bits: Vec<u64>,
    leaves: Vec<Leaving>,
    /// By whether it writes and whether the area is private.
    alone: [[Option<Fetch>; 2]; 2],
}

/// How a copy gives way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Leaving {
    /// Without a word.
    Silently,
    /// With an update-block, whatever the others have.
    WrittenBack,
    /// As the table says.
    AsTheTableSays,
}

/// A miss when no other cache has a copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Fetch {
    /// Whether the transaction is read-and-invalidate-block.
    pub(crate) invalidate: bool,
    pub(crate) state: u8,
}

impl Quiet {
    pub(crate) fn of(table: &Table) -> Self {
        let states = 0..u8::try_from(table.states().len()).unwrap_or(u8::MAX);
        let bits = |state| {
            let of = |event, bit| if table.is_quiet(state, event, state) { bit } else { 0 };
            of(Event::Read, QUIET_READ) | of(Event::Write, QUIET_WRITE)
        };
        let alone = |event| [Area::Shared, Area::Private].map(|area| fetch(table, event, area));
        Self {
            bits: states.clone().map(bits).collect(),
            leaves: states.map(|state| leaving(table, state)).collect(),
            alone: [Event::Read, Event::Write].map(alone),
        }
    }

    /// What the processor may do without asking in each state.
    #[inline]
    pub(crate) fn bits(&self, state: u8) -> u64 {
        self.bits[usize::from(state)]
    }

    /// How a copy in this state gives way.
    #[inline]
    pub(crate) fn leaves(&self, state: u8) -> Leaving {
        self.leaves[usize::from(state)]
    }

    /// What a miss does when no other cache has a copy, if it is one fetch from memory.
    #[inline]
    pub(crate) fn alone(&self, write: bool, private: bool) -> Option<Fetch> {
        self.alone[usize::from(write)][usize::from(private)]
    }
}

/// What the table says about replacing a copy, if that does not depend on the other caches.
fn leaving(table: &Table, state: u8) -> Leaving {
    if table.is_quiet(state, Event::Replace, 0) {
        return Leaving::Silently;
    }
    let replacements =
        table.actions().filter(|&(s, event, _, _)| s == state && event == Event::Replace);
    let written = Action {
        transaction: Some(Transaction::UpdateBlock),
        source: Source::Own,
        next: 0,
        again: false,
    };
    let mut actions = replacements.map(|(_, _, _, action)| action).peekable();
    if actions.peek().is_some() && actions.all(|action| action == written) {
        Leaving::WrittenBack
    } else {
        Leaving::AsTheTableSays
    }
}

/// Follows the table from the invalid state while no other cache has a copy.
fn fetch(table: &Table, event: Event, area: Area) -> Option<Fetch> {
    let condition = table.condition(Copies::None, area);
    let Cell::Does(first) = table.cell(0, event, condition) else { return None };
    let invalidate = match (first.transaction, first.source) {
        (Some(Transaction::ReadBlock), Source::Memory) => false,
        (Some(Transaction::ReadInvalidate), Source::Memory) => true,
        (_, _) => return None,
    };
    if !first.again {
        return Some(Fetch { invalidate, state: first.next });
    }
    match table.cell(first.next, event, condition) {
        Cell::Does(Action { transaction: None, source: Source::Own, next, again: false }) => {
            Some(Fetch { invalidate, state: next })
        }
        Cell::Does(_) | Cell::Impossible(_) => None,
    }
}
