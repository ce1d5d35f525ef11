//! Processor time by cause and data structure on a machine with a clock: waits for cache lines.
//! Results do not depend on the interleaving of the recording.

mod config;
mod findings;
mod layouts;
mod outcome;
mod replay;
mod run;
mod stack_variables;

pub use config::LineConfig;
pub use findings::LineFinding;
pub(crate) use findings::findings as line_findings;
pub(crate) use layouts::LayoutVariant;
pub(crate) use outcome::objects as line_objects;
pub use outcome::{LineObject, LineProvenance, LineTime};
pub(crate) use replay::{LineReplay, LineResult};
pub use run::line_waits;
pub(crate) use run::{survey_beside, survey_uses};
pub(crate) use stack_variables::name_stack_variables;
