//! The memory that recorder and traced process share: a `memfd` that both map.
#![allow(unsafe_code)]

use std::io;
use std::ops::Range;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::path::Path;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::Duration;

use crate::wire::{CHANGES_AT, FLOOR_AT, FRAMES, RING_LINES_AT, RINGS_AT, at};

/// Sizes of the parts of a shared area.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RingGeometry {
    /// Number of rings: one for all threads, or one a thread.
    pub rings: u32,
    /// Blocks of each ring.
    pub ring_blocks: u32,
    /// Records of each block.
    pub block_records: u32,
    /// 64-bit words for call stacks of allocations, behind the rings.
    pub stack_words: u32,
}

impl RingGeometry {
    /// Records in one ring.
    #[must_use]
    pub const fn ring_records(self) -> usize {
        self.ring_blocks as usize * self.block_records as usize
    }

    /// Byte offset of the call stacks.
    const fn stacks_at(self) -> usize {
        RINGS_AT + self.rings as usize * self.ring_records() * 16
    }

    const fn bytes(self) -> usize {
        self.stacks_at() + self.stack_words as usize * 8
    }
}

/// The mapped area. Pages are allocated by the kernel as they are touched.
pub struct SharedArea {
    fd: OwnedFd,
    start: NonNull<u8>,
    geometry: RingGeometry,
}

// SAFETY: the area is plain memory that is only reached through atomics, for as long as
// `SharedArea` lives; nothing in it depends on the thread that made the mapping.
unsafe impl Send for SharedArea {}

impl SharedArea {
    /// Makes the area, all zero.
    ///
    /// # Errors
    /// When the kernel has no memory for it.
    pub fn new(geometry: RingGeometry) -> io::Result<Self> {
        let bytes = geometry.bytes();
        // SAFETY: the name is a C string; the result is checked and has no other owner.
        let fd = unsafe {
            let fd = libc::memfd_create(c"homenode".as_ptr(), libc::MFD_CLOEXEC);
            if fd < 0 {
                return Err(io::Error::last_os_error());
            }
            OwnedFd::from_raw_fd(fd)
        };
        let length = i64::try_from(bytes).map_err(|_| io::ErrorKind::OutOfMemory)?;
        // SAFETY: fd is open; the call touches no memory of ours.
        if unsafe { libc::ftruncate(fd.as_raw_fd(), length) } != 0 {
            return Err(io::Error::last_os_error());
        }
        Self::map(fd, geometry)
    }

    /// Opens an area that a recorded process has made.
    ///
    /// # Errors
    /// When it cannot be opened, or its size is not that of the geometry.
    pub fn open(path: &Path, geometry: RingGeometry) -> io::Result<Self> {
        let file = std::fs::File::options().read(true).write(true).open(path)?;
        if file.metadata()?.len() != geometry.bytes() as u64 {
            return Err(io::ErrorKind::InvalidData.into());
        }
        Self::map(file.into(), geometry)
    }

