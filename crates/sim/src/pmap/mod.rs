//! The ACE page manager over a trace.

mod config;
mod outcome;
mod run;
mod totals;

pub use config::PmapConfig;
pub use outcome::{PmapActionRow, PmapPolicyRow, pmap_actions, pmap_policy_rows};
pub use outcome::{PmapPage, PmapReport};
pub use run::pmap;
