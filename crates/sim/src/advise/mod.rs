//! What to align, pad, group, split and place, with the gain simulated.

mod config;
mod place;
mod point;
mod relaid;
mod report;
mod run;
mod search;
mod trial;

pub use config::AdviceConfig;
pub use report::{AdvicePoint, AdviceReport, AdviceRow, Side};
pub use run::advise;
