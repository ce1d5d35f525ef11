//! One pass over the trace: who uses each word.

use homenode_base::{AccessKind, BlockSize, Flags, ProcId, ReferenceFilter, ReferenceRole};
use homenode_trace::{Batch, Event, EventKind};
use rustc_hash::FxHashMap;

use crate::concurrency::RunningThreads;
use crate::uses::{EMPTY, UserSets};

/// Words in a page of the table of words.
const PAGE_WORDS: usize = 1024;

/// Entries of the cache in front of the map of pages.
const CACHE_ENTRIES: usize = 256;

/// Marks an empty cache entry: no page has this number.
const NO_PAGE: u64 = u64::MAX;

/// A reference of up to so many bytes is one value, whose words must stay together. A longer one
/// copies, or is a vector of, several values, which may be separated.
const VALUE_BYTES: u8 = 8;

/// Bits of [`WordUsers::bits`].
const TOUCHED: u8 = 1;
const JOINED: u8 = 2;
/// A thread that runs alone writes it.
const WRITTEN: u8 = 4;
/// It is updated in one step to synchronise threads, as locks and counters of users are.
const LOCKS: u8 = 8;
/// It is read and written in one step.
const ATOMIC: u8 = 16;
/// The last reference while several threads ran, by [`WordUsers::last`], read it.
const READ_LAST: u8 = 32;

/// A word that several threads use is only read if at most one in so many of their references
/// writes: then its line, too, is nearly always in all their caches.
const READS_A_WRITE: u32 = 64;

/// A word is updated if more than one in so many references writes: an addition reads once.
const READS_AN_UPDATE: u32 = 4;

/// Use of a word over the whole trace.
#[derive(Clone, Copy, Debug, Default)]
struct WordUsers {
    /// Users while several threads run.
    uses: u32,
    /// References by anybody at any time.
    references: u32,
    /// References while several threads run.
    concurrent: u32,
    /// Those of them that write.
    writes: u32,
    /// Those of these that change what the thread had just read, as an addition does: in one step,
    /// or without holding a lock.
    updates: u32,
    /// Lead of the owner in the majority vote over these.
    lead: u32,
    owner: ProcId,
    first: ProcId,
    /// Who made the last reference while several threads ran.
    last: ProcId,
    bits: u8,
}

type SurveyPage = [WordUsers; PAGE_WORDS];

/// How the threads use a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum WordLabel {
    /// Not used.
    Untouched,
    /// One thread uses it, or makes at least half of the references to it, or alone writes it.
    Own(ProcId),
    /// Several threads use it and hardly any reference writes it.
    Read,
    /// Several threads use it and at least one writes.
    Shared,
}

/// What several threads do with a word that they all write.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ContendedUse {
    /// They change what is there, as one adds to a count.
    Update,
    /// They acquire it and release it.
    Lock,
}

/// Collects uses from batches given in Time order.
///
/// What counts as use is what happens while several threads run ([`RunningThreads`]): a thread that
/// runs alone initialises what others will use, or collects what they have computed. Where the
/// trace marks the end of initialisation, nothing before the marker counts.
///
/// Cost: O(1) a reference. Memory: 32 bytes a word of every 4 KB page that is touched, and at most
/// 64 MB for the different sets of users.
pub struct UseSurveyor {
    processors: u16,
    filter: ReferenceFilter,
    pages: Vec<(u64, Box<SurveyPage>)>,
    index: FxHashMap<u64, usize>,
    cache: Box<[(u64, usize); CACHE_ENTRIES]>,
    uses: UserSets,
    threads: RunningThreads,
    /// Words where the objects of synchronisation calls begin: whether threads lock them.
    synchronisation: FxHashMap<u64, bool>,
    /// Locks that each thread holds.
    held: FxHashMap<u16, u32>,
    references: u64,
}

