//! Variables on a thread's stack that other threads use, as objects of their own: those that the
//! trace names, and unnamed ones elsewhere on stacks.

use std::collections::BTreeMap;

use crate::identity::{Object, ObjectKind};
use crate::objects::{Names, numbered};
use crate::segments::ObjectSegment;
use crate::source::SourceSite;

/// Neighbouring variables without names on a thread's stack that other threads use: an array with a
/// place for each thread, or variables that a parallel region or a lambda captures by reference.
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
    /// Makes objects of the variables on stacks that have names. Those of one declaration are one.
    pub(crate) fn add_locals(&mut self) {
        let metadata = self.metadata;
        let mut known: BTreeMap<String, usize> = BTreeMap::new();
        for local in &metadata.locals {
            let last = local.end().saturating_sub(1);
            let Some(at) = self.stack_segment(local.start, last) else { continue };
            let layout = numbered(&metadata.layouts, local.layout);
            let object = Object {
                declared_at: Some(SourceSite::of_frame(&local.declared)),
                type_name: layout.map_or("", |of| &of.name).to_owned(),
                ..Object::named(ObjectKind::StackVariable, local.name.clone())
            };
            let group = *known.entry(object.label()).or_insert_with(|| self.add_object(object));
            let (first, layout) = (local.start, (local.layout, 0));
            self.divide(at, ObjectSegment { first, last, group, start: first, layout });
        }
    }

    /// The bytes around an address on a stack that belong to no variable with a name: the first and
    /// the last.
    #[must_use]
    pub fn unnamed_on_stack(&self, addr: u64) -> Option<(u64, u64)> {
        let segment = self.segments()[self.stack_segment(addr, addr)?];
        Some((segment.first, segment.last))
    }

    /// The place of the segment of a stack that has all these bytes.
    fn stack_segment(&self, first: u64, last: u64) -> Option<usize> {
        let after = self.segments().partition_point(|segment| segment.first <= first);
        let segment =
            self.segments()[..after].last().filter(|s| first <= last && last <= s.last)?;
        let is_stack = self.object_of(segment.group).kind == ObjectKind::Stack;
        is_stack.then_some(after - 1)
    }

    /// Makes objects of variables, which were parts of stacks. Those used at one place are one
    /// object.
    pub fn add_stack_variables(&mut self, variables: Vec<StackVariable>) {
        let mut known: BTreeMap<String, usize> = BTreeMap::new();
        for StackVariable { first, last, used_at } in variables {
            let Some(at) = self.stack_segment(first, last) else { continue };
            let name = self.object_of(self.segments()[at].group).name.clone();
            let object = Object { used_at, ..Object::named(ObjectKind::StackVariable, name) };
            let group = *known.entry(object.label()).or_insert_with(|| self.add_object(object));
            self.divide(at, ObjectSegment { first, last, group, start: first, layout: (0, 0) });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use homenode_trace::{
        AddressRange, CallFrame, LocalRange, Metadata, RangeKind, TypeField, TypeLayout,
    };

    #[test]
    fn a_variable_is_cut_out_of_its_stack() {
        let range =
            AddressRange { thread: 3, ..AddressRange::new(RangeKind::Stack, 1000, 1000, "") };
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
        assert_eq!(label(2000), "", "bytes beyond the stack are not its variable");
    }

    #[test]
    fn variables_with_names_have_fields() {
        let stack = |start, thread| AddressRange {
            thread,
            ..AddressRange::new(RangeKind::Stack, start, 1000, "")
        };
        let local = |start, size, name: &str| LocalRange {
            start,
            size,
            name: name.to_owned(),
            declared: CallFrame {
                function: "main".to_owned(),
                file: "/src/pool.c".to_owned(),
                line: 31,
            },
            layout: 1,
        };
        let field = TypeField { size: 8, name: "jobs".to_owned(), ..TypeField::default() };
        let pool = TypeLayout { name: "Pool".to_owned(), size: 64, fields: vec![field] };
        let data = Metadata {
            ranges: vec![stack(1000, 0), stack(4000, 2)],
            locals: vec![
                local(1100, 64, "p"),
                local(1164, 64, "q"),
                local(1990, 64, "beyond"),
                local(3000, 8, "elsewhere"),
                local(4100, 64, "p"),
            ],
            layouts: vec![pool],
            ..Metadata::default()
        };
        let names = Names::new(&data);
        let label = |addr| names.object_of(names.group(addr)).label();
        assert_eq!([1100, 1163, 4100].map(label), ["local p, pool.c:31 (main): Pool"; 3]);
        assert_eq!(label(1164), "local q, pool.c:31 (main): Pool");
        assert_eq!([1099, 1228, 1990].map(label), ["stack of thread 0"; 3]);
        assert_eq!((label(3000), label(4164)), (String::new(), "stack of thread 2".to_owned()));
        assert_eq!(names.bytes_of(names.group(1100)), 128);
        assert_eq!(names.field_of(1164).as_deref(), Some("Pool::jobs"));
    }
}
