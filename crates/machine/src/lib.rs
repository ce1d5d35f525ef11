//! Machine models: prices of references and block moves, read from `machines/*.toml`.
//!
//! A machine is data: parameters, and four prices (r, R, g, G of Bolosky §4.1.1) as linear forms of
//! the parameters and the block size. [`TABLE`] lists the machines that come with the program;
//! [`Machine::parse`] also reads prices in place and users' files. Prices are exact integers after
//! scaling by a power of ten (see [`Prices`]).
//!
//! Invariant: nothing in here knows a policy or a trace.

mod decimal;
mod file;
mod model;
mod prices;
mod table;

pub use model::{Machine, MachineError};
pub use prices::{Prices, Violation};
pub use table::{Preset, TABLE};
