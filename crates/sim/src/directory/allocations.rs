//! The allocations of the trace, for homes that go by them.

use homenode_directory::PageAllocators;
use homenode_trace::EventKind;

use super::plan::{DirectoryPlan, PlannedDirectory};
use crate::error::{SimResult, config_error};
use crate::pass::TraceSource;

/// Memory that a thread allocated.
#[derive(Clone, Copy, Debug)]
pub(super) struct AllocatedMemory {
    addr: u64,
    size: u64,
    thread: u16,
}

pub(super) fn are_needed(point: &PlannedDirectory) -> bool {
    point.home.entry().needs_allocations
}

/// All allocations in trace order, if a combination needs them.
pub(super) fn allocations(
    plan: &DirectoryPlan,
    trace: &dyn TraceSource,
) -> SimResult<Vec<AllocatedMemory>> {
    let Some(point) = plan.points.iter().find(|point| are_needed(point)) else {
        return Ok(Vec::new());
    };
    let mut found = Vec::new();
    for piece in 0..trace.pieces() {
        let events = trace.outline(piece)?.events;
        found.extend(events.into_iter().filter_map(|(_, event)| {
            let EventKind::Alloc { addr, size, .. } = event.what else { return None };
            Some(AllocatedMemory { addr, size, thread: event.thread })
        }));
    }
    if found.is_empty() {
        return Err(config_error(format!(
            "--home {}: {} has no allocations; record the program with homenode record, or say \
             --home first-touch",
            point.home.text,
            trace.name()
        )));
    }
    Ok(found)
}

impl PlannedDirectory {
    /// Whose memory each page is: that of the processor on which its allocator begins.
    pub(super) fn allocators(&self, allocations: &[AllocatedMemory]) -> PageAllocators {
        let (topology, processors) = (self.model.topology(), self.setup.nodes);
        let mut allocators = PageAllocators::new(self.setup.page_bytes);
        for &AllocatedMemory { addr, size, thread } in allocations {
            allocators.add(addr, size, topology.memory_of(thread % processors, processors));
        }
        allocators
    }
}