    fn map(fd: OwnedFd, geometry: RingGeometry) -> io::Result<Self> {
        let bytes = geometry.bytes();
        // SAFETY: a new shared mapping of a file of this length, at an address that the kernel
        // chooses.
        let start = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                bytes,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_SHARED,
                fd.as_raw_fd(),
                0,
            )
        };
        if start == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let start = NonNull::new(start.cast()).ok_or(io::ErrorKind::OutOfMemory)?;
        Ok(Self { fd, start, geometry })
    }

    /// The file behind the area.
    #[must_use]
    pub fn fd(&self) -> RawFd {
        self.fd.as_raw_fd()
    }

    /// The layout.
    #[must_use]
    pub const fn geometry(&self) -> RingGeometry {
        self.geometry
    }

    fn word32(&self, offset: usize) -> &AtomicU32 {
        assert!(offset.is_multiple_of(4) && offset + 4 <= RINGS_AT);
        // SAFETY: inside of the mapping (which is longer than RINGS_AT) and aligned; the other
        // process writes it, which is what atomics are for; the borrow ends with the mapping.
        unsafe { AtomicU32::from_ptr(self.start.as_ptr().add(offset).cast()) }
    }

    /// The header field at a byte offset.
    #[must_use]
    pub fn get(&self, offset: usize) -> u32 {
        self.word32(offset).load(Ordering::SeqCst)
    }

    /// Sets a header field.
    pub fn set(&self, offset: usize, value: u32) {
        self.word32(offset).store(value, Ordering::SeqCst);
    }

    /// A 64-bit header field.
    #[must_use]
    pub fn get64(&self, offset: usize) -> u64 {
        assert!(offset.is_multiple_of(8) && offset + 8 <= RINGS_AT);
        // SAFETY: as in `word32`.
        let word: &AtomicU64 =
            unsafe { AtomicU64::from_ptr(self.start.as_ptr().add(offset).cast()) };
        word.load(Ordering::SeqCst)
    }

    /// Sets a 64-bit header field, and returns what it was.
    pub fn swap64(&self, offset: usize, value: u64) -> u64 {
        assert!(offset.is_multiple_of(8) && offset + 8 <= RINGS_AT);
        // SAFETY: as in `word32`.
        let word: &AtomicU64 =
            unsafe { AtomicU64::from_ptr(self.start.as_ptr().add(offset).cast()) };
        word.swap(value, Ordering::SeqCst)
    }

    /// Sleeps until the field differs from `value`, another process wakes it, or `most` has passed.
    pub fn wait(&self, offset: usize, value: u32, most: Duration) {
        let timeout = libc::timespec {
            tv_sec: i64::try_from(most.as_secs()).unwrap_or(i64::MAX),
            tv_nsec: i64::from(most.subsec_nanos()),
        };
        // SAFETY: the word is a live, aligned u32 and the time-out outlives the call.
        unsafe {
            libc::syscall(
                libc::SYS_futex,
                self.word32(offset).as_ptr(),
                libc::FUTEX_WAIT,
                value,
                &raw const timeout,
            );
        }
    }

    /// Wakes the process that sleeps on a field.
    pub fn wake(&self, offset: usize) {
        // SAFETY: the word is a live, aligned u32; waking never writes it.
        unsafe {
            libc::syscall(
                libc::SYS_futex,
                self.word32(offset).as_ptr(),
                libc::FUTEX_WAKE,
                i32::MAX,
            );
        }
    }

    /// Returns a block to the writer of a ring.
    pub fn give_back(&self, ring: u32) {
        let offset = RING_LINES_AT + ring as usize * 64;
        self.word32(offset).fetch_add(1, Ordering::SeqCst);
        self.wake(offset);
    }

    /// Number of rings that threads have used so far.
    #[must_use]
    pub fn rings_used(&self) -> u32 {
        self.get(at::RINGS_USED).min(self.geometry().rings)
    }

    /// Logical order: the floor of a ring, and the number of its changes.
    #[must_use]
    pub fn floor(&self, ring: u32) -> (u64, u32) {
        let line = RING_LINES_AT + ring as usize * 64;
        (self.get64(line + FLOOR_AT), self.get(line + CHANGES_AT))
    }

    /// Moves the records of a part of a ring to the end of `records`, up to the first that has not
    /// been written; returns their number.
    pub fn take(&self, ring: u32, part: Range<usize>, records: &mut Vec<[u64; 2]>) -> usize {
        let ring_records = self.geometry.ring_records();
        assert!(ring < self.geometry.rings && part.start <= part.end && part.end <= ring_records);
        let offset = RINGS_AT + (ring as usize * ring_records + part.start) * 16;
        let before = records.len();
        records.extend((0..part.len()).map_while(|at| {
            // SAFETY: inside of the mapping by the assertion, and aligned to 8 because RINGS_AT is
            // a multiple of 16; both sides reach it through atomic operations or plain C stores
            // that precede a releasing store of word 0.
            let (first, second) = unsafe {
                let at = self.start.as_ptr().add(offset + at * 16);
                (AtomicU64::from_ptr(at.cast()), AtomicU64::from_ptr(at.add(8).cast()))
            };
            let word0 = first.load(Ordering::Acquire);
            if word0 == 0 {
                return None;
            }
            let word1 = second.load(Ordering::Relaxed);
            first.store(0, Ordering::Relaxed);
            Some([word0, word1])
        }));
        records.len() - before
    }

    /// A word of the call stacks.
    fn stack_word(&self, index: usize) -> u64 {
        assert!(index < self.geometry.stack_words as usize);
        // SAFETY: inside of the mapping by the assertion, and aligned to 8 as the rings are; as in
        // `word32`.
        let word: &AtomicU64 = unsafe {
            AtomicU64::from_ptr(
                self.start.as_ptr().add(self.geometry.stacks_at() + index * 8).cast(),
            )
        };
        word.load(Ordering::Acquire)
    }

    /// The head and the words at a position; `None` if nothing is written there.
    fn stack_entry(&self, position: usize) -> Option<(u64, Vec<u64>)> {
        let words = self.geometry.stack_words as usize;
        let head = (1..words).contains(&position).then(|| self.stack_word(position))?;
        let count = usize::try_from(head & !FRAMES).unwrap_or(usize::MAX);
        let fits = (1..words - position).contains(&count);
        let range = position + 1..=position + count;
        fits.then(|| (head, range.map(|index| self.stack_word(index)).collect()))
    }

    /// The call stack at this position, innermost program counter first; empty if there is none.
    /// The runtime completes it before it writes the allocation that refers to it.
    #[must_use]
    pub fn stack(&self, position: u32) -> Vec<u64> {
        let entry = self.stack_entry(position as usize);
        entry.filter(|(head, _)| head & FRAMES == 0).map_or_else(Vec::new, |(_, pcs)| pcs)
    }

    /// The frames of threads at the time when they started others, innermost first: program
    /// counter, stack pointer and frame pointer.
    #[must_use]
    pub fn frames(&self) -> Vec<Vec<[u64; 3]>> {
        let mut found = Vec::new();
        let mut position = 1;
        while let Some((head, words)) = self.stack_entry(position) {
            position += 1 + words.len();
            if head & FRAMES != 0 {
                let frames = words.chunks_exact(3).map(|frame| [frame[0], frame[1], frame[2]]);
                found.push(frames.collect());
            }
        }
        found
    }

    /// Writes words where call stacks are, as a traced process would.
    #[cfg(test)]
    pub fn put_stack(&self, position: usize, words: &[u64]) {
        assert!(position + words.len() <= self.geometry.stack_words as usize);
        for (index, &word) in words.iter().enumerate() {
            // SAFETY: inside of the mapping by the assertion; as in `stack_word`.
            unsafe {
                let at = self.geometry.stacks_at() + (position + index) * 8;
                AtomicU64::from_ptr(self.start.as_ptr().add(at).cast())
                    .store(word, Ordering::Release);
            }
        }
    }

    /// Changes a floor as a traced process would.
    #[cfg(test)]
    pub fn set_floor(&self, ring: u32, floor: u64) {
        let line = RING_LINES_AT + ring as usize * 64;
        self.swap64(line + FLOOR_AT, floor);
        self.set(line + CHANGES_AT, self.get(line + CHANGES_AT) + 1);
    }

    /// Writes a record as a traced process would.
    #[cfg(test)]
    pub fn put(&self, ring: u32, index: usize, words: [u64; 2]) {
        let offset = RINGS_AT + (ring as usize * self.geometry.ring_records() + index) * 16;
        assert!(offset + 16 <= self.geometry.bytes());
        // SAFETY: as in `take`.
        unsafe {
            let at = self.start.as_ptr().add(offset);
            AtomicU64::from_ptr(at.add(8).cast()).store(words[1], Ordering::Relaxed);
            AtomicU64::from_ptr(at.cast()).store(words[0], Ordering::Release);
        }
    }
}

