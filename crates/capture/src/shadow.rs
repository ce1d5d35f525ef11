//! Shadow memory of the race detector: the last accesses to each eight bytes.

/// Bytes of memory that share a cell.
pub const CELL_BYTES: u64 = 8;

/// An access: its bytes in the cell (bits 56 to 63), its thread (bits 32 to 47), and the thread's
/// synchronisations until then (bits 0 to 31).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AccessEpoch(u64);

impl AccessEpoch {
    /// An epoch without bytes.
    pub const fn new(thread: usize, count: u32) -> Self {
        Self((thread as u64 & 0xffff) << 32 | count as u64)
    }

    /// The epoch with `size` bytes from `first` on, which must be in one cell.
    #[inline(always)]
    pub const fn with_bytes(self, first: u64, size: u64) -> Self {
        Self(self.0 | (0xff >> (CELL_BYTES - size) << first) << 56)
    }

    pub const fn thread(self) -> usize {
        (self.0 >> 32 & 0xffff) as usize
    }

    #[expect(clippy::cast_possible_truncation, reason = "the low half is what is wanted")]
    pub const fn count(self) -> u32 {
        self.0 as u32
    }

    /// Whether thread and count equal those of `other`.
    pub const fn is_with(self, other: Self) -> bool {
        (self.0 ^ other.0) << 8 == 0
    }

    /// Whether it has all bytes of `other`.
    pub const fn covers(self, other: Self) -> bool {
        other.0 >> 56 & !(self.0 >> 56) == 0
    }

    /// Whether thread and count equal those of `other`, and it has all bytes of `other`.
    #[inline(always)]
    pub const fn includes(self, other: Self) -> bool {
        (self.0 ^ other.0) & (other.0 | !0 >> 8) == 0
    }

    /// Whether they have a byte in common.
    pub const fn overlaps(self, other: Self) -> bool {
        (self.0 & other.0) >> 56 != 0
    }

    /// The epoch with the bytes of both.
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
    /// Whether the same access has been noted since the last write.
    #[inline(always)]
    pub fn has(&self, now: AccessEpoch, write: bool) -> bool {
        let known = if write { &self.writes } else { &self.reads };
        known.iter().any(|then| then.includes(now))
            && (!write || self.reads.iter().all(|read| !read.overlaps(now)))
    }

    /// Notes an access by a thread with vector clock `seen`; returns whether it races with an
    /// earlier one.
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
            // Replaces an access to the same bytes, or an empty entry; else one that is ordered
            // before this access: what races with that is likely to race with this one, too.
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
