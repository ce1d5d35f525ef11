//! Machines whose processors have hardware-coherent caches, with any interconnect.

use homenode_base::BlockSize;

use crate::bus::{Bus, BusCycles};
use crate::controller::ControllerMachine;
use crate::directory::DirectoryMachine;
use crate::error::MachineError;
use crate::file::Description;
use crate::kind::MachineKind;
use crate::multicore::LinkModel;
use crate::parts::{CacheShape, Caches, KernelModel, MemoryModel, ProcessorModel, SchedulerModel};

/// A machine with a coherent cache for each processor.
#[derive(Clone, Debug)]
pub struct CachedMachine {
    /// Name, summary and source.
    pub description: Description,
    /// Each processor.
    pub processor: ProcessorModel,
    /// Each processor's cache, unless the user gives another.
    pub cache: CacheShape,
    /// Each processor's instruction cache, if it has one of its own: `cache` is for data then.
    pub instructions: Option<CacheShape>,
    /// What connects processors and memory.
    pub interconnect: Interconnect,
    /// How processes are scheduled on processors.
    pub scheduler: SchedulerModel,
    /// Bytes in a page of memory.
    pub page_bytes: u64,
    /// The model of a kernel for traces without kernel references.
    pub kernel: Option<KernelModel>,
}

/// What connects processors and memory.
#[derive(Clone, Debug)]
pub enum Interconnect {
    /// A bus, on which all caches snoop.
    Bus(Bus),
    /// Links between the cores and memories of sockets.
    Links(LinkModel),
    /// A network of nodes, each of which has a directory of its part of memory.
    Directory(DirectoryMachine),
    /// A crossbar between nodes with controllers, each of which has a directory of its part of
    /// memory.
    Controllers(ControllerMachine),
}

impl CachedMachine {
    /// The machine of parts that files of all kinds have. Returns what is wrong with one of them.
    pub(crate) fn of(
        description: Description,
        processor: ProcessorModel,
        caches: &Caches,
        scheduler: SchedulerModel,
        memory: MemoryModel,
        interconnect: Interconnect,
    ) -> Result<Self, String> {
        Ok(Self {
            description,
            processor: processor.checked()?,
            cache: caches.data(),
            instructions: caches.instructions(),
            interconnect,
            scheduler: scheduler.checked()?,
            page_bytes: memory.checked()?.page_bytes,
            kernel: None,
        })
    }

    /// Name, as in the table or the file.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.description.name
    }

    /// Its bus, if it has one.
    #[must_use]
    pub fn bus(&self) -> Option<&Bus> {
        let Interconnect::Bus(found) = &self.interconnect else { return None };
        Some(found)
    }

    /// Its directory and network, if it has them and nodes without controllers.
    #[must_use]
    pub fn directory(&self) -> Option<&DirectoryMachine> {
        let Interconnect::Directory(found) = &self.interconnect else { return None };
        Some(found)
    }

    /// Its nodes with controllers, if it has them.
    #[must_use]
    pub fn controllers(&self) -> Option<&ControllerMachine> {
        let Interconnect::Controllers(found) = &self.interconnect else { return None };
        Some(found)
    }

    /// Its links at a block size, if it has links.
    #[must_use]
    pub fn links(&self, block_size_bytes: u64) -> Option<LinkModel> {
        let Interconnect::Links(found) = &self.interconnect else { return None };
        Some(found.with_block_size(block_size_bytes))
    }

    /// Its kind.
    #[must_use]
    pub fn kind(&self) -> MachineKind {
        match self.interconnect {
            Interconnect::Bus(_) => MachineKind::Bus,
            Interconnect::Links(_) => MachineKind::Multicore,
            Interconnect::Directory(_) => MachineKind::Directory,
            Interconnect::Controllers(_) => MachineKind::Controllers,
        }
    }

    /// The error where a machine of another kind is wanted; it says how to simulate this one.
    #[must_use]
    pub fn is_not(&self, wanted: MachineKind) -> MachineError {
        MachineError::OtherKind { machine: self.name().to_owned(), kind: self.kind(), wanted }
    }

    /// The cycles of each transaction at a block size, if the machine has a bus.
    ///
    /// # Errors
    /// When a transaction does not take a whole number of cycles.
    pub fn cycles(&self, block: BlockSize) -> Result<Option<BusCycles>, MachineError> {
        self.bus().map(|bus| bus.cycles(self.name(), block)).transpose()
    }
}
