//! The example of a protocol: a few references that show what it is about.

use homenode_base::Access;
use homenode_machine::CacheShape;
use serde::Serialize;

use super::written::written_references;

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
    /// Processor, kind and word of each reference; `p` marks a private area
    /// ([`written_references`]).
    #[serde(skip)]
    pub text: &'static str,
}

impl Example {
    /// Each processor's cache.
    pub const CACHE: CacheShape =
        CacheShape { size_bytes: 16, block_size_bytes: 16, associativity: 1 };

    /// The references. Thread i is meant to run on processor i.
    #[must_use]
    pub fn references(&self) -> Vec<Access> {
        written_references(self.text).unwrap_or_default()
    }

    /// Processors that it needs.
    #[must_use]
    pub fn processors(&self) -> u16 {
        self.references().iter().map(|access| access.thread + 1).max().unwrap_or(1)
    }
}
