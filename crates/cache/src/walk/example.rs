//! The example of a protocol: a few references that show how it works.

use homenode_base::Access;
use homenode_machine::CacheShape;
use serde::Serialize;

use super::written::{WrittenStep, written_steps};

/// A short sequence of references that shows how a protocol works. Each cache has room for one
/// block of 16 bytes, so that a reference to another block replaces it.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Example {
    /// Name on the command line.
    pub name: &'static str,
    /// Its title.
    pub summary: &'static str,
    /// A description of what happens.
    pub about: &'static str,
    /// The protocol that it demonstrates; `None` if it compares protocols.
    pub protocol: Option<&'static str>,
    /// Processor, kind and word of each reference; `p` marks a private area. `acq` and `rel` are
    /// acquires and releases, for protocols that act at these ([`written_steps`]).
    #[serde(skip)]
    pub text: &'static str,
}

impl Example {
    /// Each processor's cache.
    pub const CACHE: CacheShape =
        CacheShape { size_bytes: 16, block_size_bytes: 16, associativity: 1 };

    /// Its steps. Thread i runs on processor i.
    #[must_use]
    pub fn steps(&self) -> Vec<WrittenStep> {
        written_steps(self.text).unwrap_or_default()
    }

    /// The references among them.
    #[must_use]
    pub fn references(&self) -> Vec<Access> {
        self.steps().iter().filter_map(WrittenStep::access).copied().collect()
    }

    /// The number of processors that it needs.
    #[must_use]
    pub fn processors(&self) -> u16 {
        self.steps().iter().map(|step| step.thread() + 1).max().unwrap_or(1)
    }
}
