//! Machine models: prices of references and block moves, read from `machines/*.toml`.
//!
//! A machine is data: parameters, and linear forms of them and the block size. These are either
//! four prices (r, R, g, G of Bolosky §4.1.1) or the latencies and packets of page-coherence events
//! (Markatos and Chronaki, table 1). [`TABLE`] lists the machines that come with the program;
//! [`Machine::parse`] also reads prices in place and users' files. A [`BusMachine`] is data of
//! another kind: processors, caches, a bus and the cycles of its transactions (Foglia, Giorgi and
//! Prete 2004, table 4). Prices are exact integers after scaling by a power of ten (see
//! [`Prices`]).
//!
//! Invariant: nothing in here knows a policy or a trace.

mod breakdown;
mod bus;
mod coherence;
mod decimal;
mod file;
mod kernel;
mod linear;
mod model;
mod prices;
mod table;

pub use breakdown::{Breakdown, PriceParts};
pub use bus::{
    Arbitration, Bus, BusCycles, BusMachine, CacheShape, Dispatch, Processor, Scheduler,
};
pub use coherence::{EventPrices, Model, PriceList};
pub use kernel::KernelModel;
pub use model::{Machine, MachineError};
pub use prices::{Prices, Violation};
pub use table::{BUS_TABLE, Preset, TABLE};
