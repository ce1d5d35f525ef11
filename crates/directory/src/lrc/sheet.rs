//! The printed tables of a page protocol.

use homenode_protocol::Labelled;

use crate::cell::CopyRole;
use crate::lrc::table::PagedTable;
use crate::lrc::vocabulary::{
    MappingAction, MappingEvent, PageHomeAction, PageHomeEvent, PageMessage, PagePermission,
    PageSender, ReleaseAction, ReleaseEvent,
};
use crate::sheet::{
    DirectorySheet, HOME, MAPPING, RELEASE, SenderCells, SheetAction, SheetMessage, SheetTitle,
    by_sender, controller, does,
};

impl From<MappingAction> for SheetAction {
    fn from(action: MappingAction) -> Self {
        match action {
            MappingAction::SendHome(message) => Self::sends_name(message.name(), "home"),
            MappingAction::Acknowledge => {
                Self::sends_name(PageMessage::Acknowledge.name(), "releaser")
            }
            MappingAction::Complete => Self::does("complete"),
            MappingAction::Flush => Self::does("flush the page's lines, dirty words to home"),
        }
    }
}

impl From<ReleaseAction> for SheetAction {
    fn from(action: ReleaseAction) -> Self {
        match action {
            ReleaseAction::WriteBack => Self::does("write the page's dirty words back"),
            ReleaseAction::SendHome(message) => Self::sends_name(message.name(), "home"),
        }
    }
}

impl From<PageHomeAction> for SheetAction {
    fn from(action: PageHomeAction) -> Self {
        match action {
            PageHomeAction::List => Self::does("list the requester"),
            PageHomeAction::Unlist => Self::does("list the requester no longer"),
            PageHomeAction::Reply(message) => Self::sends_name(message.name(), "requester"),
            PageHomeAction::Notify => Self::sends_name(PageMessage::WriteNotice.name(), "listed"),
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
        let mapping = |state, event| -> SenderCells<MappingAction, PageSender> {
            vec![(Vec::new(), self.mapping_cell(state, event))]
        };
        let release = |state, event| -> SenderCells<ReleaseAction, PageSender> {
            vec![(Vec::new(), self.release_cell(state, event))]
        };
        let home = |state, event| {
            let cells = PageSender::ALL.iter().map(|&by| (by, self.home_cell(state, event, by)));
            by_sender(cells)
        };
        let role = |state| {
            Some(match self.permission(state) {
                PagePermission::None => CopyRole::None,
                PagePermission::Read => CopyRole::Readable,
                PagePermission::Write => CopyRole::Writable,
            })
        };
        let of_mapping = SheetTitle { name: MAPPING, title: "The mapping of a page at a node" };
        let of_release = SheetTitle { name: RELEASE, title: "The release of a page at a node" };
        let of_home = SheetTitle { name: HOME, title: "The controller of a page's home" };
        let events = MappingEvent::ALL;
        let mapping = controller(of_mapping, &self.mapping, events, &[], mapping, role);
        let events = ReleaseEvent::ALL;
        let release = controller(of_release, &self.release, events, &[], release, |_| None);
        let (events, senders) = (PageHomeEvent::ALL, PageSender::ALL);
        let home = controller(of_home, &self.home, events, senders, home, |_| None);
        DirectorySheet { controllers: vec![mapping, release, home], messages: self.messages() }
    }

    /// The messages sent by the controllers and by caches.
    fn messages(&self) -> Vec<SheetMessage> {
        let of_mapping = self.mapping.cells().iter().flat_map(does).map(|&action| action.into());
        let of_release = self.release.cells().iter().flat_map(does).map(|&action| action.into());
        let of_home = self.home.cells().iter().flat_map(does).map(|&action| action.into());
        let sent: Vec<SheetAction> = of_mapping.chain(of_release).chain(of_home).collect();
        let used = |message: &&PageMessage| {
            let of_caches = matches!(message, PageMessage::Fetch | PageMessage::WriteBack);
            of_caches || sent.iter().any(|action| action.message == Some(message.name()))
        };
        let sheet = |&message: &PageMessage| SheetMessage {
            name: message.name(),
            meaning: message.meaning(),
            kind: message.counted_as(),
            carries_block: message == PageMessage::Line,
        };
        PageMessage::ALL.iter().filter(used).map(sheet).collect()
    }
}
