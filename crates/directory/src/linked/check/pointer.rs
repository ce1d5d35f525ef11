//! Pointers to copies, and the renumbering of requests that keeps the number of states small.

use super::situation::ListNode;
use crate::finding::NODES_MAX;

/// A copy, perhaps in flight: its node, and the request that fetches it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Pointer {
    pub(super) node: u8,
    pub(super) tag: u8,
}

/// A copy that the node no longer has, or no copy at all.
const STALE: u8 = 0;
const COPY: u8 = 1;
pub(super) const REQUEST: u8 = 2;
/// The first of the node's former copies that the home may still receive messages about.
const FORMER: u8 = 3;

impl Pointer {
    /// A node, regardless of its copy.
    pub(super) fn to_node(node: u8) -> Self {
        Self { node, tag: STALE }
    }

    /// As a number, with this number for the node.
    pub(super) fn code(self, node: u8) -> u32 {
        1 + u32::from(node) * 8 + u32::from(self.tag)
    }
}

/// New numbers for old ones.
pub(super) struct Tags {
    copies: [Option<u8>; NODES_MAX],
    requests: [Option<u8>; NODES_MAX],
    former: [Vec<u8>; NODES_MAX],
}

impl Tags {
    /// Gives the nodes' copies and requests their new numbers.
    pub(super) fn new(nodes: &mut [ListNode; NODES_MAX]) -> Self {
        let tags = Self {
            copies: nodes.map(|node| node.copy),
            requests: nodes.map(|node| node.request),
            former: Default::default(),
        };
        for node in nodes {
            node.copy = node.copy.map(|_| COPY);
            node.request = node.request.map(|_| REQUEST);
        }
        tags
    }

    /// A pointer used to invalidate a copy: former copies need not be distinguished.
    pub(super) fn named(&self, pointer: Pointer) -> Pointer {
        let at = usize::from(pointer.node);
        let tag = Some(pointer.tag);
        let tag = if tag == self.copies[at] {
            COPY
        } else if tag == self.requests[at] {
            REQUEST
        } else {
            STALE
        };
        Pointer { tag, ..pointer }
    }

    /// A pointer that home compares with others.
    pub(super) fn name_at_home(&mut self, pointer: &mut Option<Pointer>) {
        let Some(pointer) = pointer else { return };
        let named = self.named(*pointer);
        if named.tag != STALE {
            *pointer = named;
            return;
        }
        let former = &mut self.former[usize::from(pointer.node)];
        let at = former.iter().position(|&tag| tag == pointer.tag).unwrap_or_else(|| {
            former.push(pointer.tag);
            former.len() - 1
        });
        pointer.tag = FORMER.saturating_add(u8::try_from(at).unwrap_or(u8::MAX));
    }
}
