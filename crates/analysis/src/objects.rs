//! The program's objects: the object at an address, and which ranges make up one object.

use std::collections::{BTreeMap, BTreeSet};

use homenode_trace::{AddressRange, AllocationStack, Metadata, MovedRange, RangeKind};

use crate::fields::field_at;
use crate::identity::{Object, ObjectKind};
use crate::segments::{ObjectSegment, segments};
use crate::source::SourceSite;

pub(crate) const UNKNOWN: usize = 0;

/// The names that several static objects have, as those of several files may.
fn repeated(ranges: &[AddressRange]) -> BTreeSet<&str> {
    let mut first: BTreeMap<&str, u64> = BTreeMap::new();
    let mut several = BTreeSet::new();
    for range in ranges.iter().filter(|range| range.kind == RangeKind::Static) {
        if *first.entry(&range.name).or_insert(range.start) != range.start {
            several.insert(range.name.as_str());
        }
    }
    several
}

/// The entry of a list that is counted from 1, as in the metadata.
pub(crate) fn numbered<T>(list: &[T], number: u32) -> Option<&T> {
    list.get(usize::try_from(number.checked_sub(1)?).ok()?)
}

/// The names of a trace, indexed by address.
///
/// Where ranges overlap, the one that begins last wins (a heap block within a mapping), and of
/// several that begin together the one listed last (memory that was freed and allocated again).
pub struct Names<'a> {
    segments: Vec<ObjectSegment>,
    objects: Vec<Object>,
    bytes: Vec<u64>,
    stacks: Vec<BTreeMap<u32, u64>>,
    pub(crate) metadata: &'a Metadata,
}

impl<'a> Names<'a> {
    /// The names in a trace's metadata.
    #[must_use]
    pub fn new(metadata: &'a Metadata) -> Self {
        let mut names = Self {
            segments: Vec::new(),
            objects: vec![Object::named(ObjectKind::Unknown, "")],
            bytes: vec![0],
            stacks: vec![BTreeMap::new()],
            metadata,
        };
        // Static objects of one name in several files are several objects; heap blocks that look
        // the same to people are one.
        let mut known: BTreeMap<(ObjectKind, String, u64), usize> = BTreeMap::new();
        let mut groups = Vec::with_capacity(metadata.ranges.len());
        let several = repeated(&metadata.ranges);
        for range in &metadata.ranges {
            let mut object = names.object(range);
            if object.kind == ObjectKind::Static && several.contains(object.name.as_str()) {
                object.name = format!("{} ({:#x})", object.name, range.start);
            }
            let place = if object.kind == ObjectKind::Static { range.start } else { 0 };
            let next = names.objects.len();
            let group = *known.entry((object.kind, object.label(), place)).or_insert(next);
            if group == next {
                names.add_object(object);
            }
            names.bytes[group] = names.bytes[group].saturating_add(range.size);
            if range.stack != 0 {
                let bytes = names.stacks[group].entry(range.stack).or_insert(0);
                *bytes = range.size.saturating_add(*bytes);
            }
            groups.push(group);
        }
        names.segments = segments(&metadata.ranges, &groups);
        names.add_locals();
        names.add_moved(&metadata.moved);
        names
    }

    /// Assigns the addresses to which re-alignment moved data to the object that the data belonged
    /// to.
    fn add_moved(&mut self, moved: &[MovedRange]) {
        let segment = |range: &MovedRange| {
            let last = range.start.saturating_add(range.size.checked_sub(1)?);
            let group = self.segment(range.from)?.group;
            // A part of an element may have been moved.
            Some(ObjectSegment {
                first: range.start,
                last,
                group,
                start: range.start,
                layout: (0, 0),
            })
        };
        let found: Vec<ObjectSegment> = moved.iter().filter_map(segment).collect();
        self.segments.extend(found);
        self.segments.sort_by_key(|segment| segment.first);
    }

    pub(crate) fn add_object(&mut self, object: Object) -> usize {
        self.objects.push(object);
        self.bytes.push(0);
        self.stacks.push(BTreeMap::new());
        self.objects.len() - 1
    }

