//! Transactions that consist of a request and its reply, worked out from the table beforehand.

use homenode_cache::{BlockAccess, CacheArrays, MAY_READ, MAY_WRITE, WordMask};

use super::{DirectoryDriver, node};
use crate::entries::{EntryHead, NO_NODE};
use crate::table::DirectoryTable;
use crate::vocabulary::{
    CacheAction, CacheEvent, ControllerCell, HomeAction, HomeEvent, Message, Recipient, Sender,
};

/// What a request does if the home answers it by itself and nobody else is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PreparedFetch {
    request: Message,
    reply: Message,
    /// Whether that holds only if nobody else is listed.
    alone: bool,
    listing: ListedAs,
    pub(super) cache_state: u8,
    home_state: u8,
}

/// What the directory knows of the requester afterwards.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ListedAs {
    /// What it knew before.
    Unchanged,
    Sharer,
    Owner,
}

/// How a copy is replaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PreparedReplacement {
    Silent,
    /// With a message to home, which is in the one state and then in the other, without an owner.
    WriteBack {
        before: u8,
        after: u8,
    },
    ByTable,
}

/// What a protocol does most.
pub(super) struct PreparedTransactions {
    /// States of the home's controller.
    homes: usize,
    /// By the copy's state, whether it is a write, the home's state and whether the node is listed.
    fetches: Vec<Option<PreparedFetch>>,
    /// By the copy's state.
    replacements: Vec<PreparedReplacement>,
}

impl PreparedTransactions {
    /// None: everything goes by the table.
    pub(super) fn none() -> Self {
        Self { homes: 0, fetches: Vec::new(), replacements: Vec::new() }
    }

    pub(super) fn of(table: &DirectoryTable) -> Self {
        let homes = table.home.states().len();
        let mut prepared = Self { homes, fetches: Vec::new(), replacements: Vec::new() };
        for (copy, _) in (0..=u8::MAX).zip(table.cache.states()) {
            for event in [CacheEvent::Load, CacheEvent::Store] {
                for (home, _) in (0..=u8::MAX).zip(table.home.states()) {
                    for sender in [Sender::Other, Sender::Sharer] {
                        prepared.fetches.push(fetch(table, (copy, event), (home, sender)));
                    }
                }
            }
            prepared.replacements.push(replacement(table, copy));
        }
        prepared
    }

    #[inline]
    fn fetch(
        &self,
        (copy, write): (u8, bool),
        (home, listed): (u8, bool),
    ) -> Option<PreparedFetch> {
        let at = (usize::from(copy) * 2 + usize::from(write)) * self.homes + usize::from(home);
        self.fetches.get(at * 2 + usize::from(listed)).copied().flatten()
    }

    /// Whether anything is prepared.
    #[inline]
    pub(super) fn is_some(&self) -> bool {
        !self.fetches.is_empty()
    }

    #[inline]
    fn replacement(&self, copy: u8) -> PreparedReplacement {
        let found = self.replacements.get(usize::from(copy)).copied();
        found.unwrap_or(PreparedReplacement::ByTable)
    }
}

/// What the processor may do without a transaction, by state of its copy.
pub(crate) fn permissions(table: &DirectoryTable) -> Vec<u64> {
    let of = |state, event, bit| {
        let settled = ControllerCell::Does(&[CacheAction::Complete], state);
        if table.cache_cell(state, event) == settled { bit } else { 0 }
    };
    (0..=u8::MAX)
        .zip(table.cache.states())
        .map(|(state, _)| {
            of(state, CacheEvent::Load, MAY_READ) | of(state, CacheEvent::Store, MAY_WRITE)
        })
        .collect()
}