impl Drop for SharedArea {
    fn drop(&mut self) {
        // SAFETY: the mapping was made by `new` with this length, and every reference into it
        // borrowed `self`.
        unsafe {
            libc::munmap(self.start.as_ptr().cast(), self.geometry.bytes());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_is_taken_once() {
        let area = SharedArea::new(RingGeometry {
            rings: 2,
            ring_blocks: 2,
            block_records: 4,
            stack_words: 0,
        })
        .unwrap();
        let take = |ring, part| {
            let mut taken = Vec::new();
            let count = area.take(ring, part, &mut taken);
            assert_eq!(count, taken.len());
            taken
        };
        assert!(take(1, 3..4).is_empty());
        area.put(1, 3, [7, 9]);
        area.put(1, 4, [8, 10]);
        area.put(1, 6, [1, 2]);
        assert!(take(1, 2..8).is_empty());
        assert_eq!(take(1, 3..8), [[7, 9], [8, 10]]);
        assert!(take(1, 3..5).is_empty());
        assert!(take(0, 3..8).is_empty());
    }

    #[test]
    fn waiting_for_a_field_that_has_changed_returns_at_once() {
        let area = SharedArea::new(RingGeometry {
            rings: 1,
            ring_blocks: 1,
            block_records: 4,
            stack_words: 0,
        })
        .unwrap();
        area.set(crate::wire::at::DOORBELL, 1);
        area.wait(crate::wire::at::DOORBELL, 0, Duration::from_secs(60));
        area.wait(crate::wire::at::DOORBELL, 1, Duration::from_millis(1));
    }

    #[test]
    fn frames_lie_between_the_stacks_of_allocations() {
        let geometry = RingGeometry { rings: 1, ring_blocks: 1, block_records: 4, stack_words: 16 };
        let area = SharedArea::new(geometry).unwrap();
        area.put_stack(1, &[2, 10, 11]);
        area.put_stack(4, &[FRAMES | 6, 20, 21, 22, 30, 31, 32]);
        area.put_stack(11, &[1, 40]);
        assert_eq!((area.stack(1), area.stack(11)), (vec![10, 11], vec![40]));
        assert_eq!(area.frames(), [[[20, 21, 22], [30, 31, 32]]]);
        assert_eq!((area.stack(4), area.stack(0), area.stack(99)), (vec![], vec![], vec![]));
        area.put_stack(13, &[FRAMES | 3, 1]);
        assert_eq!(area.frames().len(), 1, "beyond the end");
    }
}
