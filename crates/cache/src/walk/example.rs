//! The example of a protocol: a few references that show what it is about.

use homenode_base::Access;
use homenode_machine::CacheShape;
use serde::Serialize;

use super::written::{WrittenStep, written_steps};

/// A short sequence of references that shows what a protocol is about. Each cache has room for one
/// block of 16 bytes, so that a reference to the other block replaces.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Example {
    /// Name on the command line.
    pub name: &'static str,
    /// What it shows, as a title.
    pub summary: &'static str,
    /// What happens in it.
    pub about: &'static str,
    /// The protocol that it is made for, if it is made for one.
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

    /// The steps. Thread i is meant to run on processor i.
    #[must_use]
    pub fn steps(&self) -> Vec<WrittenStep> {
        written_steps(self.text).unwrap_or_default()
    }

    /// The references among them.
    #[must_use]
    pub fn references(&self) -> Vec<Access> {
        self.steps().iter().filter_map(WrittenStep::access).copied().collect()
    }

    /// Processors that it needs.
    #[must_use]
    pub fn processors(&self) -> u16 {
        self.steps().iter().map(|step| step.thread() + 1).max().unwrap_or(1)
    }
}
