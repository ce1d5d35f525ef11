//! Importers and exporters of the trace formats of other tools.
#![forbid(unsafe_code)]

pub mod export;
pub mod import;
