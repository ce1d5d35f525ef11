//! The data model of a trace: references, events and metadata, independent of their storage.

use serde::{Deserialize, Serialize};

use homenode_base::{Access, AccessKind, Flags, ReferenceFilter, ReferenceRole, Time};

use crate::areas::ProcessorAreas;
use crate::names::{
    AddressRange, AllocationStack, CallFrame, LocalRange, MovedRange, SourceLine, TypeLayout,
};
use crate::turns::{BatchPart, ThreadTurn, Turns};

/// Consecutive references of a trace in memory: the turns of their threads, and one column per
/// other property, all of equal length.
///
/// The optional columns (`flags`, `pc`, `gap`, `pid`) are empty when the trace lacks them or the
/// reader was asked to leave them out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Batch {
    /// Time of the first data reference in the batch.
    pub first_time: Time,
    /// Which thread made each reference.
    pub turns: Turns,
    /// Kind of each reference, as [`AccessKind::code`].
    pub kind: Vec<u8>,
    /// Bytes touched, 1 to 64.
    pub size: Vec<u8>,
    /// First byte touched.
    pub addr: Vec<u64>,
    /// [`Flags`] bits.
    pub flags: Vec<u8>,
    /// Program counters.
    pub pc: Vec<u64>,
    /// Instructions without a reference since the thread's previous reference.
    pub gap: Vec<u32>,
    /// Process identity.
    pub pid: Vec<u32>,
    /// Events, each with the row before which it happened, in order.
    pub events: Vec<(u32, Event)>,
}

impl Batch {
    /// Number of references.
    #[must_use]
    pub fn len(&self) -> usize {
        self.addr.len()
    }

    /// Whether there is no reference (there may be events).
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.addr.is_empty()
    }

    /// Row `i` as one value; absent columns read as 0. Cost: O(log n) for n turns;
    /// [`Batch::accesses`] gives all rows in less.
    ///
    /// # Panics
    /// When `i` is out of range or the kind is not a valid code (readers never produce one).
    #[must_use]
    pub fn get(&self, i: usize) -> Access {
        self.access(self.turns.thread(i), i)
    }

    /// All rows as values, as [`Batch::get`] gives them.
    pub fn accesses(&self) -> impl Iterator<Item = Access> {
        self.turns.iter().flat_map(move |ThreadTurn { thread, rows }| {
            rows.map(move |row| self.access(thread, row))
        })
    }

    /// Row `i`, of this thread, as one value.
    ///
    /// # Panics
    /// As [`Batch::get`].
    #[inline]
    #[must_use]
    pub fn access(&self, thread: u16, i: usize) -> Access {
        Access {
            thread,
            kind: AccessKind::from_code(self.kind[i]).expect("readers check kinds"),
            size: self.size[i],
            flags: Flags(self.flags.get(i).copied().unwrap_or(0)),
            addr: self.addr[i],
            pc: self.pc.get(i).copied().unwrap_or(0),
            gap: self.gap.get(i).copied().unwrap_or(0),
            pid: self.pid.get(i).copied().unwrap_or(0),
        }
    }

    /// The role of the reference in row `i` for an engine with this filter.
    ///
    /// # Panics
    /// When `i` is out of range.
    #[inline]
    #[must_use]
    pub fn role(&self, i: usize, filter: ReferenceFilter) -> ReferenceRole {
        let flags = Flags(self.flags.get(i).copied().unwrap_or(0));
        let kind = AccessKind::from_code(self.kind[i]);
        kind.map_or(ReferenceRole::Excluded, |kind| filter.role(kind, flags))
    }

    /// The turns and events, in order.
    pub fn parts(&self) -> impl Iterator<Item = BatchPart<'_>> {
        self.turns.with_events(&self.events)
    }

    /// Removes the rows from this one on; the events remain.
    pub fn truncate(&mut self, rows: usize) {
        self.turns.truncate(rows);
        self.kind.truncate(rows);
        self.size.truncate(rows);
        self.addr.truncate(rows);
        self.flags.truncate(rows);
        self.pc.truncate(rows);
        self.gap.truncate(rows);
        self.pid.truncate(rows);
    }

    /// Empties every column and keeps its allocation.
    pub fn clear(&mut self) {
        self.turns.clear();
        self.kind.clear();
        self.size.clear();
        self.addr.clear();
        self.flags.clear();
        self.pc.clear();
        self.gap.clear();
        self.pid.clear();
        self.events.clear();
    }
}

