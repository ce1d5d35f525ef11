//! What the rings hold, decoded.

use homenode_base::{Access, Flags};
use homenode_trace::{EventKind, LiveFact};

use crate::decode::{access, low_byte};
use crate::wire::EVENT_BIT;

/// Tells private references from others, once it is known that a record is no event.
const PRIVATE_BIT: u32 = EVENT_BIT;

/// Who takes what was decoded, in its order. A closure takes items of all kinds.
pub trait ItemSink {
    /// Takes a reference. Nearly all items are references; so they stay in registers, while an item
    /// that is stored in parts and loaded as a whole waits for the stores.
    fn access(&mut self, access: Access);

    /// Takes references in a row, as a ring has them: records that are an item each.
    #[inline]
    fn accesses(&mut self, records: &[[u64; 2]]) {
        for &words in records {
            self.access(access(words));
        }
    }

    /// Takes an item that is no reference.
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

/// A plain reference as a ring has it, but that the bit which is 0 there tells whether it is
/// private: half as long as what it is decoded to.
#[derive(Clone, Copy, Debug)]
pub struct FlaggedRecord([u64; 2]);

impl FlaggedRecord {
    /// A record of a ring, and whether the reference is private.
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

/// What one or several records encode.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DecodedItem {
    /// A reference; the private flag is not known yet.
    Access(Access),
    /// An event of a trace.
    Event(u16, EventKind),
    /// A thread begins: stack and thread-local storage, as (low, high).
    Start {
        /// The thread.
        thread: u16,
        /// Its stack.
        stack: (u64, u64),
        /// Its thread-local storage; empty if it has none.
        tls: (u64, u64),
    },
    /// A thread declares a region private.
    Private {
        /// The thread.
        thread: u16,
        /// First byte and one past the last.
        region: (u64, u64),
    },
    /// What a thread of a program that a simulation directs waits for, or whose wait it ends.
    Fact(u16, LiveFact),
    /// A fact about a whole system, from this processor.
    System(u16, SystemFact),
    /// Memory was allocated.
    Alloc {
        /// The thread.
        thread: u16,
        /// First byte, bytes, and program counter of the call.
        block: (u64, u64, u64),
        /// Position of its call stack, 0 if unknown.
        stack: u32,
    },
    /// A mapping was made: an event, and the position of its call stack, 0 if unknown.
    Map {
        /// The thread.
        thread: u16,
        /// The event.
        what: EventKind,
        /// Position of its call stack, 0 if unknown.
        stack: u32,
    },
    /// Logical order: the thread's clock is this now, because of this other thread if there is one.
    Clock {
        /// The thread.
        thread: u16,
        /// Who ended its wait.
        waker: Option<u16>,
        /// Its clock.
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
