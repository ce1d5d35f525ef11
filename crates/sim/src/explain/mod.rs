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

pub use config::ExplainConfig;
pub use outcome::{
    DirectoryExplanation, ExplainedProtocol, Explanation, ListWalk, PagedExplanation,
    ProtocolExplanation,
};
pub use run::explain;
pub use subject::explain_examples;
