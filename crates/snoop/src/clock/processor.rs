//! A processor: loads under way, stores that wait, and what it waits for itself.

use std::collections::VecDeque;

use homenode_cache::{BlockAccess, WordMask};

/// No time, or no process.
pub(super) const NEVER: u64 = u64::MAX;

/// A load that is under way.
pub(super) struct Slot<W> {
    pub(super) live: bool,
    /// Number of the instruction.
    pub(super) instruction: u64,
    pub(super) load: BlockAccess<W>,
    /// Whether it took place in the caches; the data may still be on their way.
    pub(super) performed: bool,
    /// Whether it comes with a store to the same block, and does not ask for the bus.
    pub(super) rides: bool,
    /// Later loads from the block, which take place with it.
    pub(super) joined: Vec<BlockAccess<W>>,
}

/// What a processor does at the moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    /// It has no process.
    Idle,
    /// It goes on at a known time.
    Runs,
    /// It tries again when one of its transactions is over.
    Stalls,
    /// It goes on when the reference it waits for is done.
    Waits,
}

/// A processor.
pub(super) struct Processor<W> {
    pub(super) mode: Mode,
    /// The process, if it is not idle.
    pub(super) process: usize,
    /// References left of the time slice.
    pub(super) left: u64,
    /// Instructions begun.
    pub(super) instructions: u64,
    /// The first instruction that does not fit into the window.
    pub(super) limit: u64,
    pub(super) slots: Vec<Slot<W>>,
    pub(super) slots_live: usize,
    /// How many of them come with a store.
    pub(super) riders: usize,
    /// Whether loads have begun or ended such that the limit has to be found again.
    limit_is_old: bool,
    pub(super) stores: VecDeque<BlockAccess<W>>,
    /// Whether the store at the head asked for the bus.
    pub(super) head_asked: bool,
    /// Whether it took place in the caches; the data may still be on their way.
    pub(super) head_performed: bool,
    /// The reference it waits for.
    pub(super) waiting: Option<BlockAccess<W>>,
    /// How many blocks of a reference that straddles some are done.
    pub(super) parts: u64,
    /// Since when it stalls, waits or is idle.
    pub(super) since: u64,
    pub(super) busy: u64,
    pub(super) delay: u64,
    pub(super) idle: u64,
}

/// Whether two references go for the same block to the same cache.
#[inline]
fn same<W>(one: &BlockAccess<W>, other: &BlockAccess<W>) -> bool {
    one.block == other.block && one.cache == other.cache
}

impl<W: WordMask> Processor<W> {
    pub(super) fn new() -> Self {
        Self {
            mode: Mode::Idle,
            process: 0,
            left: 0,
            instructions: 0,
            limit: NEVER,
            slots: Vec::new(),
            slots_live: 0,
            riders: 0,
            limit_is_old: false,
            stores: VecDeque::new(),
            head_asked: false,
            head_performed: false,
            waiting: None,
            parts: 0,
            since: 0,
            busy: 0,
            delay: 0,
            idle: 0,
        }
    }

    /// Whether everything that was begun is done.
    pub(super) fn is_drained(&self) -> bool {
        self.slots_live == 0 && self.stores.is_empty() && self.waiting.is_none()
    }

    /// The load that goes for the same block to the same cache and that has not taken place yet.
    pub(super) fn pending_load(&mut self, load: &BlockAccess<W>) -> Option<&mut Slot<W>> {
        self.slots.iter_mut().find(|slot| slot.live && !slot.performed && same(&slot.load, load))
    }

    /// Whether a store to its block in its cache waits in the buffer and has not taken place.
    pub(super) fn has_store(&self, load: &BlockAccess<W>) -> bool {
        let waiting = self.stores.iter().skip(usize::from(self.head_performed));
        { waiting }.any(|store| same(store, load))
    }

    /// Whether a load of the same block to the same cache, not waiting for a store, is under way.
    pub(super) fn fetches(&self, piece: &BlockAccess<W>) -> bool {
        self.slots.iter().any(|slot| slot.live && !slot.rides && same(&slot.load, piece))
    }

    /// Puts a load into a free slot and returns its number.
    pub(super) fn begin_load(&mut self, load: BlockAccess<W>, instruction: u64, rides: bool) -> u8 {
        let free = self.slots.iter().position(|slot| !slot.live);
        let at = free.unwrap_or(self.slots.len());
        let joined = match self.slots.get_mut(at) {
            Some(place) => std::mem::take(&mut place.joined),
            None => Vec::new(),
        };
        let slot = Slot { live: true, instruction, load, performed: false, rides, joined };
        match self.slots.get_mut(at) {
            Some(place) => *place = slot,
            None => self.slots.push(slot),
        }
        self.slots_live += 1;
        self.riders += usize::from(rides);
        // A load after others does not move the window.
        self.limit_is_old |= self.slots_live == 1;
        u8::try_from(at).unwrap_or(u8::MAX)
    }

    /// The data of a load have come: its slot is free.
    pub(super) fn end_load(&mut self, at: usize) {
        let slot = &mut self.slots[at];
        slot.live = false;
        self.riders -= usize::from(slot.rides);
        self.slots_live -= 1;
        self.limit_is_old = true;
    }

    /// The data of the loads that took place with a store have come.
    pub(super) fn end_riders(&mut self) {
        for at in 0..self.slots.len() {
            let slot = &self.slots[at];
            if self.riders > 0 && slot.live && slot.rides && slot.performed {
                self.end_load(at);
            }
        }
    }

    /// The window begins with the oldest load under way.
    #[inline]
    pub(super) fn set_limit(&mut self, window: u64) {
        if std::mem::take(&mut self.limit_is_old) {
            let live = self.slots.iter().filter(|slot| slot.live);
            let oldest = live.map(|slot| slot.instruction).min();
            self.limit = oldest.map_or(NEVER, |oldest| oldest + window);
        }
    }
}
