//! Numbers pages on first use; pages of several processes that are the same memory get one number.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

/// The owner of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Space {
    /// Private memory of one process.
    Process(u32),
    /// Kernel memory, which all processes share.
    Kernel,
    /// Memory that processes share at the same address, such as inherited mappings.
    Common,
    /// A file that processes share, at any address.
    Object(usize),
}

/// A shared mapping, without its first address.
struct Segment {
    end: u64,
    space: Space,
}

/// An address range that a process maps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MappedRange {
    /// First byte.
    pub start: u64,
    /// Size in bytes.
    pub size: u64,
}

/// A mapping of a thread whose process is not known yet.
struct EarlyMapping {
    thread: usize,
    memory: MappedRange,
    object: String,
}

/// Numbers pages from 0 in the order of their first references in the trace. A page of shared
/// memory has one number, at whatever address each process maps it.
#[derive(Default)]
pub struct PageNumbers {
    page_shift: u32,
    numbers: FxHashMap<(Space, u64), u64>,
    /// Shared mappings, by process and first byte.
    segments: FxHashMap<u32, BTreeMap<u64, Segment>>,
    objects: FxHashMap<String, usize>,
    /// Mappings that threads made before their first reference, which identifies the process.
    early: Vec<EarlyMapping>,
}

impl PageNumbers {
    /// Pages have `1 << page_shift` bytes.
    #[must_use]
    pub fn new(page_shift: u32) -> Self {
        Self { page_shift, ..Self::default() }
    }

    /// Bytes from the address to the end of its page.
    #[must_use]
    pub fn bytes_to_page_end(&self, addr: u64) -> u64 {
        (1 << self.page_shift) - (addr & ((1 << self.page_shift) - 1))
    }

    /// A process maps shared memory: the named file, or with an empty name a mapping that children
    /// inherit.
    pub fn share(&mut self, pid: u32, memory: MappedRange, object: &str) {
        let MappedRange { start, size } = memory;
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
    pub fn map(&mut self, thread: usize, pid: Option<u32>, memory: MappedRange, object: &str) {
        match pid {
            Some(pid) => self.share(pid, memory, object),
            None => self.early.push(EarlyMapping { thread, memory, object: object.to_owned() }),
        }
    }

    /// As `unshare`, by a thread whose process may not be known yet.
    pub fn unmap(&mut self, thread: usize, pid: Option<u32>, start: u64) {
        match pid {
            Some(pid) => self.unshare(pid, start),
            None => {
                self.early.retain(|early| (early.thread, early.memory.start) != (thread, start))
            }
        }
    }

    /// Assigns a thread, and its mappings so far, to a process.
    pub fn claim(&mut self, thread: usize, pid: u32) {
        for early in std::mem::take(&mut self.early) {
            let pid = (early.thread == thread).then_some(pid);
            self.map(early.thread, pid, early.memory, &early.object);
        }
    }

    /// A process unmaps the mapping that begins at this address.
    pub fn unshare(&mut self, pid: u32, start: u64) {
        if let Some(segments) = self.segments.get_mut(&pid) {
            segments.remove(&start);
        }
    }

    /// The address with the page replaced by its number.
    pub fn address(&mut self, pid: u32, kernel: bool, addr: u64) -> u64 {
        let page = addr >> self.page_shift;
        let key = if kernel { (Space::Kernel, page) } else { self.page_of(pid, addr) };
        let next = self.numbers.len() as u64;
        let number = *self.numbers.entry(key).or_insert(next);
        number << self.page_shift | (addr & ((1 << self.page_shift) - 1))
    }

    /// The owner of a user address, and the page in the owner's numbering.
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
        assert_eq!(pages.bytes_to_page_end(0x7008), 0xff8);
    }

    #[test]
    fn processes_share_mappings_and_the_kernel_and_nothing_else() {
        let mut pages = PageNumbers::new(12);
        let range = |start, size| MappedRange { start, size };
        pages.share(1, range(0x10_0000, 0x4000), "shm");
        pages.share(2, range(0x20_0000, 0x4000), "shm");
        pages.share(1, range(0x30_0000, 0x1000), "");
        pages.share(2, range(0x30_0000, 0x1000), "");
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
