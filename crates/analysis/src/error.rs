//! Errors of analyses.

use homenode_trace::TraceError;

/// Why an analysis ended early.
#[derive(Debug, thiserror::Error)]
pub enum AnalysisError {
    /// The trace cannot be read.
    #[error(transparent)]
    Trace(#[from] TraceError),
    /// The progress callback asked to stop.
    #[error("interrupted")]
    Interrupted,
}
