//! The printed tables of a block protocol.

use super::table::DirectoryTable;
use super::vocabulary::{CacheAction, HomeAction, Message, Recipient};
use crate::sheet::{DirectorySheet, SheetAction};

impl From<CacheAction> for SheetAction {
    fn from(action: CacheAction) -> Self {
        match action {
            CacheAction::Send(message, Recipient::Home) => Self::sends(message, "home"),
            CacheAction::Send(message, Recipient::Requester) => Self::sends(message, "requester"),
            CacheAction::Complete => Self::does("complete"),
        }
    }
}

impl From<HomeAction> for SheetAction {
    fn from(action: HomeAction) -> Self {
        match action {
            HomeAction::Reply(message) => Self::sends(message, "requester"),
            HomeAction::Forward(message) => Self::sends(message, "owner"),
            HomeAction::Invalidate => Self::sends(Message::Invalidate, "listed"),
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
        let role = |state| Some(self.role(state));
        let cache = self.cache.sheet("The controller of a cache", role);
        let home = self.home.sheet("The controller of a block's home", |_| None);
        DirectorySheet::new(vec![cache, home], &[], Message::carries_block)
    }
}