/// The turns of threads in a chunk, and its events. Reading it takes a small fraction of the time
/// to read the rows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ChunkOutline {
    /// Turns in trace order.
    pub turns: Turns,
    /// Events, each with the row before which it happened.
    pub events: Vec<(u32, Event)>,
}

/// A set of optional columns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Columns {
    /// Program counters.
    pub pc: bool,
    /// Instructions since the thread's previous reference.
    pub gap: bool,
    /// Process identities.
    pub pid: bool,
    /// [`Flags`] bits.
    pub flags: bool,
}

impl Columns {
    /// Every optional column.
    pub const ALL: Self = Self { pc: true, gap: true, pid: true, flags: true };

    /// The encoding of the set in files, as bits: 1 pc, 2 gap, 4 pid, 8 flags.
    #[must_use]
    pub const fn bits(self) -> u8 {
        self.pc as u8 | (self.gap as u8) << 1 | (self.pid as u8) << 2 | (self.flags as u8) << 3
    }

    /// The set with these bits, or `None` if one of them is undefined.
    #[must_use]
    pub const fn from_bits(bits: u8) -> Option<Self> {
        if bits > 15 {
            return None;
        }
        let [pc, gap, pid, flags] = [bits & 1 != 0, bits & 2 != 0, bits & 4 != 0, bits & 8 != 0];
        Some(Self { pc, gap, pid, flags })
    }

    /// Columns in either set.
    #[must_use]
    pub const fn union(self, other: Self) -> Self {
        Self {
            pc: self.pc || other.pc,
            gap: self.gap || other.gap,
            pid: self.pid || other.pid,
            flags: self.flags || other.flags,
        }
    }

    /// Columns in both sets.
    #[must_use]
    pub const fn intersection(self, other: Self) -> Self {
        Self {
            pc: self.pc && other.pc,
            gap: self.gap && other.gap,
            pid: self.pid && other.pid,
            flags: self.flags && other.flags,
        }
    }
}

/// An event of a thread other than a reference.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Event {
    /// The thread.
    pub thread: u16,
    /// What happened.
    pub what: EventKind,
}

/// The kinds of event. Addresses are those of the traced program.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub enum EventKind {
    /// The thread begins; its stack is the byte range.
    ThreadStart {
        /// Lowest address of the stack.
        stack_low: u64,
        /// One past the highest address of the stack.
        stack_high: u64,
    },
    /// The thread ended.
    ThreadExit,
    /// The thread created another one.
    ThreadCreate {
        /// The new thread.
        child: u16,
    },
    /// The thread waited for the end of another one.
    ThreadJoin {
        /// The thread that ended.
        child: u16,
    },
    /// A lock was acquired.
    LockAcquire {
        /// Address of the lock.
        addr: u64,
    },
    /// A lock was released.
    LockRelease {
        /// Address of the lock.
        addr: u64,
    },
    /// The thread arrived at a barrier.
    BarrierEnter {
        /// Address of the barrier.
        addr: u64,
    },
    /// The thread left a barrier.
    BarrierLeave {
        /// Address of the barrier.
        addr: u64,
    },
    /// The thread began to wait for a condition variable or a semaphore.
    ConditionWait {
        /// Address of the condition variable or semaphore.
        addr: u64,
    },
    /// The thread signalled a condition variable or posted a semaphore.
    ConditionWake {
        /// Address of the condition variable or semaphore.
        addr: u64,
    },
    /// Memory was allocated.
    Alloc {
        /// First byte.
        addr: u64,
        /// Requested bytes.
        size: u64,
        /// Program counter of the call, 0 if unknown.
        site: u64,
    },
    /// Memory was freed.
    Free {
        /// First byte.
        addr: u64,
    },
    /// A mapping was made.
    Map {
        /// First byte.
        addr: u64,
        /// Bytes.
        size: u64,
        /// Whether other processes can see writes to it.
        shared: bool,
        /// What backs it: a file name, or empty.
        object: String,
    },
    /// A mapping was removed.
    Unmap {
        /// First byte.
        addr: u64,
        /// Bytes.
        size: u64,
    },
    /// A system call was entered.
    SyscallEnter {
        /// Its number.
        number: u32,
    },
    /// A system call returned.
    SyscallExit {
        /// Its number.
        number: u32,
    },
    /// The process created a child process, which is not part of this trace.
    Fork {
        /// Identity of the child.
        pid: u32,
    },
    /// Initialisation is over: the computation proper follows.
    InitDone,
    /// A new phase of the program begins.
    Phase {
        /// Number the program gave it.
        id: u32,
    },
    /// Free text.
    Marker {
        /// The text.
        text: String,
    },
}