    /// Gives a part of the segment at this place to another object.
    pub(crate) fn divide(&mut self, at: usize, part: ObjectSegment) {
        let whole = self.segments[at];
        let mut parts = Vec::with_capacity(3);
        if whole.first < part.first {
            parts.push(ObjectSegment { last: part.first - 1, ..whole });
        }
        parts.push(part);
        if part.last < whole.last {
            parts.push(ObjectSegment { first: part.last + 1, ..whole });
        }
        self.segments.splice(at..=at, parts);
        let size = (part.last - part.first).saturating_add(1);
        self.bytes[part.group] = self.bytes[part.group].saturating_add(size);
    }

    fn object(&self, range: &AddressRange) -> Object {
        let named = |kind, name: String| Object::named(kind, name);
        let layouts = &self.metadata.layouts;
        match range.kind {
            RangeKind::Static => Object {
                type_name: numbered(layouts, range.layout).map_or("", |of| &of.name).to_owned(),
                ..named(ObjectKind::Static, range.name.clone())
            },
            RangeKind::Heap => {
                let stack = numbered(&self.metadata.stacks, range.stack);
                let of_stack = stack.and_then(|stack| self.frame(stack, stack.site));
                let by_pc = || (range.site != 0).then(|| self.site(range.site));
                let layout = stack.map_or(0, |stack| stack.layout);
                let variable = stack.map_or("", |stack| &stack.variable);
                let allocated_at = of_stack.or_else(by_pc);
                let name = if allocated_at.is_some() { variable } else { &range.name };
                Object {
                    allocated_at,
                    type_name: numbered(layouts, layout).map_or("", |of| &of.name).to_owned(),
                    ..named(ObjectKind::Heap, name.to_owned())
                }
            }
            RangeKind::Stack => named(ObjectKind::Stack, format!("thread {}", range.thread)),
            RangeKind::ThreadLocal if range.name.is_empty() => {
                let name = format!("thread-local memory of thread {}", range.thread);
                named(ObjectKind::ThreadLocal, name)
            }
            RangeKind::ThreadLocal => named(ObjectKind::ThreadLocal, range.name.clone()),
            RangeKind::Mapping if range.name.is_empty() => {
                let stack = numbered(&self.metadata.stacks, range.stack);
                let allocated_at = stack.and_then(|stack| self.frame(stack, stack.site));
                let of_thread = || format!("anonymous memory of thread {}", range.thread);
                let name = if allocated_at.is_some() { String::new() } else { of_thread() };
                Object { allocated_at, ..named(ObjectKind::Mapping, name) }
            }
            RangeKind::Mapping => named(ObjectKind::Mapping, range.name.clone()),
        }
    }

    /// A function of a stack, by its number; `None` if nothing is known about it.
    fn frame(&self, stack: &AllocationStack, number: u32) -> Option<SourceSite> {
        let place = *stack.frames.get(usize::try_from(number).ok()?)?;
        let frame = self.metadata.frames.get(usize::try_from(place).ok()?)?;
        let is_known = !frame.function.is_empty() || !frame.file.is_empty();
        is_known.then(|| SourceSite::of_frame(frame))
    }

    /// The call stacks by which most bytes of an object were allocated, at most this many.
    pub(crate) fn stacks_of(&self, group: usize, most: usize) -> Vec<Vec<SourceSite>> {
        let mut stacks: Vec<(u32, u64)> = self.stacks[group].clone().into_iter().collect();
        stacks.sort_by_key(|&(number, bytes)| (std::cmp::Reverse(bytes), number));
        let named = |(number, _): (u32, u64)| {
            let stack = numbered(&self.metadata.stacks, number)?;
            let all = 0..u32::try_from(stack.frames.len()).unwrap_or(u32::MAX);
            Some(all.filter_map(|number| self.frame(stack, number)).collect())
        };
        stacks.into_iter().take(most).filter_map(named).collect()
    }

    /// The field at an address: the number of its type, from 1, and its place there.
    pub(crate) fn field(&self, addr: u64) -> Option<(u32, u32)> {
        self.field_in(self.segment(addr)?, addr)
    }

    /// The same for an address in this segment.
    pub(crate) fn field_in(&self, segment: &ObjectSegment, addr: u64) -> Option<(u32, u32)> {
        let (layout, stride) = segment.layout;
        let of = numbered(&self.metadata.layouts, layout)?;
        let distance = if stride == 0 { of.size } else { stride.into() };
        let offset = (addr - segment.start).checked_rem(distance)?;
        Some((layout, u32::try_from(field_at(of, offset)?).ok()?))
    }

