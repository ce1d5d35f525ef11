//! The shape of a mesh: positions of nodes, and routes of messages.

/// Directions in which a node has a link, in the order of their numbers.
const DIRECTIONS: usize = 4;

/// A mesh with two dimensions, as near to a square as the number of nodes allows: node i is in
/// column i modulo the number of columns. Messages take their row first, then the column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MeshShape {
    columns: u16,
}

impl MeshShape {
    /// The mesh of `nodes` nodes: 64 are eight by eight.
    ///
    /// ```
    /// use homenode_directory::MeshShape;
    /// let mesh = MeshShape::new(64);
    /// assert_eq!((mesh.hops(0, 7), mesh.hops(0, 63), mesh.hops(9, 9)), (7, 14, 0));
    /// ```
    #[must_use]
    pub fn new(nodes: u16) -> Self {
        let columns = (1..=nodes).find(|&side| u32::from(side).pow(2) >= u32::from(nodes));
        Self { columns: columns.unwrap_or(1) }
    }

    fn place(self, node: u16) -> (u16, u16) {
        (node % self.columns, node / self.columns)
    }

    /// Links from one node to another.
    #[must_use]
    pub fn hops(self, from: u16, to: u16) -> u64 {
        let ((from_x, from_y), (to_x, to_y)) = (self.place(from), self.place(to));
        u64::from(from_x.abs_diff(to_x)) + u64::from(from_y.abs_diff(to_y))
    }

    /// Size of an array indexed by link number.
    pub(crate) fn links(self, nodes: u16) -> usize {
        usize::from(nodes.next_multiple_of(self.columns)) * DIRECTIONS
    }

    /// The numbers of the links from one node to another, in order of traversal.
    pub(crate) fn route(self, from: u16, to: u16) -> impl Iterator<Item = usize> {
        let (mut at, goal) = (self.place(from), self.place(to));
        std::iter::from_fn(move || {
            let node = usize::from(at.1 * self.columns + at.0);
            let direction = match (at.0.cmp(&goal.0), at.1.cmp(&goal.1)) {
                (std::cmp::Ordering::Less, _) => {
                    at.0 += 1;
                    0
                }
                (std::cmp::Ordering::Greater, _) => {
                    at.0 -= 1;
                    1
                }
                (_, std::cmp::Ordering::Less) => {
                    at.1 += 1;
                    2
                }
                (_, std::cmp::Ordering::Greater) => {
                    at.1 -= 1;
                    3
                }
                (std::cmp::Ordering::Equal, std::cmp::Ordering::Equal) => return None,
            };
            Some(node * DIRECTIONS + direction)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_route_has_a_link_for_each_hop_and_takes_the_row_first() {
        let mesh = MeshShape::new(12);
        for (from, to) in (0..12).flat_map(|from| (0..12).map(move |to| (from, to))) {
            assert_eq!(mesh.route(from, to).count() as u64, mesh.hops(from, to));
            assert!(mesh.route(from, to).all(|link| link < mesh.links(12)));
        }
        // Four columns: from (0, 0) to (2, 1) by nodes 0, 1, 2.
        assert_eq!(mesh.route(0, 6).collect::<Vec<_>>(), [0, 4, 4 * 2 + 2]);
        assert_eq!(mesh.route(6, 0).collect::<Vec<_>>(), [6 * 4 + 1, 5 * 4 + 1, 4 * 4 + 3]);
    }
}
