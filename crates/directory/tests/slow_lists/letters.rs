//! Messages about blocks.

/// A copy, or one on its way: the node, and the number of its request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Link {
    pub(super) node: usize,
    pub(super) tag: u64,
}

/// What a message says.
#[derive(Clone, Copy, Debug)]
pub(super) enum Says {
    Read,
    ProxyRead,
    Write,
    Upgrade {
        copy: Link,
    },
    Bounce {
        from_proxy: bool,
    },
    Data {
        behind: Option<Link>,
        /// How many clients the block is to be handed on to.
        clients: u64,
    },
    Exclusive {
        due: bool,
    },
    Permission,
    Forward {
        write: bool,
    },
    Invalidate {
        copy: Link,
    },
    Acknowledge,
    Follower {
        client: Link,
    },
    SharingWriteBack {
        copy: Link,
    },
    WriteBack {
        copy: Link,
    },
    WrittenBack {
        late: bool,
    },
}

impl Says {
    /// The name under which it is counted.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::ProxyRead => "proxy read",
            Self::Write => "write",
            Self::Upgrade { .. } => "upgrade",
            Self::Bounce { .. } => "bounce",
            Self::Data { .. } => "data",
            Self::Exclusive { .. } => "exclusive",
            Self::Permission => "permission",
            Self::Forward { write: false } => "forwarded read",
            Self::Forward { write: true } => "forwarded write",
            Self::Invalidate { .. } => "invalidate",
            Self::Acknowledge => "acknowledge",
            Self::Follower { .. } => "follower",
            Self::SharingWriteBack { .. } => "sharing write-back",
            Self::WriteBack { .. } => "write-back",
            Self::WrittenBack { late: false } => "written back",
            Self::WrittenBack { late: true } => "written back, forwarded",
        }
    }

    pub(super) fn has_block(self) -> bool {
        let writes_back = matches!(self, Self::SharingWriteBack { .. } | Self::WriteBack { .. });
        writes_back || matches!(self, Self::Data { .. } | Self::Exclusive { .. })
    }

    pub(super) fn is_for_home(self) -> bool {
        let asks = matches!(self, Self::Read | Self::Write | Self::Upgrade { .. });
        asks || matches!(self, Self::SharingWriteBack { .. } | Self::WriteBack { .. })
    }

    pub(super) fn is_read(self) -> bool {
        matches!(self, Self::Read | Self::ProxyRead)
    }
}

/// A message.
#[derive(Clone, Copy, Debug)]
pub(super) struct Letter {
    pub(super) from: usize,
    pub(super) to: usize,
    pub(super) block: u64,
    /// Who has asked for what it is about.
    pub(super) requester: Link,
    pub(super) says: Says,
}