    /// The name of a field with that of its type, such as `Tally::hits`.
    pub(crate) fn field_name(&self, layout: u32, field: u32) -> String {
        let of = numbered(&self.metadata.layouts, layout);
        let name = of.and_then(|of| Some((of, of.fields.get(usize::try_from(field).ok()?)?)));
        name.map_or_else(String::new, |(of, field)| {
            // The node's own fields are not those of what the program put there.
            let of_node = ["node of ", "control block of "].iter();
            let of_value = of_node.filter_map(|of_node| of.name.strip_prefix(of_node)).next();
            let of_value = of_value.filter(|_| !field.name.starts_with('_')).unwrap_or(&of.name);
            // A structure without a name adds no information.
            let before = if of_value.is_empty() { String::new() } else { format!("{of_value}::") };
            format!("{before}{}", field.name)
        })
    }

    /// The name of the field at an address, such as `Tally::hits`, without the library's parts of a
    /// lock, such as `__data.__lock`.
    #[must_use]
    pub fn field_of(&self, addr: u64) -> Option<String> {
        let (layout, field) = self.field(addr)?;
        let name = self.field_name(layout, field);
        let (before, field) = name.split_at(name.rfind("::").map_or(0, |at| at + 2));
        let own = field.split('.').take_while(|part| !part.starts_with('_'));
        let own = own.collect::<Vec<_>>().join(".");
        (!own.is_empty()).then(|| format!("{before}{own}"))
    }

    /// The place of a program counter in the source.
    #[must_use]
    pub fn site(&self, pc: u64) -> SourceSite {
        let unknown = SourceSite { function: String::new(), file: String::new(), line: 0, pc };
        let lines = &self.metadata.lines;
        let Ok(at) = lines.binary_search_by_key(&pc, |line| line.pc) else { return unknown };
        let line = &lines[at];
        if line.function.is_empty() && line.file.is_empty() {
            return unknown;
        }
        SourceSite {
            function: line.function.clone(),
            file: line.file.clone(),
            line: line.line,
            pc: 0,
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.objects.len()
    }

    /// The object with this number.
    ///
    /// # Panics
    /// When there is no such object.
    #[must_use]
    pub fn object_of(&self, group: usize) -> &Object {
        &self.objects[group]
    }

    /// Bytes of all ranges of the object, however often memory was reused.
    #[must_use]
    pub fn bytes_of(&self, group: usize) -> u64 {
        self.bytes[group]
    }

    /// The segments, in order of address.
    #[must_use]
    pub fn segments(&self) -> &[ObjectSegment] {
        &self.segments
    }

    pub(crate) fn segment(&self, addr: u64) -> Option<&ObjectSegment> {
        let after = self.segments.partition_point(|segment| segment.first <= addr);
        self.segments[..after].last().filter(|segment| addr <= segment.last)
    }

    /// Number of the object at an address; that of unknown memory if there is none.
    #[must_use]
    pub fn group(&self, addr: u64) -> usize {
        self.segment(addr).map_or(UNKNOWN, |segment| segment.group)
    }

    /// The known objects with a byte from `first` to `last`, in order of address.
    pub(crate) fn groups(&self, first: u64, last: u64) -> Vec<usize> {
        let from = self.segments.partition_point(|segment| segment.last < first);
        let within = self.segments[from..].iter().take_while(|segment| segment.first <= last);
        let mut groups: Vec<usize> = Vec::new();
        for segment in within {
            if !groups.contains(&segment.group) {
                groups.push(segment.group);
            }
        }
        groups
    }

    /// The first known object with a byte from `first` to `last`; that of unknown memory if there
    /// is none.
    #[must_use]
    pub fn first_group(&self, first: u64, last: u64) -> usize {
        let at = self.segments.partition_point(|segment| segment.last < first);
        let found = self.segments.get(at).filter(|segment| segment.first <= last);
        found.map_or(UNKNOWN, |segment| segment.group)
    }

    /// The object to which every byte from `first` to `last` belongs, if it is only one.
    pub(crate) fn only_group(&self, first: u64, last: u64) -> Option<usize> {
        let group = self.group(first);
        let mut next = first;
        let from = self.segments.partition_point(|segment| segment.last < first);
        for segment in self.segments[from..].iter().take_while(|segment| segment.first <= last) {
            let gap = segment.first > next;
            if segment.group != group || (gap && group != UNKNOWN) {
                return None;
            }
            match segment.last.checked_add(1) {
                Some(after) if segment.last < last => next = after,
                Some(_) | None => return Some(group),
            }
        }
        (group == UNKNOWN).then_some(UNKNOWN)
    }
}

#[cfg(test)]
mod tests {
    use homenode_trace::{CallFrame, SourceLine, TypeField, TypeLayout};

