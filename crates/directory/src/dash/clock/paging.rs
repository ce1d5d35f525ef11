//! Page faults, and pages that move to their new home.

use homenode_cache::{CacheArrays, WordMask};
use homenode_clock::Requesters;

use super::DashMemory;
use crate::mesh::network::Route;
use crate::mesh::transport::{Content, NodeEvent, rank};

impl<F: CacheArrays<W>, W: WordMask, const WORDS: usize> DashMemory<F, W, WORDS> {
    /// The operating system of a node requests the page if it has to move, or else maps it.
    pub(super) fn trapped(&mut self, node: u16, page: u32, requesters: &mut Requesters<'_, Self>) {
        let (home, memory) = (self.homes.home(page), self.memory_of(usize::from(node)));
        if home == memory || !self.homes.moves_to(page, memory) {
            self.page_there(node, page, requesters);
            return;
        }
        let home = self.end_point_of_page(home, page);
        let request =
            self.transport.envelope(Route::new(node, home), 0, Content::PageRequest(page));
        self.transport.post(request, requesters.now(), requesters);
    }

    /// The end point of a memory that sends and receives a page as a whole.
    pub(super) fn end_point_of_page(&self, memory: u16, page: u32) -> u16 {
        self.transport.places().end_point(memory, self.homes.blocks_of(page).start)
    }

    /// The old home of a page has looked it up, and sends it to the new one.
    pub(super) fn send_page(
        &mut self,
        page: u32,
        route: Route,
        requesters: &mut Requesters<'_, Self>,
    ) {
        let envelope = self.transport.envelope(route, self.page_bytes, Content::Page(page));
        self.transport.post_from_memory(envelope, self.page_bytes, requesters);
    }

    /// A page has arrived in the memory of its home.
    pub(super) fn page_there(
        &mut self,
        node: u16,
        page: u32,
        requesters: &mut Requesters<'_, Self>,
    ) {
        let memory = self.memory_of(usize::from(node));
        if self.homes.moves_to(page, memory) {
            self.homes.used(page, memory);
        }
        let mapped = requesters.now() + self.timed.machine.system.page_table_cycles;
        requesters.schedule_at(mapped, rank(node), NodeEvent::Mapped(page));
    }

    /// A page is mapped: processors that waited for it continue.
    pub(super) fn mapped(&mut self, page: u32, requesters: &mut Requesters<'_, Self>) {
        let awaits_use = self.homes.awaits_use() && !self.homes.is_settled(page);
        for node in self.pages.map(page, awaits_use) {
            requesters.resume_at(requesters.now(), usize::from(node));
        }
    }
}
