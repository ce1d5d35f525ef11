//! Events by the table: transactions, their kinds of sharing, and their effects on other caches.

use homenode_base::ProcessorSet;
use homenode_cache::{BlockAccess, BlockHolders, CacheArrays, MissStatus, WordMask};

use super::transition::{SnoopResponse, Transition};
use super::{CheckError, HeldFrame, NumberedFrame, ProtocolDriver, area};
use crate::vocabulary::{
    Action, AreaKind, Copies, DataSupplier, ProcessorEvent, Reply, Signal, TableCell, Transaction,
};

impl<F: CacheArrays<W>, W: WordMask, const WORDS: usize> ProtocolDriver<F, W, WORDS> {
    /// Performs an event by its cell of the table.
    pub(super) fn event(
        &mut self,
        access: &BlockAccess<W>,
        frame: NumberedFrame,
        event: ProcessorEvent,
    ) -> Result<Action<u8>, CheckError> {
        let NumberedFrame { frame: at, number } = frame;
        let state = self.caches.frame(at).state;
        let area = if event == ProcessorEvent::Replace { AreaKind::Shared } else { area(access) };
        let mut record = self.caches.holders.get(number);
        let copies = self.find_copies(access.block, record.holders_without(access.cache));
        let condition = self.table.condition(copies, area);
        let action = match self.table.cell(state, event, condition) {
            TableCell::Does(action) => action,
            TableCell::Impossible(what) => return Err(CheckError::impossible(access.cache, what)),
        };
        self.move_data(access.cache, frame, action)?;
        if let Some(transaction) = action.transaction {
            self.count(access, transaction, action.source);
        }
        if let Some(log) = &mut self.log {
            log.push(Transition {
                block: access.block,
                state,
                event,
                condition,
                action,
                supplier: self.others.first().map(|other| other.cache),
                responses: Vec::new(),
            });
        }
        match action.transaction.and_then(|transaction| Signal::of(transaction, area)) {
            Some(signal) => self.signal(access, &mut record, number, signal)?,
            None => self.others.clear(),
        }
        if let Some(shadow) = &mut self.caches.shadow
            && event == ProcessorEvent::Write
            && !action.again
        {
            // The copies that remain in the list take the word.
            let takers = self.others.iter().map(|other| other.frame).chain([at]);
            shadow.write(number, access.words, takers);
        }
        if action.next != state {
            self.set_state(at, action.next);
        }
        if action.next != 0 {
            record.add_holder(access.cache);
        }
        self.caches.holders.put(number, &record);
        Ok(action)
    }

    /// Collects the other caches' copies, the owner's first.
    #[inline]
    pub(super) fn find_copies(&mut self, block: u64, holders: ProcessorSet<WORDS>) -> Copies<u8> {
        self.others.clear();
        if holders.is_empty() {
            return Copies::None;
        }
        let mut owned = false;
        for holder in holders.members().map(usize::from) {
            let at = self.caches.known_frame(holder, block);
            self.others.push(HeldFrame { cache: holder, frame: at });
            if self.table.role(self.caches.frames.all()[at].state).is_owner() && !owned {
                owned = true;
                let last = self.others.len() - 1;
                self.others.swap(0, last);
            }
        }
        match (&self.others[..], owned) {
            ([], _) => Copies::None,
            (&[other], _) => Copies::One(self.caches.frame(other.frame).state),
            (_, true) => Copies::Owned,
            (_, false) => Copies::Several,
        }
    }

    /// Moves shadow values by the action.
    fn move_data(
        &mut self,
        cache: usize,
        NumberedFrame { frame: at, number }: NumberedFrame,
        action: Action<u8>,
    ) -> Result<(), CheckError> {
        let Some(shadow) = &mut self.caches.shadow else { return Ok(()) };
        match (action.source, self.others.first()) {
            (DataSupplier::Own, _) if action.transaction == Some(Transaction::UpdateBlock) => {
                shadow.update_memory(at, number);
            }
            (DataSupplier::Own, _) => {}
            (DataSupplier::Memory, _) => shadow.fetch(at, number),
            (DataSupplier::Cache, Some(supplier)) => shadow.supply(supplier.frame, at),
            (DataSupplier::Cache, None) => {
                return Err(CheckError::impossible(cache, "no cache has the block"));
            }
        }
        Ok(())
    }

    /// Counts a transaction and its kind of sharing.
    fn count(&mut self, access: &BlockAccess<W>, transaction: Transaction, source: DataSupplier) {
        let all = &mut self.transactions;
        let cache = source == DataSupplier::Cache;
        match transaction {
            Transaction::ReadBlock if cache => all.read_block_cache += 1,
            Transaction::ReadBlock => all.read_block_memory += 1,
            Transaction::ReadInvalidate if cache => all.read_invalidate_cache += 1,
            Transaction::ReadInvalidate => all.read_invalidate_memory += 1,
            Transaction::UpdateBlock => all.update_block += 1,
            Transaction::Invalidate => all.invalidate += 1,
            Transaction::Write => all.write += 1,
        }
        if !matches!(transaction, Transaction::Invalidate | Transaction::Write) {
            return;
        }
        *self.origins.of(access) += 1;
        self.caches.count_coherence(access, self.others.iter().map(|other| other.frame));
    }

    /// Signals a transaction to the other holders. Those that take the written word remain in the
    /// list.
    fn signal(
        &mut self,
        access: &BlockAccess<W>,
        record: &mut BlockHolders<WORDS>,
        number: u32,
        signal: Signal,
    ) -> Result<(), CheckError> {
        let mut collected = false;
        let mut others = std::mem::take(&mut self.others);
        let mut takers = 0;
        for nth in 0..others.len() {
            let HeldFrame { cache: holder, frame: at } = others[nth];
            let state = self.caches.frame(at).state;
            let (next, memory, word) = match self.table.reply(state, signal) {
                Reply::Becomes { next, memory, word } => (next, memory, word),
                Reply::Impossible(what) => return Err(CheckError::impossible(holder, what)),
            };
            if let Some(transition) = self.log.as_mut().and_then(|log| log.last_mut()) {
                transition.responses.push(SnoopResponse { holder, state, next, memory, word });
            }
            if let Some(shadow) = self.caches.shadow.as_mut().filter(|_| memory) {
                shadow.update_memory(at, number);
            }
            if next == 0 {
                if !std::mem::replace(&mut collected, true) {
                    // Earlier writes reached these copies: they are collected before the loss.
                    self.caches.tell_writes(access.block, record);
                }
                let status = self.loss(state, signal);
                self.caches.lose(access.block, holder, at, status);
                record.lose(holder);
            } else if next != state {
                self.set_state(at, next);
            }
            if word && next != 0 {
                others.swap(takers, nth);
                takers += 1;
            }
        }
        others.truncate(takers);
        self.others = others;
        Ok(())
    }

    /// A copy that is lost only because of the line for private areas moved with its process.
    fn loss(&self, state: u8, signal: Signal) -> MissStatus {
        let shared = self.table.reply(state, Signal::ReadBlock);
        let stays = matches!(shared, Reply::Becomes { next, .. } if next != 0);
        let removed = signal == Signal::ReadPrivate && stays;
        if removed { MissStatus::Removed } else { MissStatus::Invalidated }
    }
}
