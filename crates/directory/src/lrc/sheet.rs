//! The printed tables of a page protocol.

use crate::cell::CopyRole;
use crate::lrc::table::PagedTable;
use crate::lrc::vocabulary::{
    MappingAction, PageHomeAction, PageMessage, PagePermission, ReleaseAction,
};
use crate::sheet::{DirectorySheet, SheetAction};

impl From<MappingAction> for SheetAction {
    fn from(action: MappingAction) -> Self {
        match action {
            MappingAction::SendHome(message) => Self::sends(message, "home"),
            MappingAction::Acknowledge => Self::sends(PageMessage::Acknowledge, "releaser"),
            MappingAction::Complete => Self::does("complete"),
            MappingAction::Flush => Self::does("flush the page's lines, dirty words to home"),
        }
    }
}

impl From<ReleaseAction> for SheetAction {
    fn from(action: ReleaseAction) -> Self {
        match action {
            ReleaseAction::WriteBack => Self::does("write the page's dirty words back"),
            ReleaseAction::SendHome(message) => Self::sends(message, "home"),
        }
    }
}

impl From<PageHomeAction> for SheetAction {
    fn from(action: PageHomeAction) -> Self {
        match action {
            PageHomeAction::List => Self::does("list the requester"),
            PageHomeAction::Unlist => Self::does("list the requester no longer"),
            PageHomeAction::Reply(message) => Self::sends(message, "requester"),
            PageHomeAction::Notify => Self::sends(PageMessage::WriteNotice, "listed"),
            PageHomeAction::TakeWords => Self::does("memory takes the words"),
        }
    }
}

impl PagedTable {
    /// The tables with names instead of numbers.
    ///
    /// ```
    /// use homenode_directory::{CoherenceTable, DirectoryProtocol};
    /// let CoherenceTable::Pages(table) = DirectoryProtocol::parse("lrc")?.table() else {
    ///     return Err("lrc is a protocol of pages".into());
    /// };
    /// let sheet = table.sheet();
    /// let read = &sheet.controllers[0].cells[0];
    /// assert_eq!((read.state, read.event, read.next), ("unmapped", "load", Some("read fault")));
    /// assert_eq!(read.actions[0].text, "send read fault to home");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn sheet(&self) -> DirectorySheet {
        let role = |state| {
            Some(match self.permission(state) {
                PagePermission::None => CopyRole::None,
                PagePermission::Read => CopyRole::Readable,
                PagePermission::Write => CopyRole::Writable,
            })
        };
        let mapping = self.mapping.sheet("The mapping of a page at a node", role);
        let release = self.release.sheet("The release of a page at a node", |_| None);
        let home = self.home.sheet("The controller of a page's home", |_| None);
        let of_caches = [PageMessage::Fetch, PageMessage::WriteBack];
        let controllers = vec![mapping, release, home];
        DirectorySheet::new(controllers, &of_caches, |message| message == PageMessage::Line)
    }
}
