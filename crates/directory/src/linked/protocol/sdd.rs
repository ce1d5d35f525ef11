//! SDD: a distributed directory, whose home has a pointer to the head of a list of copies.

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
/// Neither paper prints a table; the details they leave open are ours. Home serves requests in
/// order of arrival, except while an owner's data are in flight to memory. A new owner holds
/// forwarded requests until its data arrive. A pointer names a node and the request that brought
/// its copy, so that a node that replaced a copy and requested the block again can tell whether an
/// invalidation is for the old copy. A writer at the head of the list needs no data; any other
/// writer is sent them. A proxy with a copy inserts its client behind itself in the list; one that
/// cannot serve its client, or has no frame for a copy, forwards the request to home. A proxy that
/// keeps no copies for clients sends a request to home on behalf of its first client, which home
/// puts at the head of the list, and forwards the data along the chain of its clients: the first
/// client precedes all others in the list, whichever receives the block first. The proxy's own
/// processor waits until then before it sends its request to home. Messages between two nodes may
/// overtake each other.
pub(crate) const ENTRY: FamilyProtocol<ListTable> = FamilyProtocol {
    name: "sdd",
    summary: "Stanford distributed directory: home points to the head of a list of copies; proxies",
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
