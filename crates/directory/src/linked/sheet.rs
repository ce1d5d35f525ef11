//! The printed tables of a linked-list protocol.

use homenode_protocol::Labelled;

use crate::linked::table::ListTable;
use crate::linked::vocabulary::{
    CopyAction, CopyEvent, ListHomeAction, ListHomeEvent, ListMessage, ListSender,
};
use crate::sheet::{
    DirectorySheet, HOME, SenderCells, SheetAction, SheetMessage, SheetTitle, by_sender,
    controller, does,
};

/// What tables call the controller of a node.
pub(crate) const COPY: &str = "copy";
/// The receiver of messages for the copy behind.
const BEHIND: &str = "behind";

impl SheetAction {
    /// Sends a message; `more` follows the receiver in the text.
    fn sends_list(message: ListMessage, to: &'static str, more: &str) -> Self {
        let name = message.name();
        let whom = if to == BEHIND { "the copy behind" } else { to };
        Self { text: format!("send {name} to {whom}{more}"), message: Some(name), to: Some(to) }
    }
}

impl From<CopyAction> for SheetAction {
    fn from(action: CopyAction) -> Self {
        match action {
            CopyAction::Complete => Self::does("complete"),
            CopyAction::Ask => Self::sends_list(ListMessage::Read, "home", " or the proxy"),
            CopyAction::AskAgain => {
                Self::sends_list(ListMessage::Read, "home", " or the proxy again")
            }
            CopyAction::SendHome(message) => Self::sends_name(message.name(), "home"),
            CopyAction::Supply => {
                Self::sends_list(ListMessage::Data, "requester", ", with this copy behind it")
            }
            CopyAction::SupplyLast => {
                Self::sends_list(ListMessage::Data, "requester", ", with no copy behind it")
            }
            CopyAction::HandOver => Self::sends_name(ListMessage::Exclusive.name(), "requester"),
            CopyAction::InvalidateBehind => Self::sends_list(
                ListMessage::Invalidate,
                BEHIND,
                ", to be acknowledged to this node",
            ),
            CopyAction::PassOn => Self::sends_list(
                ListMessage::Invalidate,
                BEHIND,
                ", or acknowledge to requester if there is none",
            ),
            CopyAction::Acknowledge => {
                Self::sends_name(ListMessage::Acknowledge.name(), "requester")
            }
            CopyAction::SupplyClient => {
                Self::sends_list(ListMessage::Data, "client", ", which is behind this copy now")
            }
            CopyAction::Chain => Self::sends_list(
                ListMessage::Follower,
                "client",
                ", the new one or (fair) the last, if another one waits",
            ),
            CopyAction::AskFor => Self::sends_list(ListMessage::Read, "home", " for the client"),
            CopyAction::AskToRelay => Self::sends_list(
                ListMessage::Read,
                "home",
                " for the client, to be answered to this node",
            ),
            CopyAction::KeepFollower => Self::does("keep the follower"),
            CopyAction::HandOn => Self::sends_list(
                ListMessage::Data,
                "client",
                ", the first, if one waits, which is behind this copy now, or (relayed) ahead of \
                 it",
            ),
            CopyAction::Relay => Self::sends_list(
                ListMessage::Data,
                "client",
                ", the first, with the same copy behind it",
            ),
        }
    }
}

impl From<ListHomeAction> for SheetAction {
    fn from(action: ListHomeAction) -> Self {
        match action {
            ListHomeAction::ReplyData => {
                Self::sends_list(ListMessage::Data, "requester", ", with the head behind it")
            }
            ListHomeAction::ReplyExclusive => {
                Self::sends_name(ListMessage::Exclusive.name(), "requester")
            }
            ListHomeAction::ReplyExclusiveDue => {
                Self::sends_list(ListMessage::Exclusive, "requester", ", an acknowledgement is due")
            }
            ListHomeAction::Reply(message) => Self::sends_name(message.name(), "sender"),
            ListHomeAction::Forward(message) => Self::sends_name(message.name(), "owner"),
            ListHomeAction::InvalidateHead => {
                Self::sends_name(ListMessage::Invalidate.name(), "head")
            }
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
        let copy = |state, event| -> SenderCells<CopyAction, ListSender> {
            vec![(Vec::new(), self.copy_cell(state, event))]
        };
        let home = |state, event| {
            let cells = ListSender::ALL.iter().map(|&by| (by, self.home_cell(state, event, by)));
            by_sender(cells)
        };
        let role = |state| Some(self.role(state));
        let of_copy = SheetTitle { name: COPY, title: "The controller of a copy" };
        let of_home = SheetTitle { name: HOME, title: "The controller of a block's home" };
        let copy = controller(of_copy, &self.copy, CopyEvent::ALL, &[], copy, role);
        let (events, senders) = (ListHomeEvent::ALL, ListSender::ALL);
        let home = controller(of_home, &self.home, events, senders, home, |_| None);
        DirectorySheet { controllers: vec![copy, home], messages: self.messages() }
    }

    /// The messages sent by the controllers, and the proxy read and bounce.
    fn messages(&self) -> Vec<SheetMessage> {
        let of_copy = self.copy.cells().iter().flat_map(does).map(|&action| action.into());
        let of_home = self.home.cells().iter().flat_map(does).map(|&action| action.into());
        let sent: Vec<SheetAction> = of_copy.chain(of_home).collect();
        let used = |message: &&ListMessage| {
            let of_reads = matches!(message, ListMessage::ProxyRead | ListMessage::Bounce);
            of_reads || sent.iter().any(|action| action.message == Some(message.name()))
        };
        let sheet = |&message: &ListMessage| SheetMessage {
            name: message.name(),
            meaning: message.meaning(),
            kind: message.kind().name(),
            carries_block: message.carries_block(),
        };
        ListMessage::ALL.iter().filter(used).map(sheet).collect()
    }
}
