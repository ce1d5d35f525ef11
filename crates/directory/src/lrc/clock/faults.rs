//! Page faults: TLB fills, mapping of pages, and moves of pages to a new home.

use homenode_cache::{CacheArrays, ClockError, WordMask};
use homenode_clock::Requesters;

use super::replicas::AccessPlace;
use super::{FaultingAccess, LrcMemory};
use crate::lrc::driver::PageAnswer;
use crate::mesh::network::Route;
use crate::mesh::transport::Content;

impl<F: CacheArrays<W>, W: WordMask, const WORDS: usize> LrcMemory<F, W, WORDS> {
    /// The operating system of a node requests the page if it has to move, or else sends the fault
    /// to the home.
    pub(super) fn trapped(
        &mut self,
        own: u16,
        page: u32,
        requesters: &mut Requesters<'_, Self>,
    ) -> Result<(), ClockError> {
        if let Some(waiting) = self.moving.get_mut(&page) {
            waiting.push(own);
            return Ok(());
        }
        let home = self.homes.home(page);
        if !self.homes.moves_to(page, own) {
            return self.map(own, requesters);
        }
        if home == own {
            self.homes.used(page, own);
            return self.map(own, requesters);
        }
        self.moving.insert(page, vec![own]);
        let request = self.transport.envelope(Route::new(own, home), 0, Content::PageRequest(page));
        self.transport.post(request, requesters.now(), requesters);
        Ok(())
    }

    /// A page has arrived in the memory of a node: its new home, or a node with a replica.
    pub(super) fn page_there(
        &mut self,
        own: u16,
        page: u32,
        requesters: &mut Requesters<'_, Self>,
    ) -> Result<(), ClockError> {
        if self.replicas.copied(own, page) {
            self.enter_buffer(own, page);
            // The processor does not wait for a copy that was made in the background.
            let faulting = &mut self.faulting[usize::from(own)];
            if faulting.take_if(|fault| fault.page == page).is_some() {
                requesters.resume_at(requesters.now(), usize::from(own));
            }
            return Ok(());
        }
        self.homes.used(page, own);
        for waiting in self.moving.remove(&page).unwrap_or_default() {
            self.map(waiting, requesters)?;
        }
        Ok(())
    }

    /// Passes the faulting access of a node's processor to the protocol.
    fn map(&mut self, own: u16, requesters: &mut Requesters<'_, Self>) -> Result<(), ClockError> {
        let Some(FaultingAccess { page, store }) = self.faulting[usize::from(own)] else {
            return Ok(());
        };
        let answer = self.driver.access(own, page, store);
        let answer = self.checked(requesters.now(), own, 0, answer)?;
        self.awaits_message[usize::from(own)] = answer == PageAnswer::Waits;
        self.apply(None, requesters)
    }

    /// A message has arrived at a node: an access that waits for one is tried again.
    pub(super) fn retry_fault(
        &mut self,
        own: u16,
        requesters: &mut Requesters<'_, Self>,
    ) -> Result<(), ClockError> {
        if std::mem::take(&mut self.awaits_message[usize::from(own)]) {
            self.map(own, requesters)?;
        }
        Ok(())
    }

    /// A page is in a node's page table: the processor continues, perhaps after a copy was made.
    pub(super) fn entered(&mut self, own: u16, page: u32, requesters: &mut Requesters<'_, Self>) {
        let Some(FaultingAccess { store, .. }) = self.faulting[usize::from(own)] else { return };
        let local = self.homes.home(page) == own;
        let now = requesters.now();
        if self.replicas.mapped(own, page, AccessPlace { store, local }, now) {
            self.copy_page(own, page, requesters);
            return;
        }
        self.faulting[usize::from(own)] = None;
        self.enter_buffer(own, page);
        requesters.resume_at(now, usize::from(own));
    }

    /// Fills a TLB entry of a node.
    pub(super) fn enter_buffer(&mut self, own: u16, page: u32) {
        self.buffers.fill(own, (self.homes.key_of(page), page));
    }

    /// A node requests a copy of a page.
    pub(super) fn copy_page(&mut self, own: u16, page: u32, requesters: &mut Requesters<'_, Self>) {
        let home = self.homes.home(page);
        let request = self.transport.envelope(Route::new(own, home), 0, Content::PageRequest(page));
        self.transport.post(request, requesters.now(), requesters);
    }
}
