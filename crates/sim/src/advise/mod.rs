//! Advice to align, pad, group, split and place data, with the savings simulated.

mod attribution;
mod bytes;
mod config;
mod evaluator;
mod followers;
mod hot_lines;
mod line_search;
mod lines;
mod place;
mod repeats;
mod replicate;
mod report;
mod run;
mod search;
mod trial;
mod untried;

pub use config::AdviceConfig;
pub use report::{AdvicePoint, AdviceProvenance, AdviceReport};
pub use run::advise;
