//! One pass over the trace: which threads use each word.

use homenode_base::{AccessKind, BlockSize, Flags, ProcId, ReferenceFilter, ReferenceRole};
use homenode_trace::{Batch, BatchPart, Event, EventKind, ThreadTurn};
use rustc_hash::FxHashMap;

mod parts;

use crate::concurrency::RunningThreads;
use crate::line_filter::LineFilter;
use crate::uses::{EMPTY, UserSets};
use crate::words::{
    ATOMIC, ConcurrentUse, FIELD, JOINED, LOCKS, PARTLY, READ_LAST, TOUCHED, UseTable, WRITTEN,
    WordPlace, WordReferences,
};

/// A reference of up to this many bytes is one value, whose words must stay together. A longer one
/// copies, or is a vector of, several values, which may be separated.
const VALUE_BYTES: u8 = 8;

/// A word that several threads use is only read if at most one in this many of their references
/// writes: then its line, too, is nearly always in all their caches.
const READS_A_WRITE: u32 = 64;

/// A word is updated if more than one in this many references writes: an addition reads once.
const READS_AN_UPDATE: u32 = 4;

/// Bytes of the largest lock, a reader-writer lock of 56 bytes, up to the last field in use.
const LOCK_BYTES: u64 = 52;

/// How the threads use a word while several run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum WordLabel {
    /// Not used during that time: it disturbs no other word, wherever it is.
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
    /// They change its value, as when adding to a count.
    Update,
    /// They acquire and release it, as a lock.
    Lock,
}

