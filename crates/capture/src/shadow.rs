//! What is remembered of the last accesses to each eight bytes, to find data races.

/// Bytes that share what is remembered.
pub const CELL_BYTES: u64 = 8;

/// When an access was: bytes of the cell, thread, and count of the thread's synchronisations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AccessEpoch(u64);

impl AccessEpoch {
    /// That of a thread, as yet without bytes.
    pub const fn new(thread: usize, count: u32) -> Self {
        Self((thread as u64 & 0xffff) << 32 | count as u64)
    }

    /// The same with `size` bytes of a cell, which holds them, from `first` on.
    #[inline(always)]
    pub const fn with_bytes(self, first: u64, size: u64) -> Self {
        Self(self.0 | (0xff >> (CELL_BYTES - size) << first) << 56)
    }

    /// The thread.
    pub const fn thread(self) -> usize {
        (self.0 >> 32 & 0xffff) as usize
    }

    #[expect(clippy::cast_possible_truncation, reason = "the low half is what is wanted")]
    pub const fn count(self) -> u32 {
        self.0 as u32
    }

    /// Whether thread and count are those of `other`.
    pub const fn is_with(self, other: Self) -> bool {
        (self.0 ^ other.0) << 8 == 0
    }

    /// Whether it has all bytes of `other`.
    pub const fn covers(self, other: Self) -> bool {
        other.0 >> 56 & !(self.0 >> 56) == 0
    }

    /// Whether it is with `other` and has all its bytes.
    #[inline(always)]
    pub const fn includes(self, other: Self) -> bool {
        (self.0 ^ other.0) & (other.0 | !0 >> 8) == 0
    }

    /// Whether they have a byte in common.
    pub const fn overlaps(self, other: Self) -> bool {
        (self.0 & other.0) >> 56 != 0
    }

    /// The same with the bytes of `other`, too.
    pub const fn with_bytes_of(self, other: Self) -> Self {
        Self(self.0 | (other.0 >> 56) << 56)
    }
}

/// The last accesses to eight bytes.
#[derive(Clone, Copy, Debug, Default)]
pub struct ShadowCell {
    writes: [AccessEpoch; 2],
    reads: [AccessEpoch; 2],
}

impl ShadowCell {
    /// Whether the same access was noted since the last write.
    #[inline(always)]
    pub fn has(&self, now: AccessEpoch, write: bool) -> bool {
        let known = if write { &self.writes } else { &self.reads };
        known.iter().any(|then| then.includes(now))
            && (!write || self.reads.iter().all(|read| !read.overlaps(now)))
    }

    /// Notes an access by a thread that has `seen` these epochs of the others; whether it races
    /// with an earlier one.
    #[inline(never)]
    pub fn touch(&mut self, now: AccessEpoch, write: bool, seen: &[u32]) -> bool {
        let before = |then: AccessEpoch| {
            then.thread() == now.thread()
                || seen.get(then.thread()).copied().unwrap_or(0) >= then.count()
        };
        let races = |then: AccessEpoch| then.overlaps(now) && !before(then);
        let [first, second] = self.writes;
        let mut found = races(first) || races(second);
        if write {
            let [first, second] = self.reads;
            found |= races(first) || races(second);
        }
        let kept = if write { &mut self.writes } else { &mut self.reads };
        let [first, second] = *kept;
        if first.is_with(now) {
            kept[0] = first.with_bytes_of(now);
        } else if second.is_with(now) {
            kept[1] = second.with_bytes_of(now);
        } else {
            // One of the same bytes, or none at all; else one that whoever races with it is likely
            // to race with this, too.
            let place = match [first, second] {
                [first, _] if now.covers(first) => 0,
                [_, second] if now.covers(second) => 1,
                [first, _] if before(first) => 0,
                [_, second] if before(second) => 1,
                _ => now.thread() & 1,
            };
            kept[place] = now;
        }
        if write {
            for read in self.reads.iter_mut().filter(|read| now.covers(**read)) {
                *read = AccessEpoch::default();
            }
        }
        found
    }
}
