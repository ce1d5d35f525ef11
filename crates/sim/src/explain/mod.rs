//! Explanations of protocols: their tables, and a step-by-step walk through a few references.

mod bus;
mod config;
mod directory;
mod lists;
mod nodes;
mod outcome;
mod pages;
mod protocols;
mod references;
mod run;
mod subject;
mod synchronised;

pub use config::ExplainConfig;
pub use lists::ListWalk;
pub use outcome::{
    DirectoryExplanation, ExplainedDirectoryProtocol, ExplainedProtocol, Explanation,
    PagedExplanation, ProtocolExplanation, TraceExcerpt,
};
pub use run::explain;
pub use subject::{WalkedExample, explain_examples};
