//! Why no trace can be made.

use std::path::PathBuf;

use homenode_trace::TraceError;

/// Why no trace can be made of statistics.
#[derive(Debug, thiserror::Error)]
pub enum ServersError {
    /// No such name among the presets.
    #[error("there are no statistics {name:?}: expected a TOML file, or one of {known}")]
    Unknown {
        /// What was asked for.
        name: String,
        /// The names in the table.
        known: String,
    },
    /// The file cannot be read.
    #[error("statistics {}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The file is not TOML, or has keys that mean nothing.
    #[error("statistics {origin}, line {line}: {problem}")]
    File {
        /// The file, or the name in the table.
        origin: String,
        /// The line, counted from 1.
        line: usize,
        /// What is wrong, and what is expected.
        problem: String,
    },
    /// Values that no trace can have.
    #[error("statistics {origin}: {key} = {value}: {problem}; {remedy}")]
    Impossible {
        /// The file, or the name in the table.
        origin: String,
        /// The key, with its table or group.
        key: String,
        /// Its value.
        value: String,
        /// Why it is impossible.
        problem: String,
        /// What to change.
        remedy: String,
    },
    /// The trace cannot be written.
    #[error(transparent)]
    Trace(#[from] TraceError),
}
