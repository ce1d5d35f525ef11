//! What coherence protocols share, whatever machine they are for: names and meanings of what their
//! tables consist of ([`TableLabel`]), the table as it is printed ([`Sheet`]), how users write a
//! protocol and its parameters ([`ProtocolSetting`]), and the search through everything that can
//! happen ([`Search`]).
//!
//! What a protocol's table says is not here: over an atomic bus a cell is one action, in a
//! directory it has messages and transient states. Each engine brings its vocabulary and its
//! [`ProtocolModel`].
#![forbid(unsafe_code)]

mod finding;
mod label;
mod parameters;
mod search;
mod sheet;

pub use finding::ProtocolFinding;
pub use label::{Labelled, TableLabel, labels};
pub use parameters::{
    ListedProtocol, ProtocolError, ProtocolParameter, ProtocolSetting, ValueRange,
};
pub use search::{Broken, ProtocolModel, Search};
pub use sheet::{Sheet, SheetState};
