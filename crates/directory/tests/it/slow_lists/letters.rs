//! Messages about blocks.

/// A copy, or one in flight: the cache, and the number of its request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Link {
    pub(super) cache: usize,
    pub(super) tag: u64,
}

/// The content of a message.
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
        /// The number of clients to which the block is handed on.
        clients: u64,
        /// Whether the next recipient is ahead of the sender in the list.
        ahead: bool,
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

/// A message from one cache to another or to a home; a home has the number of its node's second
/// level.
#[derive(Clone, Copy, Debug)]
pub(super) struct Letter {
    pub(super) from: usize,
    pub(super) to: usize,
    pub(super) block: u64,
    /// The requester of the block.
    pub(super) requester: Link,
    /// The proxy through which the requester gets the block.
    pub(super) via: Option<usize>,
    pub(super) says: Says,
}

impl Letter {
    /// The recipient of the block that the requester asked for.
    pub(super) fn receiver(&self) -> usize {
        self.via.unwrap_or(self.requester.cache)
    }
}
