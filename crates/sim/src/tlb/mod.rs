//! Misses of TLBs, and their effect on the mean cost per reference.

mod config;
mod outcome;
mod plan;
mod run;

pub use config::tlb_rows;
pub use config::{McprCorrection, TlbConfig};
pub use outcome::{TlbOutcome, TlbReport};
pub use run::tlb_misses;
