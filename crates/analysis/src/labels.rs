//! Labels of address ranges, from the names of the objects in them.

use homenode_trace::Metadata;

use crate::objects::Names;

/// For each range, given by its first and last address, the labels of the named objects in it, in
/// order of address.
#[must_use]
pub fn labels(metadata: &Metadata, ranges: &[(u64, u64)]) -> Vec<Vec<String>> {
    let names = Names::new(metadata);
    let label = |group: usize| names.object_of(group).label();
    let of = |&(first, last): &(u64, u64)| names.groups(first, last).into_iter().map(label);
    ranges.iter().map(|range| of(range).collect()).collect()
}

#[cfg(test)]
mod tests {
    use homenode_trace::{AddressRange, RangeKind};

    use super::*;

    #[test]
    fn objects_are_named_once_and_in_order() {
        let range = |start, name| AddressRange::new(RangeKind::Static, start, 16, name);
        let ranges = vec![range(64, "b"), range(16, "a"), range(200, "c")];
        let metadata = Metadata { ranges, ..Metadata::default() };
        let found = labels(&metadata, &[(0, 127), (31, 63), (32, 63), (70, 255)]);
        assert_eq!(found, [vec!["a", "b"], vec!["a"], vec![], vec!["b", "c"]]);
    }
}
