//! Findings about protocols.

use std::fmt;

use serde::Serialize;

/// A defect of a protocol. The names of the fields are a public contract (`docs/bus.md`);
/// each machine has its own kinds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ProtocolFinding<Kind> {
    /// Its kind.
    pub kind: Kind,
    /// Its description.
    pub message: String,
    /// The shortest sequence of events that shows it, in words; empty if no sequence does.
    pub steps: Vec<String>,
    /// Caches that the sequence needs.
    pub caches: usize,
}

/// A promise of a protocol that a step of its model breaks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BrokenPromise<Kind> {
    /// What kind of finding it is.
    pub kind: Kind,
    /// Its description.
    pub message: String,
}

impl<Kind> BrokenPromise<Kind> {
    /// A broken promise of this kind.
    #[must_use]
    pub fn new(kind: Kind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into() }
    }
}

impl<Kind> fmt::Display for ProtocolFinding<Kind> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.message)?;
        for (number, step) in self.steps.iter().enumerate() {
            write!(f, "\n  {}. {step}", number + 1)?;
        }
        Ok(())
    }
}
