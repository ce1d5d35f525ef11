//! Machine models: prices of references and block moves, read from `machines/*.toml`.
//!
//! A machine is data: parameters, and linear forms of them and the block size. These are either
//! four prices (r, R, g, G of Bolosky §4.1.1) or the latencies and packets of page-coherence events
//! (Markatos and Chronaki, table 1). [`TABLE`] lists the machines that come with the program;
//! [`Machine::parse`] also reads prices in place and users' files. Prices are exact integers after
//! scaling by a power of ten (see [`Prices`]).
//!
//! Invariant: nothing in here knows a policy or a trace.

mod breakdown;
mod coherence;
mod decimal;
mod file;
mod linear;
mod model;
mod prices;
mod table;

pub use breakdown::{Breakdown, PriceParts};
pub use coherence::{EventPrices, Model, PriceList};
pub use model::{Machine, MachineError};
pub use prices::{Prices, Violation};
pub use table::{Preset, TABLE};
