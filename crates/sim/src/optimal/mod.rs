//! The off-line optimum in detail: moves by block, the placement, its certificate, and the curve of
//! its cost against one price.

mod config;
mod findings;
mod placement;
mod report;
mod run;
mod walk;

pub use config::OptimalConfig;
pub use placement::{PlacementFormat, PlacementOutput};
pub use report::{OptimalReport, OptimalRow};
pub use run::optimal;
