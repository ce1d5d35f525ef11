//! Machine models, read from `machines/*.toml`.
//!
//! A machine is data, of one of the [`KINDS`]. A [`PricedMachine`] has parameters, and linear forms
//! of them and the block size: either four prices (r, R, g, G of Bolosky §4.1.1) or the latencies
//! and packets of page-coherence events (Markatos and Chronaki, table 1); they are exact integers
//! after scaling by a power of ten (see [`Prices`]). A [`CachedMachine`] has processors, caches,
//! and an interconnect: a bus and the cycles of its transactions (Foglia, Giorgi and Prete 2004,
//! table 4), links between the cores of sockets, or a network of nodes with a directory each
//! (Marchetti et al. 1995, table 1), which may have controllers that serve one request at a time
//! (Talbot and Kelly, tables 1.1 and 1.2). [`TABLE`] lists the machines that come with the program;
//! [`Machine::parse`] also reads prices in place and users' files.
//!
//! `file.rs` reads a file's kind and base, once for all kinds; the file of its kind reads its other
//! keys. Parts that several kinds have, such as processors and caches, are in `parts/`.
//!
//! Invariant: this crate depends on no policy and no trace.

mod bus;
mod cached;
mod controller;
mod decimal;
mod directory;
mod error;
mod file;
mod kind;
mod linear;
mod machine;
mod multicore;
mod parts;
mod plain;
mod priced;
mod prices;
mod table;
mod topology;

pub use bus::{Arbitration, Bus, BusCycles, BusModel};
pub use cached::{CachedMachine, Interconnect};
pub use controller::{BusyStore, ControllerMachine, ControllerModel, CrossbarModel};
pub use directory::{DirectoryMachine, MeshModel, NetworkContention, PagingModel};
pub use error::MachineError;
pub use file::Description;
pub use kind::{KINDS, KindEntry, MachineKind};
pub use machine::Machine;
pub use multicore::{LinkLatencies, LinkModel};
pub use parts::{AgingUnit, CacheShape, Dispatch, KernelModel, ProcessorModel, SchedulerModel};
pub use plain::PlainMachine;
pub use priced::{Breakdown, EventPrices, PriceList, PriceModel, PriceParts, PricedMachine};
pub use prices::{Prices, Violation};
pub use table::{Preset, TABLE};
pub use topology::{LastLevelModel, MemoryTopology, SharedMemories};
