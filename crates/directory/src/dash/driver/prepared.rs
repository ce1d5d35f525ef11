//! Transactions of a request and its reply, derived from the table beforehand.

use homenode_cache::{BlockAccess, CacheArrays, MAY_READ, MAY_WRITE, WordMask};

use super::{DirectoryDriver, node};
use crate::cell::ControllerCell;
use crate::dash::table::DirectoryTable;
use crate::dash::vocabulary::{
    CacheAction, CacheEvent, HomeAction, HomeEvent, Message, Recipient, Sender,
};
use crate::entries::{EntryHead, NO_NODE};

/// A request that the home answers by itself, without messages to other nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PreparedFetch {
    request: Message,
    reply: Message,
    /// Whether this holds only if no other node is listed.
    alone: bool,
    listing: ListedAs,
    pub(super) cache_state: u8,
    home_state: u8,
}

/// How the directory lists the requester afterwards.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ListedAs {
    /// As before.
    Unchanged,
    Sharer,
    Owner,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PreparedReplacement {
    Silent,
    /// With a message to the home, whose state changes as given, and which has no owner then.
    WriteBack {
        before: u8,
        after: u8,
    },
    ByTable,
}

pub(super) struct PreparedTransactions {
    /// States of the home's controller.
    homes: usize,
    /// Indexed by the copy's state, whether it is a write, the home's state, and whether the node
    /// is listed.
    fetches: Vec<Option<PreparedFetch>>,
    /// By the copy's state.
    replacements: Vec<PreparedReplacement>,
}

impl PreparedTransactions {
    pub(super) fn none() -> Self {
        Self { homes: 0, fetches: Vec::new(), replacements: Vec::new() }
    }

    pub(super) fn of(table: &DirectoryTable) -> Self {
        let homes = table.home.states().len();
        let mut prepared = Self { homes, fetches: Vec::new(), replacements: Vec::new() };
        for copy in table.cache.state_numbers() {
            for event in [CacheEvent::Load, CacheEvent::Store] {
                for home in table.home.state_numbers() {
                    for sender in [Sender::Other, Sender::Sharer] {
                        prepared.fetches.push(fetch(table, copy, event, home, sender));
                    }
                }
            }
            prepared.replacements.push(replacement(table, copy));
        }
        prepared
    }

    fn fetch(&self, copy: u8, write: bool, home: u8, listed: bool) -> Option<PreparedFetch> {
        let at = (usize::from(copy) * 2 + usize::from(write)) * self.homes + usize::from(home);
        self.fetches.get(at * 2 + usize::from(listed)).copied().flatten()
    }

    pub(super) fn is_some(&self) -> bool {
        !self.fetches.is_empty()
    }

    fn replacement(&self, copy: u8) -> PreparedReplacement {
        let found = self.replacements.get(usize::from(copy)).copied();
        found.unwrap_or(PreparedReplacement::ByTable)
    }
}

/// Accesses allowed without a transaction, by state of the copy.
pub(crate) fn permissions(table: &DirectoryTable) -> Vec<u64> {
    let of = |state, event, bit| {
        let settled = ControllerCell::Does(&[CacheAction::Complete], state);
        if table.cache.cell(state, event) == settled { bit } else { 0 }
    };
    let both =
        |state| of(state, CacheEvent::Load, MAY_READ) | of(state, CacheEvent::Store, MAY_WRITE);
    table.cache.state_numbers().map(both).collect()
}

/// Follows the table from an event to the end of its transaction, if that is a request and its
/// reply.
fn fetch(
    table: &DirectoryTable,
    copy: u8,
    event: CacheEvent,
    home: u8,
    sender: Sender,
) -> Option<PreparedFetch> {
    let ControllerCell::Does([CacheAction::Send(request, Recipient::Home)], waiting) =
        table.cache.cell(copy, event)
    else {
        return None;
    };
    let at_home = request.event_at_home()?;
    let ControllerCell::Does(actions, home_state) = table.home.cell_by(home, at_home, sender)
    else {
        return None;
    };
    let (alone, rest) = match actions {
        [HomeAction::Invalidate, rest @ ..] => (true, rest),
        rest => (false, rest),
    };
    let (reply, listing) = match rest {
        [HomeAction::Reply(reply)] => (reply, ListedAs::Unchanged),
        [HomeAction::Reply(reply), HomeAction::ListRequester] => (reply, ListedAs::Sharer),
        [HomeAction::Reply(reply), HomeAction::Own] => (reply, ListedAs::Owner),
        _ => return None,
    };
    let arrives = reply.event_at_cache(0, false)?;
    let ControllerCell::Does([CacheAction::Complete], cache_state) =
        table.cache.cell(waiting, arrives)
    else {
        return None;
    };
    let rests = table.home.rests(home_state) && table.cache.rests(cache_state);
    let (request, reply) = (*request, *reply);
    let prepared = PreparedFetch { request, reply, alone, listing, cache_state, home_state };
    rests.then_some(prepared)
}

