//! Explanations of protocols: their tables, and a step-by-step walk through a few references.

mod bus;
mod config;
mod directory;
mod nodes;
mod outcome;
mod protocols;
mod references;
mod run;
mod subject;
mod synchronised;

pub use config::ExplainConfig;
pub use outcome::{
    DirectoryExplanation, ExplainedDirectoryProtocol, ExplainedProtocol, Explanation, ListWalk,
    PagedExplanation, ProtocolExplanation, TraceExcerpt,
};
pub use run::explain;
pub use subject::{WalkedExample, explain_examples};
