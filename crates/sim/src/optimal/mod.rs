//! The off-line optimum in detail: moves by block, the placement, its certificate, and the curve of
//! its cost against one price.

mod certified;
mod config;
mod curve;
mod found;
mod moves;
mod placement;
mod report;
mod run;
mod walk;

pub use certified::CertificateSummary;
pub use config::OptimalConfig;
pub use moves::{MoveBin, MoveHistogram};
pub use placement::{PlacementFormat, PlacementOutput};
pub use report::{CurvePiece, CurveReport, OptimalReport, OptimalRow};
pub use run::optimal;
