//! SDD: a distributed directory, whose home knows the head of a list of copies.

mod because;
mod copy;
mod home;

use homenode_cache::walk::Example;

use crate::entry::FamilyProtocol;
use crate::linked::table::ListTable;
use copy::SddCopyState;
use home::ListHomeState;

/// Source: Talbot and Kelly, section 1.4 and table 1.1: the Stanford Distributed-Directory Protocol
/// of Thapar and Delagi (IEEE Computer 23(6), 1990), with a singly linked list of copies; a reader
/// is put at the head, a write goes down the list, and the last copy acknowledges. When a copy is
/// replaced, those behind it are invalidated. Proxies: section 1.3; figures 1.2 and 1.3.
///
/// # Deviations
/// Neither paper prints a table; what they leave open is ours. Home serves every request as it
/// comes, but for those that come while data of an owner are on their way to memory. A node that
/// home has made the owner lets forwarded requests wait until it is one. A pointer names a node and
/// the request by which it got its copy: so a node that has replaced a copy and has asked for the
/// block again knows whether an invalidation is of the old copy. A writer at the head of the
/// list needs no data; any other writer gets them anew. A proxy with a copy puts its client behind
/// itself in the list; one that cannot serve its client, or has no frame for a copy, has home serve
/// it. One that keeps no copies for clients asks home on behalf of its first client, which home
/// puts at the head of the list, and hands on what comes down the chain: the first client is ahead
/// of all others, whichever is the first to get the block. Its own processor waits for that, and
/// asks home then. Messages between two nodes may overtake each other.
pub(crate) const ENTRY: FamilyProtocol<ListTable> = FamilyProtocol {
    name: "sdd",
    summary: "Stanford distributed directory: a home knows the head of a list of copies; proxies",
    source: "Talbot and Kelly, sections 1.3 and 1.4; Thapar and Delagi 1990",
    params: &[],
    example: EXAMPLE,
    build: ListTable::of::<SddCopyState, ListHomeState>,
};

const EXAMPLE: Example = Example {
    name: "list-of-copies",
    summary: "A list grows at its head, and a write goes down it",
    about: "Nodes read a word, and each becomes the head of the list, ahead of the one before. \
            Node 0 writes: the list is invalidated from its head on, and the last copy \
            acknowledges. Then the owner answers a reader and memory gets the data back; the head \
            of the list writes without being sent data; and a copy in the middle is replaced, \
            which removes those behind it as well.",
    protocol: Some("sdd"),
    text: "1 R a0; 2 R a0; 3 R a0; 0 W a0; 1 R a0; 2 R a0; 2 W a0; 3 R a0; 1 R a0; 0 R a0; 1 R b0; \
           3 R a0",
};
