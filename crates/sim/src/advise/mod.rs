//! Advice to align, pad, group, split and place data, with the savings simulated.

mod applier;
mod config;
mod evaluator;
mod place;
mod report;
mod run;
mod search;
mod trial;

pub use config::AdviceConfig;
pub use report::{AdvicePoint, AdviceReport, AdviceRow, LayoutCost};
pub use run::advise;
