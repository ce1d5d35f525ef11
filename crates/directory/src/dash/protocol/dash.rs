//! DASH: a directory at each block's home, invalidations by the home, data straight from an owner.

mod because;
mod cache;
mod home;

use homenode_cache::walk::Example;
use homenode_protocol::{ProtocolParameter, ValueRange};

use crate::dash::table::DirectoryTable;
use crate::entry::FamilyProtocol;
use cache::CacheState;
use home::HomeState;

/// Source: Marchetti, Kontothanassis, Bianchini and Scott 1995, section 3.1: the directory-based
/// write-invalidate protocol of the Stanford DASH machine; invalidations are sent at the time of
/// a write, acknowledgements awaited at a release. The paper prints no table. States of a copy are
/// three, clean blocks are replaced silently.
///
/// # Deviations
/// Choices where the paper is silent: a home with a transaction in progress lets later requests
/// wait. An owner that has not yet received its data, waits for acknowledgements, or has replaced
/// the block refuses forwarded requests; the home then answers itself, if the block was written
/// back meanwhile, or forwards again.
pub(crate) const ENTRY: FamilyProtocol<DirectoryTable> = FamilyProtocol {
    name: "dash",
    summary: "DASH: a directory at each block's home; a write invalidates all other copies",
    source: "Marchetti et al. 1995, section 3.1",
    params: &[ProtocolParameter {
        name: "pointers",
        doc: "nodes that the directory lists; if more have copies, a write invalidates all nodes. \
              Default: all nodes",
        values: ValueRange::Number { from: 1, to: 1024 },
    }],
    example: Example {
        name: "three-hops",
        summary: "Who answers a miss, and in how many hops",
        about: "All blocks lie on one page, whose home is node 0 where it is referenced first. \
                Nodes read a word that memory has, and node 3 writes it: the listed nodes have to \
                give up their copies. Then a node that owns the block answers, to node 1 that \
                reads and to node 2 that writes, in three hops by way of the home; to the home \
                itself in two. At last node 1 needs its frame and writes the block back.",
        protocol: Some("dash"),
        text: "0 R a0; 1 R a0; 1 R a0; 2 R a0; 3 W a0; 1 R a0; 1 W a0; 2 W a1; 0 R a1; 0 W a0; \
               1 R a0; 1 W a0; 1 R b0; 0 R a0",
    },
    build: || DirectoryTable::of::<_, HomeState>(CacheState::role),
};
