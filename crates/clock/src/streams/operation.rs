//! The operations of a process.

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
    /// Arrives at the barrier episode with this number, or wakes processes that wait for a
    /// condition.
    Arrive,
    /// Waits until the episode has so many arrivals, or the condition so many wakes.
    Depart,
    /// Creates the process with this number.
    Create,
    /// Waits until another process created this one.
    Begin,
    /// Waits until the process with this number has ended.
    Join,
    /// Ends, perhaps to be created again.
    Exit,
    /// Makes a system call that may block, and yields its processor.
    Yield,
    /// Says that initialisation is over.
    InitDone,
    /// Says that another phase of the program begins.
    Phase,
    /// Of a live program: the wait that follows ends after so many cycles, if nothing ended it
    /// before.
    Alarm,
    /// Of a live program: waits until another process resumes it.
    Pause,
    /// Of a live program: lets the process with this number go on that pauses.
    Resume,
}

/// The arrivals that a departure of a live program waits for while it is not known how many they
/// are: see [`super::ThreadStreams::resolved`].
pub const OPEN: u32 = u32::MAX;

impl OpKind {
    /// Whether it refers to memory.
    #[inline]
    #[must_use]
    pub const fn is_reference(self) -> bool {
        matches!(self, Self::Read | Self::Write | Self::Atomic | Self::Fetch)
    }

    /// Whether it may wait for another process of a live program.
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
    /// Arrivals that a departure waits for. Of a creation, a beginning and a join, which life of
    /// the process they are about, counted from 1; 0 is the first. For a reference, the
    /// instructions without a reference before it, in a process whose instructions are not fetched.
    pub count: u32,
    /// What it is.
    pub kind: OpKind,
    /// Bytes of a reference.
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
