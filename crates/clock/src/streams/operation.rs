//! Operations: what a process does, as the clock simulates it.

/// Kinds of operations: references to memory first, then synchronisation and scheduling.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum OpKind {
    /// Reads.
    Read,
    /// Writes.
    Write,
    /// Reads and writes at once.
    Atomic,
    /// Fetches an instruction.
    Fetch,
    /// Acquires the lock at the address, or waits for it.
    Acquire,
    /// Releases the lock at the address.
    Release,
    /// Arrives at the barrier episode with this number, or wakes waiters of a condition.
    Arrive,
    /// Waits until the episode has `count` arrivals, or the condition `count` wakes.
    Depart,
    /// Creates the process with this number.
    Create,
    /// Waits until another process has created this one.
    Begin,
    /// Waits until the process with this number has ended.
    Join,
    /// Ends; the process number may be created again.
    Exit,
    /// Makes a system call that may block, and yields its processor.
    Yield,
    /// Marks the end of initialisation.
    InitDone,
    /// Marks the begin of another phase of the program.
    Phase,
    /// Of a live program: the wait that follows times out after `addr` cycles.
    Alarm,
    /// Of a live program: waits until another process resumes it.
    Pause,
    /// Of a live program: resumes the process with this number from its pause.
    Resume,
}

/// The `count` of a live program's departure while the number of arrivals is not known: see
/// [`super::ThreadStreams::resolved`].
pub const OPEN: u32 = u32::MAX;

impl OpKind {
    /// Whether it refers to memory.
    #[inline]
    #[must_use]
    pub const fn is_reference(self) -> bool {
        matches!(self, Self::Read | Self::Write | Self::Atomic | Self::Fetch)
    }

    /// Whether it may wait for another process, in a live program.
    #[must_use]
    pub const fn may_wait(self) -> bool {
        matches!(self, Self::Acquire | Self::Depart | Self::Join | Self::Pause)
    }

    /// Whether it writes to memory.
    #[inline]
    #[must_use]
    pub const fn writes(self) -> bool {
        matches!(self, Self::Write | Self::Atomic)
    }
}

/// One operation of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Operation {
    /// First byte of a reference, address of a lock, number of an episode or process.
    pub addr: u64,
    /// For a departure, the arrivals that it waits for. For a creation, a begin and a join, the
    /// generation of the process, counted from 1; 0 is the first, too. For a reference, the
    /// instructions without a reference before it, in a process whose instructions are not fetched.
    pub count: u32,
    /// The kind of operation.
    pub kind: OpKind,
    /// Size of a reference in bytes.
    pub size: u8,
    /// [`homenode_base::Flags`] of a reference.
    pub flags: u8,
    /// Whether it continues the reference of the operation before, which ended with its page.
    pub continues: bool,
}

impl Operation {
    /// An operation that is not a reference, or a reference without its size and flags.
    #[must_use]
    pub const fn new(kind: OpKind, addr: u64) -> Self {
        Self { addr, count: 0, kind, size: 0, flags: 0, continues: false }
    }
}
