//! Messages about blocks.

/// A copy, or one on its way: the cache, and the number of its request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Link {
    pub(super) cache: usize,
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
        /// Whether who gets it next is ahead of who hands it on to that one.
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

/// A message from one cache to another, or to a home, which has the number of its node's second
/// level.
#[derive(Clone, Copy, Debug)]
pub(super) struct Letter {
    pub(super) from: usize,
    pub(super) to: usize,
    pub(super) block: u64,
    /// Who has asked for what it is about.
    pub(super) requester: Link,
    /// The proxy by which the requester gets what it has asked for.
    pub(super) via: Option<usize>,
    pub(super) says: Says,
}

impl Letter {
    /// To whom what the requester has asked for goes.
    pub(super) fn receiver(&self) -> usize {
        self.via.unwrap_or(self.requester.cache)
    }
}
