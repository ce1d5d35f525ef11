//! Protocols explained: their tables, and a walk through a few references, step by step.

mod config;
mod outcome;
mod references;
mod run;

pub use config::ExplainConfig;
pub use outcome::{ExplainedProtocol, Explanation, TraceExcerpt};
pub use run::{explain, explain_examples};
