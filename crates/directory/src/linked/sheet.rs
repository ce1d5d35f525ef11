//! The printed tables of a linked-list protocol.

use crate::linked::table::ListTable;
use crate::linked::vocabulary::{CopyAction, ListHomeAction, ListMessage as Msg};
use crate::sheet::{DirectorySheet, SheetAction};

/// The receiver of messages for the copy behind.
const BEHIND: &str = "behind";

impl From<CopyAction> for SheetAction {
    fn from(action: CopyAction) -> Self {
        match action {
            CopyAction::Complete => Self::does("complete"),
            CopyAction::Ask => Self::sends_with(Msg::Read, "home", " or the proxy"),
            CopyAction::AskAgain => Self::sends_with(Msg::Read, "home", " or the proxy again"),
            CopyAction::SendHome(message) => Self::sends(message, "home"),
            CopyAction::Supply => {
                Self::sends_with(Msg::Data, "requester", ", with this copy behind it")
            }
            CopyAction::SupplyLast => {
                Self::sends_with(Msg::Data, "requester", ", with no copy behind it")
            }
            CopyAction::HandOver => Self::sends(Msg::Exclusive, "requester"),
            CopyAction::InvalidateBehind => {
                Self::sends_with(Msg::Invalidate, BEHIND, ", to be acknowledged to this node")
            }
            CopyAction::PassOn => Self::sends_with(
                Msg::Invalidate,
                BEHIND,
                ", or acknowledge to requester if there is none",
            ),
            CopyAction::Acknowledge => Self::sends(Msg::Acknowledge, "requester"),
            CopyAction::SupplyClient => {
                Self::sends_with(Msg::Data, "client", ", which is behind this copy now")
            }
            CopyAction::Chain => Self::sends_with(
                Msg::Follower,
                "client",
                ", the new one or (fair) the last, if another one waits",
            ),
            CopyAction::AskFor => Self::sends_with(Msg::Read, "home", " for the client"),
            CopyAction::AskToRelay => {
                Self::sends_with(Msg::Read, "home", " for the client, to be answered to this node")
            }
            CopyAction::KeepFollower => Self::does("keep the follower"),
            CopyAction::HandOn => Self::sends_with(
                Msg::Data,
                "client",
                ", the first, if one waits, which is behind this copy now, or (relayed) ahead of \
                 it",
            ),
            CopyAction::Relay => {
                Self::sends_with(Msg::Data, "client", ", the first, with the same copy behind it")
            }
        }
    }
}

impl From<ListHomeAction> for SheetAction {
    fn from(action: ListHomeAction) -> Self {
        match action {
            ListHomeAction::ReplyData => {
                Self::sends_with(Msg::Data, "requester", ", with the head behind it")
            }
            ListHomeAction::ReplyExclusive => Self::sends(Msg::Exclusive, "requester"),
            ListHomeAction::ReplyExclusiveDue => {
                Self::sends_with(Msg::Exclusive, "requester", ", an acknowledgement is due")
            }
            ListHomeAction::Reply(message) => Self::sends(message, "sender"),
            ListHomeAction::Forward(message) => Self::sends(message, "owner"),
            ListHomeAction::InvalidateHead => Self::sends(Msg::Invalidate, "head"),
            ListHomeAction::PutAtHead => Self::does("the requester is the head"),
            ListHomeAction::OwnByHead => Self::does("the head owns it"),
            ListHomeAction::TakeData => Self::does("memory takes the data, the block has no owner"),
            ListHomeAction::Clear => Self::does("the list is empty"),
        }
    }
}

impl ListTable {
    /// The tables with names instead of numbers.
    ///
    /// ```
    /// use homenode_directory::{CoherenceTable, DirectoryProtocol};
    /// let CoherenceTable::Linked(table) = DirectoryProtocol::parse("sdd")?.table() else {
    ///     return Err("sdd is a protocol with lists of copies".into());
    /// };
    /// let sheet = table.sheet();
    /// let write = &sheet.controllers[0].cells[1];
    /// assert_eq!((write.state, write.event, write.next), ("I", "store", Some("IM")));
    /// assert_eq!(write.actions[0].text, "send write to home");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn sheet(&self) -> DirectorySheet {
        let role = |state| Some(self.role(state));
        let copy = self.copy.sheet("The controller of a copy", role);
        let home = self.home.sheet("The controller of a block's home", |_| None);
        let of_reads = [Msg::ProxyRead, Msg::Bounce];
        DirectorySheet::new(vec![copy, home], &of_reads, Msg::carries_block)
    }
}
