//! Variables on a thread's stack that other threads use, as objects of their own.

use std::collections::BTreeMap;

use crate::identity::{Object, ObjectKind};
use crate::objects::Names;
use crate::segments::ObjectSegment;
use crate::source::SourceSite;

/// Neighbouring variables on a thread's stack that other threads use: an array with a place for
/// each thread, what a parallel region or a lambda has by reference.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StackVariable {
    /// The first byte.
    pub first: u64,
    /// The last.
    pub last: u64,
    /// Where other threads use it most.
    pub used_at: Option<SourceSite>,
}

impl Names<'_> {
    /// Makes variables objects, which were parts of stacks. Those used at one place are one object.
    pub fn add_stack_variables(&mut self, variables: Vec<StackVariable>) {
        let mut known: BTreeMap<String, usize> = BTreeMap::new();
        for StackVariable { first, last, used_at } in variables {
            let Some(at) = self.segments().iter().position(|s| s.first <= first && last <= s.last)
            else {
                continue;
            };
            let whole = self.segments()[at];
            let stack = self.object_of(whole.group);
            if stack.kind != ObjectKind::Stack {
                continue;
            }
            let name = stack.name.clone();
            let object = Object { used_at, ..Object::named(ObjectKind::StackVariable, name) };
            let group = *known.entry(object.label()).or_insert_with(|| self.add_object(object));
            self.divide(at, ObjectSegment { first, last, group, start: first, layout: (0, 0) });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use homenode_trace::{AddressRange, Metadata, RangeKind};

    #[test]
    fn a_variable_is_cut_out_of_its_stack() {
        let range = AddressRange {
            start: 1000,
            size: 1000,
            kind: RangeKind::Stack,
            thread: 3,
            ..AddressRange::default()
        };
        let data = Metadata { ranges: vec![range], ..Metadata::default() };
        let mut names = Names::new(&data);
        let used_at = Some(SourceSite {
            function: "sum(int)".into(),
            file: "/src/sum.c".into(),
            line: 9,
            pc: 0,
        });
        let variable = |first, last, used_at| StackVariable { first, last, used_at };
        names.add_stack_variables(vec![
            variable(1100, 1163, used_at.clone()),
            variable(1990, 2001, None),
            variable(1992, 1999, used_at),
        ]);
        let label = |addr| names.object_of(names.group(addr)).label();
        assert_eq!([1099, 1164, 1991].map(label), ["stack of thread 3"; 3]);
        let variable = "stack of thread 3, used at sum.c:9 (sum)";
        assert_eq!([1100, 1163, 1992, 1999].map(label), [variable; 4]);
        assert_eq!(names.bytes_of(names.group(1100)), 72);
        assert_eq!(label(2000), "", "what reaches beyond the stack is none of its variables");
    }
}