    use super::*;

    fn range(start: u64, size: u64, kind: RangeKind, name: &str) -> AddressRange {
        AddressRange { start, size, kind, name: name.to_owned(), ..AddressRange::default() }
    }

    fn metadata(ranges: Vec<AddressRange>) -> Metadata {
        Metadata { ranges, ..Metadata::default() }
    }

    /// ```text
    /// mapping  |-----------------------------|
    /// heap          |--------|   |--|
    /// heap (later)      |--------|
    /// ```
    #[test]
    fn what_begins_last_owns_the_address() {
        let mut ranges = vec![
            range(100, 100, RangeKind::Mapping, "file"),
            range(120, 40, RangeKind::Static, "a"),
            range(140, 40, RangeKind::Static, "b"),
            range(180, 10, RangeKind::Static, "c"),
        ];
        ranges.push(range(u64::MAX - 3, 100, RangeKind::Static, "end"));
        let data = metadata(ranges);
        let names = Names::new(&data);
        let name = |addr| names.object_of(names.group(addr)).name.as_str();
        let owners = [99, 100, 119, 120, 139, 140, 160, 179, 180, 190, 199, 200];
        let found: Vec<&str> = owners.into_iter().map(name).collect();
        assert_eq!(found, ["", "file", "file", "a", "a", "b", "b", "b", "c", "file", "file", ""]);
        assert_eq!(name(u64::MAX), "end");
        assert_eq!(names.segment(150).unwrap().start, 140);
    }

    #[test]
    fn the_first_heap_block_of_a_mapping_is_no_mapping() {
        let data = metadata(vec![
            range(64, 32, RangeKind::Heap, "block"),
            range(64, 128, RangeKind::Mapping, "[heap]"),
        ]);
        let names = Names::new(&data);
        let kinds = [64, 95, 96].map(|addr| names.object_of(names.group(addr)).kind);
        assert_eq!(kinds, [ObjectKind::Heap, ObjectKind::Heap, ObjectKind::Mapping]);
    }

    #[test]
    fn memory_without_a_name_is_named_after_its_thread() {
        let mapped =
            |start, thread| AddressRange { thread, ..range(start, 8, RangeKind::Mapping, "") };
        let data = metadata(vec![mapped(64, 0), mapped(128, 3), mapped(256, 3)]);
        let names = Names::new(&data);
        let label = |addr| names.object_of(names.group(addr)).label();
        assert_eq!(label(64), "anonymous memory of thread 0");
        assert_eq!((label(128), names.group(128)), (label(256), names.group(256)));
        assert_eq!(label(130), "anonymous memory of thread 3");
        let local = AddressRange { thread: 2, ..range(64, 8, RangeKind::ThreadLocal, "") };
        let data = metadata(vec![local]);
        let label = Names::new(&data).object_of(1).label();
        assert_eq!(label, "thread-local memory of thread 2");
    }

    #[test]
    fn memory_allocated_again_belongs_to_the_last_user() {
        let heap = |site| AddressRange { site, ..range(64, 32, RangeKind::Heap, "") };
        let data = metadata(vec![heap(1), heap(2)]);
        let names = Names::new(&data);
        assert_eq!(names.object_of(names.group(64)).allocated_at.as_ref().unwrap().pc, 2);
        assert_eq!(names.len(), 3);
    }

