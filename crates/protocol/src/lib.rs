//! The parts of coherence protocols that do not depend on the machine: names and meanings of the
//! values in tables ([`TableLabel`]), the notation of a protocol and its parameters
//! ([`ProtocolSetting`]), and the exhaustive search of a model ([`Search`]).
//!
//! The contents of tables are in the engines: over an atomic bus a cell is one action, in a
//! directory it has messages and transient states. Each engine has its vocabulary and its
//! [`ProtocolModel`].
#![forbid(unsafe_code)]

mod finding;
mod label;
mod parameters;
mod search;

pub use finding::{BrokenPromise, ProtocolFinding};
pub use label::{Labelled, TableLabel, labels};
pub use parameters::{
    ListedProtocol, ProtocolError, ProtocolParameter, ProtocolSetting, ValueRange,
};
pub use search::{Broken, ProtocolModel, Search};
