//! Errors of transforms.

use homenode_trace::TraceError;

/// Why a transform failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TransformError {
    /// No such transform.
    #[error("unknown transform {name:?}; known: {known}")]
    Unknown {
        /// The name.
        name: String,
        /// The known names.
        known: String,
    },
    /// An unknown, missing or invalid parameter.
    #[error("transform {transform}: {problem}")]
    Parameter {
        /// The transform.
        transform: &'static str,
        /// The fault, and the expected form.
        problem: String,
    },
    /// A trace that cannot be read or written.
    #[error(transparent)]
    Trace(#[from] TraceError),
}
