//! Messages and events of the slow simulator.

use homenode_clock::streams::Operation;

use super::{SlowClock, Waiter};

/// The content of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Says {
    Read,
    Write,
    Upgrade,
    Data,
    Exclusive,
    Permission,
    ForwardRead,
    ForwardWrite,
    Invalidate,
    Ack,
    SharingWriteBack,
    OwnershipTransfer,
    WriteBack,
    Refuse,
    /// The new home of a page asks the old one to send it.
    AsksPage,
    Page,
    /// A processor's operation, its grant, and that a process may continue.
    Operation(Operation),
    Grant,
    Wake,
}

impl Says {
    /// Its name as a count, if it is counted, and whether it carries the block.
    fn counted(self) -> Option<(&'static str, bool)> {
        Some(match self {
            Self::Read | Self::Write | Self::Upgrade => ("request", false),
            Self::Data | Self::Exclusive => ("reply", true),
            Self::Permission => ("reply", false),
            Self::ForwardRead | Self::ForwardWrite => ("forward", false),
            Self::Invalidate => ("invalidate", false),
            Self::Ack => ("ack", false),
            Self::SharingWriteBack => ("sharing_write_back", true),
            Self::OwnershipTransfer => ("ownership_transfer", false),
            Self::WriteBack => ("write_back", true),
            Self::Refuse => ("refuse", false),
            Self::AsksPage | Self::Page | Self::Operation(_) | Self::Grant | Self::Wake => {
                return None;
            }
        })
    }

    /// Whether it is for the controller of a home.
    pub(super) fn is_looked_up(self) -> bool {
        matches!(
            self,
            Self::Read
                | Self::Write
                | Self::Upgrade
                | Self::SharingWriteBack
                | Self::OwnershipTransfer
                | Self::WriteBack
                | Self::Refuse
                | Self::AsksPage
                | Self::Operation(_)
        )
    }
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Note {
    pub(super) from: usize,
    pub(super) to: usize,
    pub(super) says: Says,
    /// Its block or page.
    pub(super) about: u64,
    pub(super) requester: usize,
    /// Acknowledgements that it announces.
    pub(super) due: i64,
    /// Whether it comes with the message before it.
    pub(super) with_reply: bool,
}

impl Note {
    pub(super) fn new(from: usize, to: usize, says: Says, about: u64) -> Self {
        Self { from, to, says, about, requester: from, due: 0, with_reply: false }
    }

    pub(super) fn of(self, requester: usize) -> Self {
        Self { requester, ..self }
    }
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Happening {
    HeadComes(Note, u64),
    AllHere(Note),
    LookedUp(Note),
    FirstWord(Note, u64),
    Trapped(usize, u64),
    PageWritten(usize, u64),
    PageMapped(u64),
    Done(usize, Waiter),
    Ready(usize),
    GoesOn(usize),
    /// An operation of a node's processor that this home has looked up.
    Effect(usize, Operation, usize),
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Planned {
    pub(super) time: u64,
    pub(super) node: usize,
    /// Order: events in memory, cache and controllers, then in a processor, then of processes.
    pub(super) class: (u8, u8),
    pub(super) made: u64,
    pub(super) happening: Happening,
}

impl SlowClock {
    pub(super) fn plan(&mut self, time: u64, node: usize, happening: Happening) {
        let class = match happening {
            Happening::Done(_, waiter) => (1, waiter as u8),
            Happening::Ready(_) => (2, 0),
            Happening::GoesOn(_) | Happening::Effect(..) => (3, 0),
            _ => (0, 0),
        };
        let made = self.next_number();
        self.planned.push(Planned { time, node, class, made, happening });
    }

    /// Sends a message now, and counts it if it goes to another node.
    pub(super) fn say(&mut self, note: Note) {
        self.count_message(&note);
        self.send(note, self.now);
    }

    pub(super) fn count_message(&mut self, note: &Note) {
        if note.from == note.to || note.with_reply {
            return;
        }
        if let Some((name, with_block)) = note.says.counted() {
            self.add(name, 1);
            let block = if with_block { self.machine.block } else { 0 };
            self.add("message_bytes", self.machine.header + block);
        }
    }

    /// Cycles for which a message occupies a path.
    pub(super) fn cycles(&self, note: &Note) -> u64 {
        if note.with_reply {
            return 0;
        }
        let data = match note.says {
            Says::Page => self.machine.page,
            says => says.counted().filter(|counted| counted.1).map_or(0, |_| self.machine.block),
        };
        let flits = (8 * (self.machine.header + data)).div_ceil(self.machine.path_bits);
        flits * u64::from(self.machine.flit_cycles)
    }
}
