//! References counted in words: one that covers k words of W bytes counts k times.
//!
//! Bolosky's reference is a word (section 4.1.2); a reference of a trace is what an instruction
//! made, from a byte to a vector of 64. Here a batch is turned from one into the other, for the
//! transform `words` and for [`TraceReader::in_words`](crate::TraceReader::in_words) alike: so that
//! simulating in words equals simulating the trace that the transform writes.

use homenode_base::AccessKind;

use crate::model::Batch;

/// Bytes of a word in which references are counted: a power of two from 1 to 64.
///
/// A word above 64 bytes, the largest reference, would be one that no reference can be of.
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

    /// Words of so many bytes; `None` if that is no power of two from 1 to 64.
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

    /// The same, where addresses are counted with.
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

    /// Words that `size` bytes from `addr` touch: 1 to 64. A reference that would run past the end
    /// of the address space ends there.
    #[inline]
    #[must_use]
    pub const fn count(self, addr: u64, size: u8) -> u8 {
        let last = addr.saturating_add((size as u64).saturating_sub(1));
        let [count, ..] = ((last >> self.shift) - (addr >> self.shift) + 1).to_le_bytes();
        count
    }

    /// Makes every data reference of the batch one to each word that it touches, in ascending order
    /// of addresses. Thread, kind, flags, program counter and process are those of the reference;
    /// the gap stays with the first of its words. Fetches stay as they are, for no engine counts
    /// them in words. An event stays before the same reference.
    pub fn split(self, batch: &mut Batch) {
        let counts = self.counts(batch);
        self.round(batch);
        let rows: usize = counts.iter().map(|&count| usize::from(count)).sum();
        if rows == batch.len() {
            return;
        }
        move_events(batch, &counts);
        repeat(&mut batch.thread, &counts, rows);
        repeat(&mut batch.kind, &counts, rows);
        repeat(&mut batch.size, &counts, rows);
        repeat(&mut batch.flags, &counts, rows);
        repeat(&mut batch.pc, &counts, rows);
        repeat(&mut batch.pid, &counts, rows);
        let bytes = self.bytes_u64();
        repeat_with(&mut batch.addr, &counts, rows, |addr, nth| addr + bytes * u64::from(nth));
        repeat_with(&mut batch.gap, &counts, rows, |gap, nth| if nth == 0 { gap } else { 0 });
    }

    /// How many rows come of each row.
    fn counts(self, batch: &Batch) -> Vec<u8> {
        let places = batch.addr.iter().zip(&batch.size);
        let rows = places.zip(&batch.kind);
        rows.map(|((&addr, &size), &kind)| if is_fetch(kind) { 1 } else { self.count(addr, size) })
            .collect()
    }

    /// Makes every data reference begin with its first word and be one word long.
    fn round(self, batch: &mut Batch) {
        let places = batch.addr.iter_mut().zip(&mut batch.size);
        for ((addr, size), &kind) in places.zip(&batch.kind) {
            if !is_fetch(kind) {
                (*addr, *size) = (self.first_byte(*addr), self.bytes());
            }
        }
    }
}

/// Whether a row of this kind is an instruction fetch.
#[inline]
const fn is_fetch(kind: u8) -> bool {
    kind == AccessKind::Fetch.code()
}

/// Moves events to the rows before which they happen when each row is repeated so often.
fn move_events(batch: &mut Batch, counts: &[u8]) {
    let (mut from, mut to) = (0, 0u32);
    for (row, _) in &mut batch.events {
        // Rows of events ascend, and none is behind the last row by more than one.
        let until = (*row as usize).min(counts.len());
        if until > from {
            to += counts[from..until].iter().map(|&count| u32::from(count)).sum::<u32>();
            from = until;
        }
        *row = to;
    }
}

/// Repeats each value of a column as often as `counts` says, `rows` in all. A column that the
/// batch lacks stays empty.
fn repeat<T: Copy + Default>(column: &mut Vec<T>, counts: &[u8], rows: usize) {
    repeat_with(column, counts, rows, |value, _| value);
}

/// The same, with each value a function of the one repeated and of how many come before it.
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
            // What comes before has one row each: it is where it belongs.
            break;
        }
        let old = column[row];
        if count <= 2 {
            // One or two, which follow each other at random in programs with numbers of 8 bytes:
            // both are written without asking, and the next value overwrites the one too many.
            // It destroys none that is still to be moved, for here row < end - 1.
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