    #[test]
    fn heap_blocks_of_one_line_are_one_object() {
        let heap = |start, site| AddressRange { site, ..range(start, 16, RangeKind::Heap, "") };
        let line = |pc| SourceLine { pc, function: "f".into(), file: "f.c".into(), line: 7 };
        let data = Metadata {
            ranges: vec![heap(0, 10), heap(16, 11), heap(64, 12)],
            lines: vec![line(10), line(11)],
            ..Metadata::default()
        };
        let names = Names::new(&data);
        assert_eq!(names.group(0), names.group(31));
        assert_ne!(names.group(0), names.group(64));
        assert_eq!(names.bytes_of(names.group(0)), 32);
        assert_eq!(names.only_group(0, 31), Some(names.group(0)));
        assert_eq!(names.only_group(0, 32), None, "a byte of unknown memory");
        assert_eq!(names.only_group(32, 63), Some(UNKNOWN));
        assert_eq!(names.only_group(48, 79), None);
        assert_eq!(names.only_group(64, 79), Some(names.group(64)));
        assert_eq!(names.only_group(128, u64::MAX), Some(UNKNOWN));
    }

    /// Two ways through a wrapper to one line, and a block of which only the call is known.
    #[test]
    fn heap_blocks_are_named_by_their_stacks() {
        let frame = |function: &str, line| CallFrame {
            function: function.to_owned(),
            file: format!("/src/{function}.c"),
            line,
        };
        let stack = |frames: &[u32]| AllocationStack {
            frames: frames.to_vec(),
            site: 1,
            layout: 1,
            ..AllocationStack::default()
        };
        let field = |offset, name: &str| TypeField {
            offset,
            size: 8,
            name: name.to_owned(),
            ..TypeField::default()
        };
        let heap = |start, stack, layout| AddressRange {
            stack,
            layout,
            site: 7,
            ..range(start, 32, RangeKind::Heap, "")
        };
        let joined = AddressRange { stride: 24, size: 1000, ..heap(0x1000, 1, 1) };
        let fields = vec![field(0, "hits"), field(8, "misses")];
        let data = Metadata {
            ranges: vec![heap(0, 1, 1), heap(32, 2, 1), heap(64, 9, 3), joined],
            stacks: vec![stack(&[0, 1, 2]), stack(&[3, 1])],
            frames: vec![frame("xmalloc", 3), frame("fill", 41), frame("main", 9), frame("x", 1)],
            layouts: vec![TypeLayout { name: "Tally".to_owned(), size: 16, fields }],
            ..Metadata::default()
        };
        let names = Names::new(&data);
        let label = |addr| names.object_of(names.group(addr)).label();
        assert_eq!(label(0), "heap, fill.c:41 (fill): Tally");
        assert_eq!(names.group(0), names.group(32), "equal names are one object");
        assert_eq!(label(64), "heap, allocated at 0x7", "indices beyond the lists are ignored");
        let field = |addr| names.field(addr).map(|(of, field)| names.field_name(of, field));
        assert_eq!(field(20).as_deref(), Some("Tally::hits"), "the second element");
        assert_eq!(field(0x1000 + 24 + 8).as_deref(), Some("Tally::misses"), "the second block");
        assert_eq!((field(0x1000 + 16), field(64)), (None, None));
        let stacks = names.stacks_of(names.group(0), 8);
        let functions: Vec<Vec<&str>> = stacks
            .iter()
            .map(|stack| stack.iter().map(|site| site.function.as_str()).collect())
            .collect();
        assert_eq!(functions, [vec!["xmalloc", "fill", "main"], vec!["x", "fill"]]);
    }

    #[test]
    fn moved_data_keep_the_name_of_their_object() {
        let ranges = vec![range(0, 8, RangeKind::Static, "a"), range(8, 8, RangeKind::Static, "b")];
        let new = |start, from| MovedRange { start, size: 4, from };
        let moved = vec![new(64, 12), new(68, 4), new(72, 99)];
        let data = Metadata { moved, ..metadata(ranges) };
        let names = Names::new(&data);
        let name = |addr| names.object_of(names.group(addr)).name.as_str();
        assert_eq!([4, 8, 64, 67, 68, 72].map(name), ["a", "b", "b", "b", "a", ""]);
        assert_eq!(names.len(), 3, "no more objects than before");
    }

    #[test]
    fn equal_names_in_several_files_stay_apart() {
        let data = metadata(vec![
            range(0, 8, RangeKind::Static, "lock"),
            range(8, 8, RangeKind::Static, "lock"),
        ]);
        let names = Names::new(&data);
        assert_ne!(names.group(0), names.group(8));
        let label = |addr| names.object_of(names.group(addr)).label();
        assert_eq!((label(0).as_str(), label(8).as_str()), ("lock (0x0)", "lock (0x8)"));
    }
}
