//! One memory reference.

/// What a reference does to memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum AccessKind {
    /// Reads memory.
    Read = 0,
    /// Writes memory.
    Write = 1,
    /// Atomic read-modify-write. The engines treat it as a write.
    Atomic = 2,
    /// Instruction fetch. Not a data reference: engines skip it and it takes no Time.
    Fetch = 3,
}

impl AccessKind {
    /// The kind with this number in files and NumPy columns, or `None` if there is none.
    ///
    /// ```
    /// use homenode_base::AccessKind;
    /// assert_eq!(AccessKind::from_code(1), Some(AccessKind::Write));
    /// assert_eq!(AccessKind::from_code(9), None);
    /// ```
    #[must_use]
    pub const fn from_code(code: u8) -> Option<Self> {
        match code {
            0 => Some(Self::Read),
            1 => Some(Self::Write),
            2 => Some(Self::Atomic),
            3 => Some(Self::Fetch),
            _ => None,
        }
    }

    /// The number that stands for this kind in files and NumPy columns.
    #[must_use]
    pub const fn code(self) -> u8 {
        match self {
            Self::Read => 0,
            Self::Write => 1,
            Self::Atomic => 2,
            Self::Fetch => 3,
        }
    }

    /// The letter that stands for this kind in text: `R`, `W`, `A` or `I`.
    #[must_use]
    pub const fn letter(self) -> char {
        match self {
            Self::Read => 'R',
            Self::Write => 'W',
            Self::Atomic => 'A',
            Self::Fetch => 'I',
        }
    }

    /// Whether memory may differ afterwards: writes and atomics.
    #[must_use]
    pub const fn writes(self) -> bool {
        matches!(self, Self::Write | Self::Atomic)
    }
}

/// Properties of a reference, which an engine may use or ignore.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Flags(pub u8);

impl Flags {
    /// Stack, thread-local storage or a region declared private (thesis table 2.1, "private refs").
    pub const PRIVATE: Self = Self(1);
    /// A synchronisation variable (thesis §2.3.1): left out of the placement engines by default.
    pub const SYNC: Self = Self(2);
    /// Issued by the operating system's kernel.
    pub const KERNEL: Self = Self(4);
    /// Made by the kernel on the thread's own data, which one of its system calls transfers: a
    /// write by `read`, a read by `write`. To the engines it is the thread's own reference: unlike
    /// those of [`Self::KERNEL`] it is never to memory of the kernel.
    pub const TRANSFER: Self = Self(8);
    /// A kernel reference to a page in a private area of a process, which the process also
    /// references in user mode. Files never contain this bit: a simulation derives it from the
    /// page's other references.
    pub const USER_AREA: Self = Self(16);
    /// Every bit defined in files. A file with another bit set is damaged or from a later version.
    pub const ALL: Self = Self(15);

    /// Whether every bit of `other` is set here.
    #[must_use]
    pub const fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// Whether the reference is to a private area. A process's private user pages stay private when
    /// the kernel references them. Pages that only the kernel references, on behalf of one process,
    /// count as private if `kernel_pages`.
    #[must_use]
    pub const fn is_private(self, kernel_pages: bool) -> bool {
        let user = !self.contains(Self::KERNEL) || self.contains(Self::USER_AREA);
        self.contains(Self::PRIVATE) && (user || kernel_pages)
    }

    /// Whether the kernel made the reference, on its own data or on the thread's.
    #[must_use]
    pub const fn by_kernel(self) -> bool {
        self.0 & (Self::KERNEL.0 | Self::TRANSFER.0) != 0
    }

    /// Both sets of bits.
    #[must_use]
    pub const fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

/// One memory reference by one thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Access {
    /// Thread that issued it.
    pub thread: u16,
    /// Read, write, atomic or fetch.
    pub kind: AccessKind,
    /// Bytes touched, 1 to 64.
    pub size: u8,
    /// Private, synchronisation, kernel.
    pub flags: Flags,
    /// First byte touched.
    pub addr: u64,
    /// Program counter of the instruction, 0 where the trace has none.
    pub pc: u64,
    /// Instructions without a reference since the thread's previous one, 0 where unknown.
    pub gap: u32,
    /// Process of the reference, 0 in a trace of one process.
    pub pid: u32,
}

impl Access {
    /// A data reference with the four required columns; the others are 0.
    #[must_use]
    pub const fn new(thread: u16, kind: AccessKind, addr: u64, size: u8) -> Self {
        Self { thread, kind, size, flags: Flags(0), addr, pc: 0, gap: 0, pid: 0 }
    }
}
