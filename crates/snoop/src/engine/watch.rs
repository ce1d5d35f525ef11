//! The engine with everything on view, one reference at a time.
//!
//! Values are carried along, so no reference is quiet: every one goes through the table.

use homenode_base::Access;
use homenode_trace::Batch;

use super::counts::Counts;
use super::frames::{Frames, Many, Story};
use super::note::Deed;
use super::{CheckError, Engine, Setup, SetupError, Work};
use crate::table::Table;

/// How a cache lost the copy whose tag it still has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Loss {
    Invalidated,
    Removed,
}

/// What a cache has of a block.
pub(crate) struct Sight {
    pub(crate) state: u8,
    pub(crate) loss: Option<Loss>,
    /// Whether the copy came by an invalidation miss that is not yet known to be true sharing.
    pub(crate) open: bool,
    /// The write that each word comes from; empty without a copy.
    pub(crate) values: Vec<u64>,
}

/// An engine to look into. The arrangement that serves every cache and block is fast enough here.
pub(crate) struct Watch(Box<Engine<Many<[u64; 4]>, [u64; 4]>>);

impl Watch {
    pub(crate) fn new(setup: &Setup, table: Table) -> Result<Self, SetupError> {
        let mut engine = Engine::new(&Setup { check: true, ..setup.clone() }, table)?;
        engine.bus.log = Some(Vec::new());
        Ok(Self(Box::new(engine)))
    }

    /// Bytes in a block, as a shift.
    pub(crate) fn shift(&self) -> u32 {
        self.0.shift
    }

    /// Whether the engine takes the reference for one to a private area.
    pub(crate) fn is_private(&self, access: &Access) -> bool {
        self.0.is_private(access.addr, access.flags.0)
    }

    /// Does one reference. Returns what the table was asked, in order.
    pub(crate) fn push(&mut self, access: &Access) -> Result<Vec<Deed>, CheckError> {
        self.0.push(&Batch {
            thread: vec![access.thread],
            kind: vec![access.kind.code()],
            size: vec![access.size],
            addr: vec![access.addr],
            flags: vec![access.flags.0],
            ..Batch::default()
        })?;
        Ok(self.0.bus.log.as_mut().map(std::mem::take).unwrap_or_default())
    }

    /// What was counted so far; invalidation misses that are still open are not in it.
    pub(crate) fn counts(&self) -> Counts {
        self.0.bus.counts
    }

    /// What was counted in all.
    pub(crate) fn finish(self) -> Counts {
        self.0.finish()
    }

    /// What a cache has of a block.
    pub(crate) fn sight(&self, processor: usize, block: u64) -> Sight {
        let bus = &self.0.bus;
        let set = bus.frames.set(processor, block);
        let Some(at) = bus.frames.find(set, block) else {
            return Sight { state: 0, loss: None, open: false, values: Vec::new() };
        };
        let frame = &bus.frames.all()[at];
        let loss = match frame.story {
            Story::Invalidated => Some(Loss::Invalidated),
            Story::Removed => Some(Loss::Removed),
            Story::None | Story::Open | Story::OpenKernel => None,
        };
        let values = match &bus.shadow {
            Some(shadow) if frame.state != 0 => shadow.copy(at).to_vec(),
            Some(_) | None => Vec::new(),
        };
        Sight { state: frame.state, loss, open: frame.story.open().is_some(), values }
    }

    /// What was written last to the words of a block, and what memory has.
    pub(crate) fn latest_and_memory(&mut self, block: u64) -> [Vec<u64>; 2] {
        let number = self.0.bus.directory.number(block);
        match &mut self.0.bus.shadow {
            Some(shadow) => shadow.latest_and_memory(number).clone(),
            None => [Vec::new(), Vec::new()],
        }
    }
}
