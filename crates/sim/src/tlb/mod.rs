//! Misses of TLBs, and their effect on the mean cost per reference.

mod config;
mod designs;
mod outcome;
mod plan;
mod run;

pub use config::{McprCorrection, TlbConfig};
pub use designs::{TlbRow, tlb_rows};
pub use outcome::{CorrectedMcpr, TlbOutcome, TlbProvenance, TlbReport};
pub use run::tlb_misses;
