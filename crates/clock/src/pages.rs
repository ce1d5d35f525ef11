//! Where pages of processes are in memory.

use std::collections::BTreeMap;

use homenode_base::Rng;
use rustc_hash::FxHashMap;

/// Frames that are shuffled among each other.
const SHUFFLED: u32 = 1 << 16;

/// Whose page it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Space {
    /// One process's own.
    Process(u32),
    /// The kernel's, which all processes share.
    Kernel,
    /// Memory that processes share at the same address.
    Common,
    /// A file that processes share, at whatever address.
    Object(usize),
}

/// A mapping that other processes can see.
struct Segment {
    end: u64,
    space: Space,
}

/// Maps pages to frames: each page gets the next frame when it is first used, and frames are
/// shuffled, so that pages that follow each other do not lie in frames that do.
///
/// Source: Foglia, Giorgi and Prete 2004, section 4: virtual-to-physical address translation.
pub struct Translation {
    page_shift: u32,
    shuffle: Vec<u32>,
    frames: FxHashMap<(Space, u64), u64>,
    /// Shared mappings by process and first byte.
    segments: FxHashMap<u32, BTreeMap<u64, Segment>>,
    objects: FxHashMap<String, usize>,
    /// What threads mapped before their first references say whose memory it is: first byte and
    /// bytes, and what is mapped.
    early: Vec<(usize, (u64, u64), String)>,
}

impl Translation {
    /// Pages of `1 << page_shift` bytes.
    #[must_use]
    pub fn new(page_shift: u32, seed: u64) -> Self {
        let mut shuffle: Vec<u32> = (0..SHUFFLED).collect();
        let mut rng = Rng::new(seed);
        for last in (1..shuffle.len()).rev() {
            let other = usize::try_from(rng.below(last as u64 + 1)).unwrap_or(0);
            shuffle.swap(last, other);
        }
        Self {
            page_shift,
            shuffle,
            frames: FxHashMap::default(),
            segments: FxHashMap::default(),
            objects: FxHashMap::default(),
            early: Vec::new(),
        }
    }

    /// Bytes from the address to the end of its page.
    pub fn room(&self, addr: u64) -> u64 {
        (1 << self.page_shift) - (addr & ((1 << self.page_shift) - 1))
    }

    /// A process maps memory that others can see: a file, or without a name what they inherit.
    pub fn share(&mut self, pid: u32, (start, size): (u64, u64), object: &str) {
        let space = if object.is_empty() {
            Space::Common
        } else {
            let next = self.objects.len();
            Space::Object(*self.objects.entry(object.to_owned()).or_insert(next))
        };
        let segment = Segment { end: start.saturating_add(size), space };
        self.segments.entry(pid).or_default().insert(start, segment);
    }

    /// As `share`, by a thread whose process may not be known yet.
    pub fn map(&mut self, (thread, pid): (usize, Option<u32>), stretch: (u64, u64), object: &str) {
        match pid {
            Some(pid) => self.share(pid, stretch, object),
            None => self.early.push((thread, stretch, object.to_owned())),
        }
    }

    /// As `unshare`, by a thread whose process may not be known yet.
    pub fn unmap(&mut self, (thread, pid): (usize, Option<u32>), start: u64) {
        match pid {
            Some(pid) => self.unshare(pid, start),
            None => self.early.retain(|early| (early.0, early.1.0) != (thread, start)),
        }
    }

    /// The thread is of the process, and so is what it mapped before.
    pub fn claim(&mut self, thread: usize, pid: u32) {
        for (of, stretch, object) in std::mem::take(&mut self.early) {
            self.map((of, (of == thread).then_some(pid)), stretch, &object);
        }
    }

    /// A process ends the mapping that begins there.
    pub fn unshare(&mut self, pid: u32, start: u64) {
        if let Some(segments) = self.segments.get_mut(&pid) {
            segments.remove(&start);
        }
    }

    /// The address in memory.
    pub fn address(&mut self, pid: u32, kernel: bool, addr: u64) -> u64 {
        let page = addr >> self.page_shift;
        let key = if kernel { (Space::Kernel, page) } else { self.place(pid, addr) };
        let next = self.frames.len() as u64;
        let number = *self.frames.entry(key).or_insert(next);
        let (window, at) = (number / u64::from(SHUFFLED), number % u64::from(SHUFFLED));
        let at = usize::try_from(at).unwrap_or(0);
        let frame = window * u64::from(SHUFFLED) + u64::from(self.shuffle[at]);
        frame << self.page_shift | (addr & ((1 << self.page_shift) - 1))
    }

    /// The space of a user's address, and the number of its page there.
    fn place(&self, pid: u32, addr: u64) -> (Space, u64) {
        let page = addr >> self.page_shift;
        let segments = self.segments.get(&pid);
        let below = segments.and_then(|segments| segments.range(..=addr).next_back());
        match below {
            Some((_, segment)) if addr >= segment.end => (Space::Process(pid), page),
            Some((_, Segment { space: Space::Common, .. })) => (Space::Common, page),
            Some((start, segment)) => (segment.space, page - (start >> self.page_shift)),
            None => (Space::Process(pid), page),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_have_frames_of_their_own_that_are_not_in_order() {
        let mut translation = Translation::new(12, 1);
        let mut frames: Vec<u64> =
            (0..100_000u64).map(|page| translation.address(0, false, page << 12) >> 12).collect();
        let neighbours = frames.windows(2).filter(|w| w[1] == w[0] + 1).count();
        assert!(neighbours < 20, "{neighbours}");
        frames.sort_unstable();
        frames.dedup();
        assert_eq!(frames.len(), 100_000);
        assert!(frames.last().is_some_and(|&last| last < 2 * u64::from(SHUFFLED)), "dense");
        let [low, high] = [0x5000, 0x5fff].map(|addr| translation.address(0, false, addr));
        assert_eq!((low & 0xfff, high), (0, low | 0xfff));
        let mut other = Translation::new(12, 2);
        assert_ne!(other.address(0, false, 0), translation.address(0, false, 0));
    }

    #[test]
    fn processes_share_what_they_map_and_the_kernel_and_nothing_else() {
        let mut translation = Translation::new(12, 1);
        translation.share(1, (0x10_0000, 0x4000), "shm");
        translation.share(2, (0x20_0000, 0x4000), "shm");
        translation.share(1, (0x30_0000, 0x1000), "");
        translation.share(2, (0x30_0000, 0x1000), "");
        let mut at = |pid, kernel, addr| translation.address(pid, kernel, addr);
        assert_eq!(at(1, false, 0x10_2008), at(2, false, 0x20_2008));
        assert_eq!(at(1, false, 0x30_0008), at(2, false, 0x30_0008));
        assert_eq!(at(1, true, 0x40_0000), at(2, true, 0x40_0000));
        assert_ne!(at(1, false, 0x10_4000), at(2, false, 0x20_4000), "beyond the end");
        assert_ne!(at(1, false, 0x40_0000), at(2, false, 0x40_0000));
        assert_ne!(at(1, false, 0x40_0000), at(1, true, 0x40_0000));
        translation.unshare(2, 0x30_0000);
        let [one, two] = [1, 2].map(|pid| translation.address(pid, false, 0x30_0008));
        assert_ne!(one, two);
    }
}
