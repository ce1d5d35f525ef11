//! Misses of TLBs, and their effect on the mean cost per reference.

mod config;
mod outcome;
mod plan;
mod run;

pub use config::{McprCorrection, TlbConfig};
pub use config::{TlbRow, tlb_rows};
pub use outcome::{CorrectedMcpr, TlbOutcome, TlbProvenance, TlbReport};
pub use run::tlb_misses;
