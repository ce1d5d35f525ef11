//! Protocols as their files list them.

use homenode_cache::walk::Example;
use homenode_protocol::ProtocolParameter;

/// A protocol of one family, with its table of type `T`; see [`crate::Entry`].
pub(crate) struct FamilyProtocol<T> {
    pub(crate) name: &'static str,
    pub(crate) summary: &'static str,
    pub(crate) source: &'static str,
    pub(crate) params: &'static [ProtocolParameter],
    pub(crate) example: Example,
    pub(crate) build: fn() -> T,
}
