//! Decoded records of the rings.

use std::ops::Range;

use homenode_base::{Access, Flags};
use homenode_trace::{EventKind, LiveFact};

use crate::decode::{access, low_byte};
use crate::wire::EVENT_BIT;

/// Marks private references, in records that are known not to be events.
const PRIVATE_BIT: u32 = EVENT_BIT;

/// Takes decoded items in order. A closure takes items of all kinds.
pub trait ItemSink {
    /// Takes a reference. Nearly all items are references; they have a method of their own so that
    /// they stay in registers: a [`DecodedItem`] is stored in parts and loaded as a whole, which
    /// stalls on the stores.
    fn access(&mut self, access: Access);

    /// Takes consecutive references as the records of a ring.
    #[inline]
    fn accesses(&mut self, records: &[[u64; 2]]) {
        for &words in records {
            self.access(access(words));
        }
    }

    /// Takes an item that is not a reference.
    fn other(&mut self, item: DecodedItem);

    /// Takes an item of any kind.
    fn item(&mut self, item: DecodedItem) {
        if let DecodedItem::Access(access) = item {
            self.access(access);
        } else {
            self.other(item);
        }
    }
}

impl<F: FnMut(DecodedItem)> ItemSink for F {
    fn access(&mut self, access: Access) {
        self(DecodedItem::Access(access));
    }

    fn other(&mut self, item: DecodedItem) {
        self(item);
    }
}

/// The ring's record of a plain reference, with one bit, 0 in the ring, set if the reference is
/// private. It takes half the memory of the decoded [`Access`].
#[derive(Clone, Copy, Debug)]
pub struct FlaggedRecord([u64; 2]);

impl FlaggedRecord {
    /// From a record of a ring.
    #[inline(always)]
    pub fn new([first, second]: [u64; 2], private: bool) -> Self {
        Self([first | u64::from(private) << PRIVATE_BIT, second])
    }
}

impl From<FlaggedRecord> for Access {
    #[inline(always)]
    fn from(FlaggedRecord(words): FlaggedRecord) -> Self {
        let decoded = access(words);
        let private = low_byte(words[0] >> PRIVATE_BIT) * Flags::PRIVATE.0;
        Self { flags: decoded.flags.union(Flags(private)), ..decoded }
    }
}

/// An allocation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Allocation {
    /// First byte.
    pub addr: u64,
    /// Size in bytes.
    pub size: u64,
    /// Program counter of the call.
    pub site: u64,
    /// Position of its call stack in the shared area, 0 if unknown.
    pub stack: u32,
    /// The allocating thread.
    pub thread: u16,
}

/// What one or several records encode.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DecodedItem {
    /// A reference; the private flag is not known yet.
    Access(Access),
    /// An event of a trace.
    Event(u16, EventKind),
    /// A thread begins.
    Start {
        /// The thread.
        thread: u16,
        /// Addresses of its stack.
        stack: Range<u64>,
        /// Addresses of its thread-local storage; empty if it has none.
        tls: Range<u64>,
    },
    /// A thread declares a region private.
    Private {
        /// The thread.
        thread: u16,
        /// Its addresses.
        region: Range<u64>,
    },
    /// Directed order: what a thread waits for, or whose wait it ends.
    Fact(u16, LiveFact),
    /// A fact about a whole system, and the processor that reports it.
    System(u16, SystemFact),
    /// Memory was allocated.
    Alloc(Allocation),
    /// A mapping was made.
    Map {
        /// The thread.
        thread: u16,
        /// The event.
        what: EventKind,
        /// Position of its call stack, 0 if unknown.
        stack: u32,
    },
    /// Logical order: the thread's clock has jumped.
    Clock {
        /// The thread.
        thread: u16,
        /// The thread that ended its wait; `None` if the jump has another reason.
        waker: Option<u16>,
        /// Its clock from now on.
        clock: u64,
    },
    /// Logical order: the thread synchronises with others through this address.
    Sync(u16, u64),
    /// Free order: the following records of this ring have this sequence number.
    Stamp(u64),
}

/// Facts about a whole system, from the plugin and the mark program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SystemFact {
    /// The new name of a process.
    Process {
        /// The process.
        pid: u32,
        /// Its name.
        name: String,
    },
    /// The next bytes of the mark program's report.
    Report(Vec<u8>),
    /// An instruction makes its first reference.
    Code {
        /// The process that runs it.
        pid: u32,
        /// Its program counter.
        pc: u64,
    },
    /// A physical page is used at a virtual address other than that of the kernel's map of all
    /// memory.
    Page {
        /// The process that uses it.
        pid: u32,
        /// Number of the physical page.
        frame: u64,
        /// Number of the virtual page.
        page: u64,
    },
}
