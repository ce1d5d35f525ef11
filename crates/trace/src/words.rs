//! References counted in words: a reference to k words counts k times.
//!
//! Bolosky's reference is a word (section 4.1.2); a reference of a trace is made by an instruction
//! and has 1 to 64 bytes. [`WordSize::split`] converts a batch, both for the transform `words` and
//! for [`TraceReader::in_words`](crate::TraceReader::in_words), so simulating in words equals
//! simulating the trace that the transform writes.

use homenode_base::AccessKind;

use crate::model::Batch;
use crate::turns::{ThreadTurn, Turns};

/// Bytes of a word in which references are counted: a power of two from 1 to 64.
///
/// A larger word would exceed the largest reference.
///
/// ```
/// use homenode_trace::WordSize;
/// let word = WordSize::new(4).unwrap();
/// // Bytes 0x1006 to 0x1009 are in the words at 0x1004 and 0x1008.
/// assert_eq!(word.count(0x1006, 4), 2);
/// assert!(WordSize::new(3).is_none() && WordSize::new(128).is_none());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WordSize {
    shift: u8,
}

impl WordSize {
    /// Most bytes of a word: those of the largest reference.
    pub const BYTES_MAX: u64 = 64;

    /// Words of `bytes` bytes; `None` if that is not a power of two from 1 to 64.
    #[must_use]
    pub const fn new(bytes: u64) -> Option<Self> {
        match bytes {
            1 => Some(Self { shift: 0 }),
            2 => Some(Self { shift: 1 }),
            4 => Some(Self { shift: 2 }),
            8 => Some(Self { shift: 3 }),
            16 => Some(Self { shift: 4 }),
            32 => Some(Self { shift: 5 }),
            Self::BYTES_MAX => Some(Self { shift: 6 }),
            _ => None,
        }
    }

    /// Bytes of a word.
    #[must_use]
    pub const fn bytes(self) -> u8 {
        1 << self.shift
    }

    #[must_use]
    pub(crate) const fn bytes_u64(self) -> u64 {
        1 << self.shift
    }

    /// First byte of the word that holds the byte at `addr`.
    #[inline]
    #[must_use]
    pub const fn first_byte(self, addr: u64) -> u64 {
        addr >> self.shift << self.shift
    }

    /// Words that `size` bytes from `addr` touch: 1 to 64. A reference beyond the end of the
    /// address space is cut there.
    #[inline]
    #[must_use]
    pub const fn count(self, addr: u64, size: u8) -> u8 {
        let last = addr.saturating_add((size as u64).saturating_sub(1));
        let [count, ..] = ((last >> self.shift) - (addr >> self.shift) + 1).to_le_bytes();
        count
    }

    /// Replaces every data reference of the batch by one reference per touched word, in ascending
    /// order of addresses. Each copies thread, kind, flags, program counter and process; the first
    /// one gets the gap. Fetches are unchanged, as no engine counts them in words. An event stays
    /// before the same reference.
    pub fn split(self, batch: &mut Batch) {
        let counts = self.counts(batch);
        self.round(batch);
        let rows: usize = counts.iter().map(|&count| usize::from(count)).sum();
        if rows == batch.len() {
            return;
        }
        move_events(batch, &counts);
        let mut turns = Turns::default();
        for ThreadTurn { thread, rows } in batch.turns.iter() {
            turns.add(thread, counts[rows].iter().copied().map(usize::from).sum());
        }
        batch.turns = turns;
        repeat(&mut batch.kind, &counts, rows);
        repeat(&mut batch.size, &counts, rows);
        repeat(&mut batch.flags, &counts, rows);
        repeat(&mut batch.pc, &counts, rows);
        repeat(&mut batch.pid, &counts, rows);
        let bytes = self.bytes_u64();
        repeat_with(&mut batch.addr, &counts, rows, |addr, nth| addr + bytes * u64::from(nth));
        repeat_with(&mut batch.gap, &counts, rows, |gap, nth| if nth == 0 { gap } else { 0 });
    }

    fn counts(self, batch: &Batch) -> Vec<u8> {
        let places = batch.addr.iter().zip(&batch.size);
        let rows = places.zip(&batch.kind);
        rows.map(|((&addr, &size), &kind)| if is_fetch(kind) { 1 } else { self.count(addr, size) })
            .collect()
    }

    /// Aligns every data reference to its first word, with the size of one word.
    fn round(self, batch: &mut Batch) {
        let places = batch.addr.iter_mut().zip(&mut batch.size);
        for ((addr, size), &kind) in places.zip(&batch.kind) {
            if !is_fetch(kind) {
                (*addr, *size) = (self.first_byte(*addr), self.bytes());
            }
        }
    }
}

#[inline]
const fn is_fetch(kind: u8) -> bool {
    kind == AccessKind::Fetch.code()
}

/// Adjusts the rows of events to each row being repeated `counts` times.
fn move_events(batch: &mut Batch, counts: &[u8]) {
    let (mut from, mut to) = (0, 0u32);
    for (row, _) in &mut batch.events {
        // Rows of events ascend, up to one past the last row.
        let until = (*row as usize).min(counts.len());
        if until > from {
            to += counts[from..until].iter().map(|&count| u32::from(count)).sum::<u32>();
            from = until;
        }
        *row = to;
    }
}

/// Repeats each value of a column `counts` times, `rows` in total. A missing column stays empty.
fn repeat<T: Copy + Default>(column: &mut Vec<T>, counts: &[u8], rows: usize) {
    repeat_with(column, counts, rows, |value, _| value);
}

/// As [`repeat`], with each copy computed from the value and the index of the copy.
fn repeat_with<T: Copy + Default>(
    column: &mut Vec<T>,
    counts: &[u8],
    rows: usize,
    value: impl Fn(T, u8) -> T,
) {
    if column.is_empty() {
        return;
    }
    column.resize(rows, T::default());
    // From the end, so that no value is overwritten before it is moved.
    let mut end = rows;
    for (row, &count) in counts.iter().enumerate().rev() {
        if end == row + 1 {
            // All earlier rows have one copy: they are in place.
            break;
        }
        let old = column[row];
        if count <= 2 {
            // Programs with 8-byte numbers mix one and two copies at random. Both are written
            // without a branch; the next value overwrites a surplus copy. No value that is still to
            // be moved is destroyed, as row < end - 1 here.
            column[end - 1] = value(old, count - 1);
            column[end - 2] = value(old, 0);
            end -= usize::from(count);
        } else {
            for nth in (0..count).rev() {
                end -= 1;
                column[end] = value(old, nth);
            }
        }
    }
}