/// Collects uses from batches given in Time order.
///
/// Only references while several threads run ([`RunningThreads`]) count as use: a thread that runs
/// alone initialises data for others, or collects their results. If the trace marks the end of
/// initialisation, nothing before the marker counts.
///
/// Cost: O(1) a reference. Memory: 8 bytes a word of every 4 KB page that is touched, 24 bytes a
/// word of every 64 bytes that are used while several threads run, and at most 64 MB for the
/// different sets of users.
pub struct UseSurveyor {
    processors: u16,
    /// Logarithm of the bytes in a unit.
    unit_bits: u32,
    words: UseTable,
    uses: UserSets,
    /// The role of references, by kind and flags.
    roles: [[ReferenceRole; 256]; 4],
    /// The lines to survey; `None` for all.
    lines: Option<LineFilter>,
    threads: RunningThreads,
    /// Words where the objects of synchronisation calls begin: whether threads lock them.
    synchronisation: FxHashMap<u64, bool>,
    held: FxHashMap<u16, u32>,
    references: u64,
    last_thread: u16,
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
            unit_bits: BlockSize::WORD_BYTES.trailing_zeros(),
            roles: filter.all_roles(),
            lines: None,
            words: UseTable::default(),
            uses: UserSets::new(processors),
            threads: RunningThreads::default(),
            synchronisation: FxHashMap::default(),
            held: FxHashMap::default(),
            references: 0,
            last_thread: 0,
        }
    }

    /// Surveys only some words and the rest of their lines, and nothing about other words. This is
    /// faster if they are a small part of the program's data.
    #[must_use]
    pub fn of_words(self, words: impl IntoIterator<Item = u64>) -> Self {
        Self { lines: Some(LineFilter::new(words, BlockSize::WORD_BYTES)), ..self }
    }

    fn event(&mut self, event: &Event) {
        if matches!(event.what, EventKind::InitDone) {
            self.words.forget_concurrent_uses();
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
            self.synchronisation.insert(addr >> self.unit_bits, locks);
        }
        self.threads.event(event);
    }

    /// Adds the references of a batch.
    pub fn push(&mut self, batch: &Batch) {
        for part in batch.parts() {
            match part {
                BatchPart::Turn(turn) => {
                    let (thread, counted) = (turn.thread, self.references);
                    self.threads.reference(thread);
                    if self.threads.are_several() {
                        self.turn::<true>(batch, turn);
                    } else {
                        self.turn::<false>(batch, turn);
                    }
                    if self.references > counted {
                        self.last_thread = self.last_thread.max(thread);
                    }
                }
                BatchPart::Event(event) => self.event(event),
            }
        }
    }

    /// Adds references of one thread; `SEVERAL` if others run, too.
    fn turn<const SEVERAL: bool>(&mut self, batch: &Batch, turn: ThreadTurn) {
        let ThreadTurn { thread, rows } = turn;
        let processor = thread % self.processors;
        // A lock serialises the updates under it, regardless of the layout of the data.
        let held = self.held.get(&thread).is_some_and(|&locks| locks > 0);
        let (kinds, sizes) = (&batch.kind[rows.clone()], &batch.size[rows.clone()]);
        let (addrs, flags) = (&batch.addr[rows.clone()], batch.flags.get(rows.clone()));
        for row in 0..rows.len() {
            let kind = kinds[row];
            let flags = flags.map_or(0, |flags| flags[row]);
            if self.roles[usize::from(kind % 4)][usize::from(flags)] != ReferenceRole::Shared {
                continue;
            }
            self.references += 1;
            let write = kind != AccessKind::Read.code();
            let (addr, size) = (addrs[row], sizes[row]);
            let first = addr >> self.unit_bits;
            let end = addr.saturating_add(u64::from(size).saturating_sub(1));
            let last = end >> self.unit_bits;
            if self.lines.as_ref().is_some_and(|lines| !lines.holds(first) && !lines.holds(last)) {
                continue;
            }
            // A compiler initialises several values at a time: these are not one.
            let joined = if SEVERAL && size <= VALUE_BYTES { JOINED } else { 0 };
            let mut kept = TOUCHED;
            if SEVERAL && u64::from(size) < BlockSize::WORD_BYTES {
                kept |= PARTLY;
            }
            let synchronises = Flags(flags).contains(Flags::SYNC);
            if kind == AccessKind::Atomic.code() {
                kept |= ATOMIC | if synchronises { LOCKS } else { 0 };
            } else if synchronises {
                kept |= FIELD;
            }
            for word in first..=last {
                let bits = kept | if word < last { joined } else { 0 };
                if SEVERAL {
                    self.concurrent_word(word, processor, write, held, bits);
                } else {
                    let bits = bits | if write { WRITTEN } else { 0 };
                    self.word(word, processor, bits);
                }
            }
        }
    }

    /// Counts a reference to a word and adds its bits. Returns the place of the word's entries and
    /// its bits before.
    #[inline]
    fn word(&mut self, word: u64, processor: ProcId, bits: u8) -> (WordPlace, u8) {
        let place = self.words.place(word);
        let entry = self.words.references_mut(place);
        let before = entry.bits;
        if before & TOUCHED == 0 {
            entry.first = processor;
        }
        entry.references = entry.references.saturating_add(1);
        entry.bits |= bits;
        (place, before)
    }

    /// The same while several threads run.
    #[inline]
    fn concurrent_word(&mut self, word: u64, processor: ProcId, write: bool, held: bool, bits: u8) {
        let (place, before) = self.word(word, processor, bits);
        let read_last = before & READ_LAST != 0;
        if read_last == write {
            self.words.references_mut(place).bits ^= READ_LAST;
        }
        let entry = self.words.concurrent_mut(place);
        entry.uses = self.uses.with(entry.uses, processor, write);
        entry.references = entry.references.saturating_add(1);
        entry.writes = entry.writes.saturating_add(u32::from(write));
        let just_read = read_last && entry.last == processor;
        let updates = bits & ATOMIC != 0 || write && just_read && !held;
        entry.updates = entry.updates.saturating_add(u32::from(updates));
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

    /// Ends the pass.
    #[must_use]
    pub fn finish(mut self) -> UseSurvey {
        self.words.sort();
        let users_only = self.uses.users_only();
        let single_user = (0..self.processors).map(|p| self.uses.single_user(p)).collect();
        let mut begins: Vec<u64> = self.synchronisation.keys().copied().collect();
        begins.sort_unstable();
        UseSurvey {
            roles: self.roles,
            unit_bytes: 1 << self.unit_bits,
            begins,
            users_only,
            single_user,
            processors: self.processors,
            references: self.references,
            last_thread: self.last_thread,
            words: self.words,
            synchronisation: self.synchronisation,
            uses: self.uses,
        }
    }
}

