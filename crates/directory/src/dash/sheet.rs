//! The printed tables of a block protocol.

use homenode_protocol::Labelled;

use super::table::DirectoryTable;
use super::vocabulary::{
    CacheAction, CacheEvent, HomeAction, HomeEvent, Message, Recipient, Sender,
};
use crate::counts::MessageKind;
use crate::sheet::{
    CACHE, DirectorySheet, HOME, SenderCells, SheetAction, SheetMessage, SheetTitle, by_sender,
    controller, does,
};

fn sends(message: Message, to: &'static str) -> SheetAction {
    SheetAction::sends_name(message.name(), to)
}

impl From<CacheAction> for SheetAction {
    fn from(action: CacheAction) -> Self {
        match action {
            CacheAction::Send(message, Recipient::Home) => sends(message, "home"),
            CacheAction::Send(message, Recipient::Requester) => sends(message, "requester"),
            CacheAction::Complete => Self::does("complete"),
        }
    }
}

impl From<HomeAction> for SheetAction {
    fn from(action: HomeAction) -> Self {
        match action {
            HomeAction::Reply(message) => sends(message, "requester"),
            HomeAction::Forward(message) => sends(message, "owner"),
            HomeAction::Invalidate => sends(Message::Invalidate, "listed"),
            HomeAction::TakeData => Self::does("memory takes the data"),
            HomeAction::ListRequester => Self::does("list the requester"),
            HomeAction::ListOwner => Self::does("list the owner"),
            HomeAction::Own => Self::does("the requester owns it"),
            HomeAction::Disown => Self::does("the block has no owner"),
        }
    }
}

impl DirectoryTable {
    /// The tables with names instead of numbers.
    ///
    /// ```
    /// use homenode_directory::DirectoryProtocol;
    /// let sheet = DirectoryProtocol::parse("dash")?.table().blocks().map(|table| table.sheet());
    /// let sheet = sheet.ok_or("dash is a protocol of blocks")?;
    /// let read = &sheet.controllers[0].cells[0];
    /// assert_eq!((read.state, read.event, read.next), ("I", "load", Some("IS")));
    /// assert_eq!(read.actions[0].text, "send read to home");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn sheet(&self) -> DirectorySheet {
        let cache = |state, event| -> SenderCells<CacheAction, Sender> {
            vec![(Vec::new(), self.cache_cell(state, event))]
        };
        let home = |state, event| {
            let cells = Sender::ALL.iter().map(|&by| (by, self.home_cell(state, event, by)));
            by_sender(cells)
        };
        let role = |state| Some(self.role(state));
        let of_cache = SheetTitle { name: CACHE, title: "The controller of a cache" };
        let of_home = SheetTitle { name: HOME, title: "The controller of a block's home" };
        let cache = controller(of_cache, &self.cache, CacheEvent::ALL, &[], cache, role);
        let (events, senders) = (HomeEvent::ALL, Sender::ALL);
        let home = controller(of_home, &self.home, events, senders, home, |_| None);
        DirectorySheet { controllers: vec![cache, home], messages: self.messages() }
    }

    /// The messages that one of the controllers sends.
    fn messages(&self) -> Vec<SheetMessage> {
        let of_cache = self.cache.cells().iter().flat_map(does).map(|&action| action.into());
        let of_home = self.home.cells().iter().flat_map(does).map(|&action| action.into());
        let sent: Vec<SheetAction> = of_cache.chain(of_home).collect();
        let used = |message: &&Message| {
            sent.iter().any(|action: &SheetAction| action.message == Some(message.name()))
        };
        let sheet = |&message: &Message| SheetMessage {
            name: message.name(),
            meaning: message.meaning(),
            kind: MessageKind::name(message.kind()),
            carries_block: message.carries_block(),
        };
        Message::ALL.iter().filter(used).map(sheet).collect()
    }
}
