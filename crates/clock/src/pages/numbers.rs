//! Which pages of processes are the same memory: each gets a number when it is first used.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

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

/// Numbers pages from 0 in the order of their first references in the trace. What processes share
/// has one number, wherever each of them has it.
pub struct PageNumbers {
    page_shift: u32,
    numbers: FxHashMap<(Space, u64), u64>,
    /// Shared mappings by process and first byte.
    segments: FxHashMap<u32, BTreeMap<u64, Segment>>,
    objects: FxHashMap<String, usize>,
    /// What threads mapped before their first references say whose memory it is: first byte and
    /// bytes, and what is mapped.
    early: Vec<(usize, (u64, u64), String)>,
}

impl PageNumbers {
    /// Pages of `1 << page_shift` bytes.
    #[must_use]
    pub fn new(page_shift: u32) -> Self {
        Self {
            page_shift,
            numbers: FxHashMap::default(),
            segments: FxHashMap::default(),
            objects: FxHashMap::default(),
            early: Vec::new(),
        }
    }

    /// Bytes from the address to the end of its page.
    #[must_use]
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

    /// The address, with the number of its page in place of the page.
    pub fn address(&mut self, pid: u32, kernel: bool, addr: u64) -> u64 {
        let page = addr >> self.page_shift;
        let key = if kernel { (Space::Kernel, page) } else { self.page_of(pid, addr) };
        let next = self.numbers.len() as u64;
        let number = *self.numbers.entry(key).or_insert(next);
        number << self.page_shift | (addr & ((1 << self.page_shift) - 1))
    }

    /// The space of a user's address, and the number of its page there.
    fn page_of(&self, pid: u32, addr: u64) -> (Space, u64) {
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
    fn pages_are_numbered_in_the_order_of_their_first_references() {
        let mut pages = PageNumbers::new(12);
        let addresses = [0x7008, 0x3000, 0x7ffc, 0x3010];
        let numbered = addresses.map(|addr| pages.address(0, false, addr));
        assert_eq!(numbered, [0x0008, 0x1000, 0x0ffc, 0x1010]);
        assert_eq!(pages.room(0x7008), 0xff8);
    }

    #[test]
    fn processes_share_what_they_map_and_the_kernel_and_nothing_else() {
        let mut pages = PageNumbers::new(12);
        pages.share(1, (0x10_0000, 0x4000), "shm");
        pages.share(2, (0x20_0000, 0x4000), "shm");
        pages.share(1, (0x30_0000, 0x1000), "");
        pages.share(2, (0x30_0000, 0x1000), "");
        let mut at = |pid, kernel, addr| pages.address(pid, kernel, addr);
        assert_eq!(at(1, false, 0x10_2008), at(2, false, 0x20_2008));
        assert_eq!(at(1, false, 0x30_0008), at(2, false, 0x30_0008));
        assert_eq!(at(1, true, 0x40_0000), at(2, true, 0x40_0000));
        assert_ne!(at(1, false, 0x10_4000), at(2, false, 0x20_4000), "beyond the end");
        assert_ne!(at(1, false, 0x40_0000), at(2, false, 0x40_0000));
        assert_ne!(at(1, false, 0x40_0000), at(1, true, 0x40_0000));
        pages.unshare(2, 0x30_0000);
        let [one, two] = [1, 2].map(|pid| pages.address(pid, false, 0x30_0008));
        assert_ne!(one, two);
    }
}
