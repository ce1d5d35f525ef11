//! Protocols explained: their tables, and a walk through a few references, step by step.

mod bus;
mod config;
mod directory;
mod outcome;
mod protocols;
mod references;
mod run;
mod subject;

pub use config::ExplainConfig;
pub use outcome::{
    DirectoryExplanation, ExplainedDirectoryProtocol, ExplainedProtocol, Explanation,
    ProtocolExplanation, TraceExcerpt,
};
pub use run::explain;
pub use subject::{WalkedExample, explain_examples};