impl UseSurveyor {
    /// A surveyor before the first batch.
    ///
    /// # Panics
    /// When there are no processors.
    #[must_use]
    pub fn new(processors: u16, filter: ReferenceFilter) -> Self {
        assert!(processors > 0, "at least one processor");
        Self {
            processors,
            filter,
            pages: Vec::new(),
            index: FxHashMap::default(),
            cache: Box::new([(NO_PAGE, 0); CACHE_ENTRIES]),
            uses: UserSets::new(processors),
            threads: RunningThreads::default(),
            synchronisation: FxHashMap::default(),
            held: FxHashMap::default(),
            references: 0,
        }
    }

    fn event(&mut self, event: &Event) {
        if matches!(event.what, EventKind::InitDone) {
            self.forget_uses();
        }
        let object = if let EventKind::LockAcquire { addr } = event.what {
            *self.held.entry(event.thread).or_default() += 1;
            Some((addr, true))
        } else if let EventKind::LockRelease { addr } = event.what {
            let held = self.held.entry(event.thread).or_default();
            *held = held.saturating_sub(1);
            Some((addr, true))
        } else if let EventKind::BarrierEnter { addr }
        | EventKind::BarrierLeave { addr }
        | EventKind::ConditionWait { addr }
        | EventKind::ConditionWake { addr } = event.what
        {
            Some((addr, false))
        } else {
            None
        };
        if let Some((addr, locks)) = object {
            self.synchronisation.insert(addr / BlockSize::WORD_BYTES, locks);
        }
        self.threads.event(event);
    }

    /// Nothing so far was more than initialisation.
    fn forget_uses(&mut self) {
        for word in self.pages.iter_mut().flat_map(|(_, page)| page.iter_mut()) {
            (word.uses, word.concurrent, word.writes) = (EMPTY, 0, 0);
            (word.updates, word.lead) = (0, 0);
            word.bits &= !READ_LAST;
        }
    }

    /// Adds the references of a batch.
    pub fn push(&mut self, batch: &Batch) {
        let mut events = batch.events.iter().peekable();
        for row in 0..batch.len() {
            while let Some((_, event)) = events.next_if(|(at, _)| *at as usize <= row) {
                self.event(event);
            }
            self.threads.reference(batch.thread[row]);
            if batch.role(row, self.filter) != ReferenceRole::Shared {
                continue;
            }
            let kind = batch.kind[row];
            self.references += 1;
            let processor = batch.thread[row] % self.processors;
            let write = kind != AccessKind::Read.code();
            let (addr, size) = (batch.addr[row], batch.size[row]);
            let first = addr / BlockSize::WORD_BYTES;
            let end = addr.saturating_add(u64::from(size).saturating_sub(1));
            let last = end / BlockSize::WORD_BYTES;
            let joined = if size <= VALUE_BYTES { JOINED } else { 0 };
            let flags = Flags(batch.flags.get(row).copied().unwrap_or(0));
            let locks = flags.contains(Flags::SYNC) && kind == AccessKind::Atomic.code();
            let atomic = if kind == AccessKind::Atomic.code() { ATOMIC } else { 0 };
            // What a lock guards is the lock's: without it, too, threads would come one by one.
            let held = self.held.get(&batch.thread[row]).is_some_and(|&locks| locks > 0);
            let kept = TOUCHED | atomic | if locks { LOCKS } else { 0 };
            for word in first..=last {
                let bits = kept | if word < last { joined } else { 0 };
                self.word(word, (processor, write, held), bits);
            }
        }
        events.for_each(|(_, event)| self.event(event));
    }

