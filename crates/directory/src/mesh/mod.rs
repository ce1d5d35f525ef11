//! The timed machine under all protocols: nodes, network, memories, pages and synchronisation.
//!
//! Every node has a processor, a cache, a part of memory with its controller, and a port to a mesh.
//! A message leaves its node when the messages before it have left, crosses the links, and waits at
//! its destination for messages that are being received. A home's controller looks up one block at
//! a time, and its memory serves one access at a time. The protocol's table says what a controller
//! does then.
//!
//! Events of one time are those of the lowest node first, and of one node in the order in which
//! they were made.

mod latency;
pub(crate) mod network;
pub(crate) mod pages;
mod places;
pub(crate) mod queue;
pub(crate) mod references;
mod result;
mod shape;
pub(crate) mod sync;
pub(crate) mod transport;
pub(crate) mod values;

use homenode_clock::ClockSetup;
use homenode_machine::DirectoryMachine;

use crate::replication::PageReplication;
pub use latency::{DistanceCost, MissLatency};
pub use queue::{HomeLoad, QueueLoad};
pub use result::{ClockedDirectoryResult, DirectoryTiming};
pub use shape::MeshShape;

/// Parameters of a timed run.
#[derive(Clone, Copy, Debug)]
pub struct DirectoryClockSetup {
    /// Processors and processes: process i runs on node i modulo the number of nodes.
    pub clock: ClockSetup,
    /// The network, and the latencies of the parts of a node.
    pub machine: DirectoryMachine,
    /// Whether a write takes place only when all acknowledgements are in.
    pub sequential: bool,
    /// Whether pages move again at each mark of a phase.
    pub phase_change: bool,
    /// Whether times and counts begin when initialisation is over.
    pub from_init_done: bool,
    /// When pages are copied to nodes that read them, if the protocol keeps pages coherent.
    pub replication: PageReplication,
    /// Whether misses and waiting are collected by word, if the protocol keeps blocks coherent.
    pub collect_waits: bool,
}

impl DirectoryClockSetup {
    /// Processors that do not wait for acknowledgements of their writes, and pages that stay where
    /// they are placed; nothing is collected.
    #[must_use]
    pub const fn new(clock: ClockSetup, machine: DirectoryMachine) -> Self {
        Self {
            clock,
            machine,
            sequential: false,
            phase_change: false,
            from_init_done: false,
            replication: PageReplication::None,
            collect_waits: false,
        }
    }
}
