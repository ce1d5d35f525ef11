//! What a process does, one operation after the other.

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
    /// Takes the lock at the address, or waits for it.
    Acquire,
    /// Gives the lock at the address back.
    Release,
    /// Arrives at the barrier episode with this number, or wakes who waits for a condition.
    Arrive,
    /// Waits until so many have arrived at the episode, or have woken.
    Depart,
    /// Creates the process with this number.
    Create,
    /// Waits until another process created this one.
    Begin,
    /// Waits until the process with this number has ended.
    Join,
    /// Ends.
    Exit,
    /// Makes a system call that may wait, and gives its processor up.
    Yield,
}

impl OpKind {
    /// Whether it refers to memory.
    #[inline]
    #[must_use]
    pub const fn is_reference(self) -> bool {
        matches!(self, Self::Read | Self::Write | Self::Atomic | Self::Fetch)
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
    /// How many depart from a barrier. Of a reference, how many instructions without one are before
    /// it, in a process that does not fetch its instructions.
    pub count: u32,
    /// What it is.
    pub kind: OpKind,
    /// Bytes of a reference.
    pub size: u8,
    /// [`homenode_base::Flags`] of a reference.
    pub flags: u8,
    /// Whether it belongs to the same reference as the operation before, which ended with its page.
    pub continues: bool,
}

impl Operation {
    /// An operation that is no reference, or one that has still to get its size and flags.
    #[must_use]
    pub const fn new(kind: OpKind, addr: u64) -> Self {
        Self { addr, count: 0, kind, size: 0, flags: 0, continues: false }
    }
}