/// The replacement of a copy by the table, if it is at most a write-back.
fn replacement(table: &DirectoryTable, copy: u8) -> PreparedReplacement {
    match table.cache.cell(copy, CacheEvent::Replace) {
        ControllerCell::Does([], 0) => PreparedReplacement::Silent,
        ControllerCell::Does([CacheAction::Send(Message::WriteBack, Recipient::Home)], 0) => {
            let written =
                |state| match table.home.cell_by(state, HomeEvent::WriteBack, Sender::Owner) {
                    ControllerCell::Does([HomeAction::TakeData, HomeAction::Disown], after) => {
                        Some(PreparedReplacement::WriteBack { before: state, after })
                    }
                    ControllerCell::Does(_, _)
                    | ControllerCell::Waits
                    | ControllerCell::Impossible(_) => None,
                };
            table.home.state_numbers().find_map(written).unwrap_or(PreparedReplacement::ByTable)
        }
        ControllerCell::Does(_, _) | ControllerCell::Waits | ControllerCell::Impossible(_) => {
            PreparedReplacement::ByTable
        }
    }
}

impl<F: CacheArrays<W>, W: WordMask, const WORDS: usize> DirectoryDriver<F, W, WORDS> {
    /// Performs a reference to the block in a frame, if it is a request and its reply. Returns
    /// whether it was.
    pub(super) fn prepared_fetch(
        &mut self,
        access: &BlockAccess<W>,
        at: usize,
        number: u32,
        home: u16,
    ) -> bool {
        let node = node(access.cache);
        let state = self.caches.frame(at).state;
        let Some(fetch) = self.find_fetch(state, access.write, number, node) else {
            return false;
        };
        self.apply_fetch(fetch, number, node, home);
        if state == 0 {
            let mut record = self.caches.holders.get(number);
            record.add_holder(access.cache);
            self.caches.holders.put(number, &record);
        }
        let permissions = self.permissions[usize::from(fetch.cache_state)];
        self.caches.set_state(at, fetch.cache_state, permissions);
        true
    }

    /// The prepared transaction of a node's reference to a copy in state `copy`, if there is one.
    pub(super) fn find_fetch(
        &self,
        copy: u8,
        write: bool,
        number: u32,
        node: u16,
    ) -> Option<PreparedFetch> {
        let head = self.entries.head(number);
        let fetch =
            self.prepared.fetch(copy, write, head.state, self.entries.lists(number, node))?;
        // Requests of an owner, and those that invalidate copies, are not prepared.
        let others = fetch.alone && !self.entries.lists_only(number, node);
        (head.owner != node && !others).then_some(fetch)
    }

    /// Counts the request and the reply, and applies the home's actions.
    pub(super) fn apply_fetch(&mut self, fetch: PreparedFetch, number: u32, node: u16, home: u16) {
        self.sent.add_if(fetch.request, home != node);
        self.sent.add_if(fetch.reply, home != node);
        match fetch.listing {
            ListedAs::Unchanged => {}
            ListedAs::Sharer => self.entries.list(number, node),
            ListedAs::Owner => self.entries.own(number, node),
        }
        self.entries.set_state(number, fetch.home_state);
    }

    /// Performs a node's replacement of a copy, if it is at most a write-back. Returns whether it
    /// was.
    pub(super) fn prepared_replacement(
        &mut self,
        state: u8,
        number: u32,
        node: u16,
        page: u32,
    ) -> bool {
        let (before, after) = match self.prepared.replacement(state) {
            PreparedReplacement::Silent => return true,
            PreparedReplacement::ByTable => return false,
            PreparedReplacement::WriteBack { before, after } => (before, after),
        };
        let head = self.entries.head(number);
        if head.state != before || head.owner != node {
            return false;
        }
        self.entries.put(number, EntryHead { state: after, owner: NO_NODE, ..head });
        self.sent.add_if(Message::WriteBack, self.homes.home(page) != node);
        self.count_write_back(node, page);
        true
    }
}