/// The users of each word of memory, or of each byte of some of it.
pub struct UseSurvey {
    unit_bytes: u64,
    roles: [[ReferenceRole; 256]; 4],
    processors: u16,
    references: u64,
    last_thread: u16,
    words: UseTable,
    synchronisation: FxHashMap<u64, bool>,
    /// Its words, in order.
    begins: Vec<u64>,
    uses: UserSets,
    /// For each set, the set in which the same users read and write: equal for sets that differ
    /// only in who writes.
    users_only: Vec<u32>,
    /// For each processor, the set in which it is the only user.
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

    /// Whether each thread has a processor of its own, so that statements about processors hold for
    /// threads.
    #[must_use]
    pub fn has_threads_of_their_own(&self) -> bool {
        self.last_thread < self.processors
    }

    /// Whether threads acquire locks by calls that the trace records.
    #[must_use]
    pub fn has_locks(&self) -> bool {
        self.synchronisation.values().any(|&locks| locks)
    }

    /// Numbers of all words that are used, in order.
    pub fn touched(&self) -> impl Iterator<Item = u64> + '_ {
        self.words.touched().map(|(word, _)| word)
    }

    /// How the threads use a word while several run.
    #[must_use]
    pub fn label(&self, word: u64) -> WordLabel {
        let (_, users) = self.words.word(word);
        if users.uses == EMPTY {
            WordLabel::Untouched
        } else if users.writes <= users.references / READS_A_WRITE
            && self.uses.count(users.uses) > 1
        {
            WordLabel::Read
        } else if users.lead >= users.references - users.references / 2 {
            WordLabel::Own(users.owner)
        } else {
            self.uses.writer(users.uses).map_or(WordLabel::Shared, WordLabel::Own)
        }
    }

    /// Whether only one thread uses a word.
    #[must_use]
    pub fn exclusive(&self, word: u64) -> bool {
        let (_, users) = self.words.word(word);
        users.uses == EMPTY || self.uses.count(users.uses) == 1
    }

    /// Whether this word and the next are parts of one value, or of one lock.
    #[must_use]
    pub fn joined(&self, word: u64) -> bool {
        let ends_before = |next: &u64| !self.synchronisation.contains_key(next);
        self.words.word(word).0.bits & JOINED != 0
            || self.lock_at(word).is_some_and(|begin| {
                let mut rest = (word + 1..begin + self.lock_units()).take_while(ends_before);
                rest.any(|next| self.is_field(next))
            })
    }

    /// Whether a word is updated in one step to synchronise threads, as locks are, or is another
    /// field of a lock.
    #[must_use]
    pub fn locks(&self, word: u64) -> bool {
        self.words.word(word).0.bits & LOCKS != 0
            || self.is_field(word) && self.lock_at(word).is_some()
    }

    /// Where the lock begins that a word is a field of, or the word itself.
    #[must_use]
    pub fn beginning(&self, word: u64) -> u64 {
        self.lock_at(word).filter(|_| self.is_field(word)).unwrap_or(word)
    }

    fn is_field(&self, word: u64) -> bool {
        self.words.word(word).0.bits & FIELD != 0
    }

    /// Where the lock begins that a word may belong to.
    fn lock_at(&self, word: u64) -> Option<u64> {
        let after = self.begins.partition_point(|&begin| begin <= word);
        let begin = *self.begins.get(after.checked_sub(1)?)?;
        (word - begin < self.lock_units()).then_some(begin)
    }

    fn lock_units(&self) -> u64 {
        LOCK_BYTES / self.unit_bytes
    }

    /// What threads do with a word that several of them write, and how many write it. `None` if
    /// only one writes it, if it is mostly read, or if it is written regardless of its old value.
    ///
    /// An addition that is no atomic operation is a read and a write of one thread with no other
    /// thread's reference between, while the thread holds no lock. A word that is both changed in
    /// one step and stored plainly is a lock: a counter is not released.
    #[must_use]
    pub fn contended(&self, word: u64) -> Option<(ContendedUse, u32)> {
        let (entry, users) = self.words.word(word);
        let writers = self.uses.writers(users.uses);
        if writers < 2 {
            return None;
        }
        let polled = users.writes <= users.references / READS_AN_UPDATE;
        let stores = users.writes - users.updates.min(users.writes);
        let what = match self.synchronisation.get(&word) {
            Some(true) => ContendedUse::Lock,
            Some(false) => return None,
            None if entry.bits & LOCKS != 0 && stores > 0 => ContendedUse::Lock,
            None if polled => return None,
            None if entry.bits & ATOMIC != 0 && stores == 0 => ContendedUse::Update,
            None if entry.bits & ATOMIC == 0 && stores <= users.writes / 10 => ContendedUse::Update,
            None => return None,
        };
        Some((what, writers))
    }

    /// References to a word by all threads, up to 2^32 - 1.
    #[must_use]
    pub fn references_to(&self, word: u64) -> u32 {
        self.words.word(word).0.references
    }

    /// The thread that referenced a word first, and the number of references to it while a thread
    /// ran alone, which count as initialisation.
    #[must_use]
    pub fn initialisation(&self, word: u64) -> (ProcId, u32) {
        let (word, users) = self.words.word(word);
        (word.first, word.references - users.references)
    }

    /// A number that is equal for words with the same users, and whether any of these writes. A
    /// thread that runs alone counts if no other thread ever uses the word.
    fn user_set(&self, word: WordReferences, users: ConcurrentUse) -> (u32, bool) {
        if users.uses == EMPTY {
            return (self.single_user[usize::from(word.first)], word.bits & WRITTEN != 0);
        }
        (self.users_only[users.uses as usize], self.uses.written(users.uses))
    }

    /// Every referenced word, in order: a number that is equal for words with the same users,
    /// whether any of these writes, and the references to the word.
    pub(crate) fn users_of_all(&self) -> impl Iterator<Item = (u64, (u32, bool), u32)> + '_ {
        let words = self.words.touched();
        words.map(|(number, (word, users))| (number, self.user_set(word, users), word.references))
    }

    /// Whether a processor other than these uses a word while several threads run.
    #[must_use]
    pub fn used_by_others(&self, word: u64, processors: &[ProcId]) -> bool {
        let (_, users) = self.words.word(word);
        self.uses.users(users.uses).any(|user| !processors.contains(&user))
    }

    /// Whether a word is used while several threads run.
    #[must_use]
    pub fn used_concurrently(&self, word: u64) -> bool {
        self.words.word(word).1.uses != EMPTY
    }

    /// Whether several threads use some words while they run, and one of them writes: only then can
    /// their arrangement matter.
    #[must_use]
    pub fn is_contended(&self, words: std::ops::Range<u64>) -> bool {
        let mut only: Option<u32> = None;
        let (mut several, mut written) = (false, false);
        for word in words {
            let uses = self.words.word(word).1.uses;
            if uses == EMPTY {
                continue;
            }
            written |= self.uses.written(uses);
            let users = self.users_only[uses as usize];
            several |= self.uses.count(users) > 1 || *only.get_or_insert(users) != users;
            if several && written {
                return true;
            }
        }
        false
    }

    /// Sets the elements of the threads that use a word while several run.
    pub fn add_users(&self, word: u64, users: &mut [bool]) {
        let (_, concurrent) = self.words.word(word);
        for user in self.uses.users(concurrent.uses) {
            users[usize::from(user)] = true;
        }
    }
}