    #[inline]
    fn word(&mut self, word: u64, (processor, write, held): (ProcId, bool, bool), bits: u8) {
        // All state of a word is in one entry of 32 bytes, so that a reference costs one look-up.
        let page = self.page(page_of(word));
        let concurrent = self.threads.are_several();
        let entry = &mut self.pages[page].1[place(word)];
        if entry.bits & TOUCHED == 0 {
            entry.first = processor;
        }
        entry.references = entry.references.saturating_add(1);
        if !concurrent {
            // A compiler initialises several values at a time: these are not one.
            entry.bits |= bits & !JOINED;
            entry.bits |= if write { WRITTEN } else { 0 };
            return;
        }
        entry.bits |= bits;
        entry.uses = self.uses.with(entry.uses, processor, write);
        entry.concurrent = entry.concurrent.saturating_add(1);
        entry.writes = entry.writes.saturating_add(u32::from(write));
        let just_read = entry.bits & READ_LAST != 0 && entry.last == processor;
        let updates = bits & ATOMIC != 0 || write && just_read && !held;
        entry.updates = entry.updates.saturating_add(u32::from(updates));
        entry.bits = if write { entry.bits & !READ_LAST } else { entry.bits | READ_LAST };
        entry.last = processor;
        // Boyer and Moore's majority vote: a thread that makes more than half of the references
        // ends as the owner, without a count for each thread.
        if entry.owner == processor {
            entry.lead = entry.lead.saturating_add(1);
        } else if entry.lead == 0 {
            (entry.owner, entry.lead) = (processor, 1);
        } else {
            entry.lead -= 1;
        }
    }

    #[inline]
    fn page(&mut self, number: u64) -> usize {
        let slot = usize::try_from(number % CACHE_ENTRIES as u64).unwrap_or(0);
        if self.cache[slot].0 == number {
            return self.cache[slot].1;
        }
        let next = self.pages.len();
        let page = *self.index.entry(number).or_insert(next);
        if page == next {
            self.pages.push((number, Box::new([WordUsers::default(); PAGE_WORDS])));
        }
        self.cache[slot] = (number, page);
        page
    }

    /// Ends the pass.
    #[must_use]
    pub fn finish(mut self) -> UseSurvey {
        self.pages.sort_unstable_by_key(|page| page.0);
        let index = self.pages.iter().enumerate().map(|(i, page)| (page.0, i)).collect();
        let users_only = self.uses.users_only();
        let single_user =
            (0..self.processors).map(|processor| self.uses.single_user(processor)).collect();
        UseSurvey {
            users_only,
            single_user,
            processors: self.processors,
            references: self.references,
            pages: self.pages,
            index,
            synchronisation: self.synchronisation,
            uses: self.uses,
        }
    }
}

fn page_of(word: u64) -> u64 {
    word / PAGE_WORDS as u64
}

fn place(word: u64) -> usize {
    usize::try_from(word % PAGE_WORDS as u64).unwrap_or(0)
}

/// Who uses each word of memory.
pub struct UseSurvey {
    processors: u16,
    references: u64,
    /// By number.
    pages: Vec<(u64, Box<SurveyPage>)>,
    index: FxHashMap<u64, usize>,
    synchronisation: FxHashMap<u64, bool>,
    uses: UserSets,
    /// For every set the one with the same users, all of which read and write: equal for sets that
    /// differ only in who writes.
    users_only: Vec<u32>,
    /// For every processor the set with no other user.
    single_user: Vec<u32>,
}

impl UseSurvey {
    /// References that were counted.
    #[must_use]
    pub fn references(&self) -> u64 {
        self.references
    }

    /// Threads, or the processors that they run on.
    #[must_use]
    pub fn processors(&self) -> u16 {
        self.processors
    }