/// Follows the table from an event until nothing is under way, if that is a request and its reply.
fn fetch(
    table: &DirectoryTable,
    (copy, event): (u8, CacheEvent),
    (home, sender): (u8, Sender),
) -> Option<PreparedFetch> {
    let ControllerCell::Does([CacheAction::Send(request, Recipient::Home)], waiting) =
        table.cache_cell(copy, event)
    else {
        return None;
    };
    let asked = request.event_at_home()?;
    let ControllerCell::Does(actions, home_state) = table.home_cell(home, asked, sender) else {
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
        table.cache_cell(waiting, arrives)
    else {
        return None;
    };
    let rests = table.home.rests(home_state) && table.cache.rests(cache_state);
    let (request, reply) = (*request, *reply);
    let prepared = PreparedFetch { request, reply, alone, listing, cache_state, home_state };
    rests.then_some(prepared)
}

/// What the table says about replacing a copy, if that is at most a write-back.
fn replacement(table: &DirectoryTable, copy: u8) -> PreparedReplacement {
    match table.cache_cell(copy, CacheEvent::Replace) {
        ControllerCell::Does([], 0) => PreparedReplacement::Silent,
        ControllerCell::Does([CacheAction::Send(Message::WriteBack, Recipient::Home)], 0) => {
            let states = (0..=u8::MAX).zip(table.home.states()).map(|(state, _)| state);
            let written = |state| match table.home_cell(state, HomeEvent::WriteBack, Sender::Owner)
            {
                ControllerCell::Does([HomeAction::TakeData, HomeAction::Disown], after) => {
                    Some(PreparedReplacement::WriteBack { before: state, after })
                }
                ControllerCell::Does(_, _)
                | ControllerCell::Waits
                | ControllerCell::Impossible(_) => None,
            };
            states.filter_map(written).next().unwrap_or(PreparedReplacement::ByTable)
        }
        ControllerCell::Does(_, _) | ControllerCell::Waits | ControllerCell::Impossible(_) => {
            PreparedReplacement::ByTable
        }
    }
}

impl<F: CacheArrays<W>, W: WordMask, const WORDS: usize> DirectoryDriver<F, W, WORDS> {
    /// Does a reference to what a frame has, if that is a request and its reply. Returns whether it
    /// was such a one.
    #[inline]
    pub(super) fn prepared_fetch(
        &mut self,
        access: &BlockAccess<W>,
        (at, number): (usize, u32),
        home: u16,
    ) -> bool {
        let node = node(access.cache);
        let state = self.caches.frame(at).state;
        let Some(fetch) = self.find_fetch((state, access.write), (number, node)) else {
            return false;
        };
        self.ask_home(fetch, (number, node), home);
        if state == 0 {
            let mut record = self.caches.holders.get(number);
            record.add_holder(access.cache);
            self.caches.holders.put(number, &record);
        }
        let permissions = self.permissions[usize::from(fetch.cache_state)];
        self.caches.set_state(at, fetch.cache_state, permissions);
        true
    }

    /// What a reference of a node to a copy in this state does, if that is a request and its reply.
    #[inline]
    pub(super) fn find_fetch(
        &self,
        copy: (u8, bool),
        (number, node): (u32, u16),
    ) -> Option<PreparedFetch> {
        let head = self.entries.head(number);
        let fetch = self.prepared.fetch(copy, (head.state, self.entries.lists(number, node)))?;
        // An owner that asks is a case of its own, as are those that have to be told.
        let others = fetch.alone && !self.entries.lists_nobody_but(number, node);
        (head.owner != node && !others).then_some(fetch)
    }

    /// The request, what the home does about it, and the reply.
    #[inline]
    pub(super) fn ask_home(&mut self, fetch: PreparedFetch, (number, node): (u32, u16), home: u16) {
        self.sent.add_if(fetch.request, home != node);
        self.sent.add_if(fetch.reply, home != node);
        match fetch.listing {
            ListedAs::Unchanged => {}
            ListedAs::Sharer => self.entries.list(number, node),
            ListedAs::Owner => self.entries.own(number, node),
        }
        self.entries.set_state(number, fetch.home_state);
    }

    /// Tells home that a node replaces a copy in this state, if that is at most a write-back.
    /// Returns whether it was such a one.
    #[inline]
    pub(super) fn prepared_replacement(
        &mut self,
        (state, number): (u8, u32),
        (node, page): (u16, u32),
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