impl EventKind {
    /// Whether it marks the beginning or end of a thread.
    #[must_use]
    pub fn is_about_threads(&self) -> bool {
        matches!(
            self,
            Self::ThreadStart { .. }
                | Self::ThreadExit
                | Self::ThreadCreate { .. }
                | Self::ThreadJoin { .. }
        )
    }
}

/// A process of a whole system that ran while references were recorded.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Process {
    /// Its number, as in the references.
    pub pid: u32,
    /// Its names in order of time: a process is renamed by `exec`.
    pub names: Vec<String>,
}

/// The properties of a trace other than references and events.
///
/// Stored as JSON, so older readers ignore unknown fields.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Metadata {
    /// Program that was traced, or the file that was imported.
    pub program: String,
    /// Its arguments.
    pub arguments: Vec<String>,
    /// Tool that wrote the trace, and its version.
    pub tool: String,
    /// How the references were recorded: `cc`, `qemu`, `import text`, ...
    pub method: String,
    /// How the order of the references was determined: `deterministic quantum=100`, `free ...`,
    /// `file order`.
    pub order: String,
    /// How the references were sampled; empty if the trace has all references of the run.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub sampling: String,
    /// Wall time of the recorded run in seconds, if known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wall_time_s: Option<f64>,
    /// Wall time of the same run without recording, in seconds, if measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub native_time_s: Option<f64>,
    /// Exit status of the program, if it exited.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    /// Signal that ended the program, if one did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exit_signal: Option<i32>,
    /// Bytes in a word.
    pub word_size: u32,
    /// Named address ranges, ordered by start.
    pub ranges: Vec<AddressRange>,
    /// Where re-alignment moved data, ordered by start; disjoint from all named ranges.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub moved: Vec<MovedRange>,
    /// Variables in frames of functions that start threads and that other threads use, ordered by
    /// start; they do not overlap.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub locals: Vec<LocalRange>,
    /// Source lines of program counters, ordered by program counter.
    pub lines: Vec<SourceLine>,
    /// Call stacks of allocations; heap blocks count them from 1.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub stacks: Vec<AllocationStack>,
    /// The functions in these stacks.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub frames: Vec<CallFrame>,
    /// Types of data; ranges and stacks count them from 1.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub layouts: Vec<TypeLayout>,
    /// The processes of a whole system, ordered by number.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub processes: Vec<Process>,
    /// The per-processor areas of the kernel of a whole system, if known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub processor_areas: Option<ProcessorAreas>,
    /// The steps that led to this trace, oldest first.
    pub provenance: Vec<String>,
}

impl Metadata {
    /// The per-processor areas of the kernel: the recorded ones, or else those found by the names
    /// of data in them.
    #[must_use]
    pub fn find_processor_areas(&self) -> Option<ProcessorAreas> {
        let recorded = self.processor_areas.clone();
        recorded.or_else(|| ProcessorAreas::from_names(&self.ranges))
    }
}

/// What to decode of a chunk besides thread, kind, size and address.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Want {
    /// Optional columns; those the trace lacks stay empty.
    pub columns: Columns,
    /// Whether to decode the events.
    pub events: bool,
}

impl Want {
    /// Everything the trace has.
    pub const ALL: Self = Self { columns: Columns::ALL, events: true };
}