    /// Numbers of all words that are used, in order.
    pub fn touched(&self) -> impl Iterator<Item = u64> + '_ {
        self.pages.iter().flat_map(|(number, page)| {
            let words = number * PAGE_WORDS as u64..;
            words.zip(page.iter()).filter(|(_, word)| word.bits & TOUCHED != 0).map(|(w, _)| w)
        })
    }

    fn word(&self, word: u64) -> WordUsers {
        let page = self.index.get(&page_of(word));
        page.map_or(WordUsers::default(), |&page| self.pages[page].1[place(word)])
    }

    /// How the threads use a word.
    #[must_use]
    pub fn label(&self, word: u64) -> WordLabel {
        let word = self.word(word);
        if word.bits & TOUCHED == 0 {
            WordLabel::Untouched
        } else if word.uses == EMPTY {
            WordLabel::Own(word.first)
        } else if word.writes <= word.concurrent / READS_A_WRITE && self.uses.count(word.uses) > 1 {
            WordLabel::Read
        } else if word.lead >= word.concurrent - word.concurrent / 2 {
            WordLabel::Own(word.owner)
        } else {
            self.uses.writer(word.uses).map_or(WordLabel::Shared, WordLabel::Own)
        }
    }

    /// Whether only one thread uses a word.
    #[must_use]
    pub fn exclusive(&self, word: u64) -> bool {
        let word = self.word(word);
        word.uses == EMPTY || self.uses.count(word.uses) == 1
    }

    /// Whether this word and the next are parts of one value.
    #[must_use]
    pub fn joined(&self, word: u64) -> bool {
        self.word(word).bits & JOINED != 0
    }

    /// Whether a word is updated in one step to synchronise threads, as locks are.
    #[must_use]
    pub fn locks(&self, word: u64) -> bool {
        self.word(word).bits & LOCKS != 0
    }

    /// What threads do with a word that several of them write, and how many write it. `None` if
    /// one writes it, if it is mostly read, or written without regard to what was there.
    ///
    /// An addition that is no atomic operation is a read and a write of one thread with nobody's
    /// reference between, while the thread holds no lock. What is
    /// both changed in one step and stored plainly is a lock: a counter
    /// is not released.
    #[must_use]
    pub fn contended(&self, word: u64) -> Option<(ContendedUse, u32)> {
        let users = self.word(word);
        let writers = self.uses.writers(users.uses);
        if writers < 2 {
            return None;
        }
        let polled = users.writes <= users.concurrent / READS_AN_UPDATE;
        let stores = users.writes - users.updates.min(users.writes);
        let what = match self.synchronisation.get(&word) {
            Some(true) => ContendedUse::Lock,
            Some(false) => return None,
            None if users.bits & LOCKS != 0 && stores > 0 => ContendedUse::Lock,
            None if polled => return None,
            None if users.bits & ATOMIC != 0 && stores == 0 => ContendedUse::Update,
            None if users.bits & ATOMIC == 0 && stores <= users.writes / 10 => ContendedUse::Update,
            None => return None,
        };
        Some((what, writers))
    }

    /// References to a word by anybody, up to 2^32 - 1.
    #[must_use]
    pub fn references_to(&self, word: u64) -> u32 {
        self.word(word).references
    }

    /// Who referenced a word first, and the references to it while a thread ran alone, which
    /// initialise it.
    #[must_use]
    pub fn initialisation(&self, word: u64) -> (ProcId, u32) {
        let word = self.word(word);
        (word.first, word.references - word.concurrent)
    }

    /// A number that is the same for words with the same users, and whether any of them writes.
    /// A thread that runs alone counts if no other one ever uses the word.
    pub(crate) fn users_of(&self, word: u64) -> (u32, bool) {
        let word = self.word(word);
        if word.uses == EMPTY {
            return (self.single_user[usize::from(word.first)], word.bits & WRITTEN != 0);
        }
        (self.users_only[word.uses as usize], self.uses.written(word.uses))
    }

    /// Sets the elements of the threads that use a word.
    pub fn add_users(&self, word: u64, users: &mut [bool]) {
        let word = self.word(word);
        if word.bits & TOUCHED == 0 {
            return;
        }
        if word.uses == EMPTY {
            users[usize::from(word.first)] = true;
            return;
        }
        for user in self.uses.users(word.uses) {
            users[usize::from(user)] = true;
        }
    }
}
