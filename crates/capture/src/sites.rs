//! Allocation sites of heap blocks: the functions on the stack of an allocation, the one that names
//! the block, and the type of its elements.

use std::collections::{BTreeMap, BTreeSet};

use homenode_symbol::{AllocatedType, AllocationFrame, DataType};
use homenode_trace::{AllocationStack, CallFrame, TypeField, TypeLayout};
use rustc_hash::FxHashMap;

use crate::objects::OpenedFiles;
use crate::source_owner::{SourceOwner, source_owner};

/// Largest source file that is read.
const SOURCE_BYTES_MAX: u64 = 1 << 24;
const STATEMENT_LINES_MAX: usize = 4;

/// Types of data, numbered from 1.
#[derive(Debug, Default)]
pub struct Layouts {
    numbers: BTreeMap<DataType, u32>,
    found: Vec<TypeLayout>,
}

impl Layouts {
    /// The number of a type.
    pub fn number(&mut self, data: &DataType) -> u32 {
        if let Some(&number) = self.numbers.get(data) {
            return number;
        }
        let field = |field: &homenode_symbol::DataField| TypeField {
            offset: field.offset,
            size: field.size,
            name: field.name.clone(),
            count: field.repeats.0,
            stride: field.repeats.1,
        };
        self.found.push(TypeLayout {
            name: data.name.clone(),
            size: data.size,
            fields: data.fields.iter().map(field).collect(),
        });
        let number = u32::try_from(self.found.len()).unwrap_or(u32::MAX);
        self.numbers.insert(data.clone(), number);
        number
    }

    /// All types, in order of their numbers.
    #[must_use]
    pub fn into_list(self) -> Vec<TypeLayout> {
        self.found
    }
}

/// An allocation's call stack with names.
#[derive(Clone, Debug, Default)]
struct NamedStack {
    frames: Vec<CallFrame>,
    site: usize,
    /// Program counter of the site.
    site_pc: u64,
    /// The element of each array that the statement allocates.
    elements: Vec<Element>,
}

/// The elements of the blocks that a stack allocates.
#[derive(Clone, Debug)]
struct Element {
    data: DataType,
    /// In Fortran the array; else empty.
    name: String,
    /// Whether a block may hold several elements.
    several: bool,
    /// Whether the type comes from the allocating function, so that not all sizes need to fit.
    certain: bool,
}

impl Element {
    fn fits(&self, size: u64) -> bool {
        size == self.data.size || self.several && size.is_multiple_of(self.data.size)
    }
}

/// An allocation's call stack as it was recorded.
#[derive(Debug, Default)]
pub struct RawStack {
    /// Program counters from the allocator's caller outward.
    pub pcs: Vec<u64>,
    /// Sizes of the blocks that it allocated.
    pub sizes: Vec<u64>,
}

/// The stacks of all heap blocks.
#[derive(Debug, Default)]
pub struct Sites {
    /// Number of each stack, by its position in the shared area.
    numbers: FxHashMap<u32, u32>,
    stacks: Vec<AllocationStack>,
    elements: Vec<Option<Element>>,
    frames: Vec<CallFrame>,
}

impl Sites {
    /// Names the stacks, which are given by position.
    #[must_use]
    pub fn new(
        stacks: &BTreeMap<u32, RawStack>,
        files: &OpenedFiles<'_>,
        layouts: &mut Layouts,
    ) -> Self {
        let mut names =
            StackNames { files, functions: FxHashMap::default(), sources: Sources::default() };
        let mut sites = Self::default();
        let mut frames: BTreeMap<CallFrame, u32> = BTreeMap::new();
        let mut known: BTreeMap<AllocationStack, u32> = BTreeMap::new();
        let named: Vec<NamedStack> = stacks.values().map(|raw| names.stack(&raw.pcs)).collect();
        let elements = only_elements(&named);
        for (((&position, raw), named), element) in stacks.iter().zip(named).zip(elements) {
            let fits = |element: &Element| {
                let fitting = raw.sizes.iter().filter(|&&size| element.fits(size)).count();
                if element.certain { fitting > 0 } else { fitting == raw.sizes.len() }
            };
            let element = element.filter(fits);
            let mut place = |frame: CallFrame| {
                let next = u32::try_from(sites.frames.len()).unwrap_or(u32::MAX);
                *frames.entry(frame).or_insert_with_key(|frame| {
                    sites.frames.push(frame.clone());
                    next
                })
            };
            let stack = AllocationStack {
                frames: named.frames.into_iter().map(&mut place).collect(),
                site: u32::try_from(named.site).unwrap_or(0),
                variable: element.as_ref().map_or_else(String::new, |of| of.name.clone()),
                layout: element.as_ref().map_or(0, |element| layouts.number(&element.data)),
            };
            let number = *known.entry(stack).or_insert_with_key(|stack| {
                sites.stacks.push(stack.clone());
                sites.elements.push(element);
                u32::try_from(sites.stacks.len()).unwrap_or(u32::MAX)
            });
            sites.numbers.insert(position, number);
        }
        sites
    }

    /// The number of the stack at a position, from 1, or 0.
    #[must_use]
    pub fn number(&self, position: u32) -> u32 {
        self.numbers.get(&position).copied().unwrap_or(0)
    }

    /// The type in a block of this size from stack number `number`, and the size of an element.
    #[must_use]
    pub fn element(&self, number: u32, size: u64) -> Option<(u32, u64)> {
        let at = usize::try_from(number.checked_sub(1)?).ok()?;
        let element = self.elements.get(at)?.as_ref().filter(|element| element.fits(size))?;
        Some((self.stacks[at].layout, element.data.size))
    }

    /// The stacks, in order of their numbers, and the functions that they refer to.
    #[must_use]
    pub fn into_lists(self) -> (Vec<AllocationStack>, Vec<CallFrame>) {
        (self.stacks, self.frames)
    }
}

/// The element of each stack. A statement that allocates several arrays has a call for each, in the
/// order of the arrays: if there are as many calls as arrays, they correspond.
fn only_elements(named: &[NamedStack]) -> Vec<Option<Element>> {
    let site = |stack: &NamedStack| stack.frames.get(stack.site).cloned();
    let mut calls: BTreeMap<Option<CallFrame>, BTreeSet<u64>> = BTreeMap::new();
    for stack in named.iter().filter(|stack| stack.elements.len() > 1) {
        calls.entry(site(stack)).or_default().insert(stack.site_pc);
    }
    let element = |stack: &NamedStack| {
        let first = stack.elements.first()?;
        if stack.elements.len() == 1 {
            return Some(first.clone());
        }
        let calls = calls.get(&site(stack)).filter(|calls| calls.len() == stack.elements.len());
        let number = calls.and_then(|calls| calls.iter().position(|&pc| pc == stack.site_pc));
        let alike = stack.elements.iter().all(|element| element.data == first.data);
        let nameless = || alike.then(|| Element { name: String::new(), ..first.clone() });
        number.map(|number| stack.elements[number].clone()).or_else(nameless)
    };
    named.iter().map(element).collect()
}

#[derive(Clone, Debug)]
struct StackFunction {
    frame: AllocationFrame,
    /// Whose it is. A library of the system is the system's.
    owner: SourceOwner,
    pc: u64,
    /// Index among the functions of the program counter.
    number: usize,
}

struct StackNames<'a> {
    files: &'a OpenedFiles<'a>,
    functions: FxHashMap<u64, Vec<StackFunction>>,
    sources: Sources,
}

impl StackNames<'_> {
    fn stack(&mut self, pcs: &[u64]) -> NamedStack {
        let mut functions: Vec<StackFunction> = Vec::new();
        for &pc in pcs {
            let of_pc = self.functions.entry(pc).or_insert_with(|| functions_of(self.files, pc));
            functions.extend_from_slice(of_pc);
        }
        // Leaves out the callers of the program's first function.
        let within = |most: SourceOwner, sourced: bool| {
            functions.iter().rposition(|function| {
                function.owner <= most && (!sourced || !function.frame.place.file.is_empty())
            })
        };
        let last = within(SourceOwner::Program, true)
            .or_else(|| within(SourceOwner::Package, true))
            .or_else(|| within(SourceOwner::Package, false));
        functions.truncate(last.map_or(functions.len(), |last| last + 1));
        let site = site(&functions);
        let elements = self.elements(&functions, site);
        let site_pc = functions.get(site).map_or(0, |function| function.pc);
        let frame = |function: StackFunction| CallFrame {
            function: function.frame.place.function,
            file: function.frame.place.file,
            line: function.frame.place.line,
        };
        let frames = functions.into_iter().map(frame).collect();
        NamedStack { frames, site, site_pc, elements }
    }

    /// The elements, from the allocator's type, else from the source line of the site.
    fn elements(&mut self, functions: &[StackFunction], site: usize) -> Vec<Element> {
        let inner = &functions[..functions.len().min(site)];
        let container = inner.iter().position(|function| function.frame.element.is_some());
        if container.is_some_and(|at| are_merged(&inner[at..])) {
            return Vec::new();
        }
        let container = container.and_then(|at| inner[at].frame.element.clone());
        let text = || inner.iter().find_map(|function| text_of_string(&function.frame));
        if let Some(data) = container.or_else(text) {
            return vec![Element { data, name: String::new(), several: true, certain: true }];
        }
        // Behind a function that does not pass memory on, the line tells nothing about the block.
        let ours = |function: &StackFunction| function.frame.passes_on;
        let Some(at) = functions.get(site).filter(|_| inner.iter().all(ours)) else {
            return Vec::new();
        };
        let text = self.sources.statement(&at.frame.place.file, at.frame.place.line);
        let element =
            |AllocatedType { name, data, several }| Element { data, name, several, certain: false };
        self.files.allocated_type(at.pc, at.number, &text).into_iter().map(element).collect()
    }
}

/// Whether the compiler has merged functions of two types whose code is the same (`-fipa-icf`):
/// one then seems to call the other, and what is called may be of another type than the block.
fn are_merged(functions: &[StackFunction]) -> bool {
    let name = |function: &StackFunction| function.frame.place.function.clone();
    functions.windows(2).any(|pair| {
        let (inner, outer) = (name(&pair[0]), name(&pair[1]));
        inner != outer && without_arguments(&inner) == without_arguments(&outer)
    })
}

/// The name of a function without the arguments of templates.
fn without_arguments(name: &str) -> String {
    let mut depth = 0usize;
    let mut kept = String::new();
    for character in name.chars() {
        match character {
            '<' => depth += 1,
            '>' => depth = depth.saturating_sub(1),
            _ if depth == 0 => kept.push(character),
            _ => {}
        }
    }
    kept
}

/// The element of a C++ string, whose functions in the C++ library have no debug information.
fn text_of_string(frame: &AllocationFrame) -> Option<DataType> {
    frame.place.function.starts_with("std::__cxx11::basic_string<char,").then(|| DataType {
        name: "char".to_owned(),
        size: 1,
        fields: Vec::new(),
    })
}

fn functions_of(files: &OpenedFiles<'_>, pc: u64) -> Vec<StackFunction> {
    let (frames, library) = files.frames(pc);
    let function = |(number, frame): (usize, AllocationFrame)| {
        let start = frame.place.function == "_start";
        let system = library || start;
        let owner = if system { SourceOwner::System } else { source_owner(&frame.place.file) };
        StackFunction { frame, owner, pc, number }
    };
    frames.into_iter().enumerate().map(function).collect()
}

/// Index of the function that names the block: the first of the program's own that does not pass
/// the memory on. In a static program, functions without source are the system's. In a program that
/// is itself an installed package, only its packages' functions are left.
fn site(functions: &[StackFunction]) -> usize {
    let first = |allowed: &dyn Fn(&StackFunction) -> bool| functions.iter().position(allowed);
    let sourced = |f: &StackFunction| !f.frame.place.file.is_empty();
    let uses = |f: &StackFunction| !f.frame.passes_on;
    let of = |most: SourceOwner| move |f: &StackFunction| f.owner <= most;
    let (own, ours) = (of(SourceOwner::Program), of(SourceOwner::Package));
    first(&|f| own(f) && sourced(f) && uses(f))
        .or_else(|| first(&|f| own(f) && sourced(f)))
        .or_else(|| first(&|f| ours(f) && sourced(f) && uses(f)))
        .or_else(|| first(&|f| ours(f) && sourced(f)))
        .or_else(|| first(&|f| ours(f) && uses(f)))
        .or_else(|| first(&ours))
        .or_else(|| first(&uses))
        .unwrap_or(0)
}

/// Source files; one that cannot be read is empty.
#[derive(Debug, Default)]
struct Sources {
    files: FxHashMap<String, Vec<String>>,
}

impl Sources {
    /// The statement that begins in a line of a file, or in Fortran contains it; empty if unknown.
    fn statement(&mut self, path: &str, line: u32) -> String {
        let Some(mut first) = usize::try_from(line).ok().and_then(|line| line.checked_sub(1))
        else {
            return String::new();
        };
        let lines = self.files.entry(path.to_owned()).or_insert_with(|| read_lines(path));
        let comment = if is_fortran(path) { "!" } else { "//" };
        let code_of = |line: &str| line.split(comment).next().unwrap_or(line).trim_end().to_owned();
        let goes_on = |number: usize| lines.get(number).is_some_and(|l| code_of(l).ends_with('&'));
        let end = first;
        while is_fortran(path) && first > 0 && goes_on(first - 1) {
            first -= 1;
        }
        let mut text = String::new();
        for line in lines.iter().skip(first).take(STATEMENT_LINES_MAX.max(end + 1 - first)) {
            let code = code_of(line);
            text.push_str(&code);
            text.push(' ');
            let open = text.matches('(').count() > text.matches(')').count();
            if !open && !code.ends_with('&') {
                break;
            }
        }
        text
    }
}

fn is_fortran(path: &str) -> bool {
    let extension = std::path::Path::new(path).extension().unwrap_or_default();
    extension.to_string_lossy().starts_with(['f', 'F'])
}

fn read_lines(path: &str) -> Vec<String> {
    let fits = std::fs::metadata(path).is_ok_and(|m| m.is_file() && m.len() <= SOURCE_BYTES_MAX);
    let bytes = if fits { std::fs::read(path).unwrap_or_default() } else { Vec::new() };
    String::from_utf8_lossy(&bytes).lines().map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use homenode_symbol::InlineFrame;

    use super::*;

    fn are_of(names: [&str; 3]) -> bool {
        let function = |name: &str| StackFunction {
            frame: AllocationFrame {
                place: InlineFrame { function: name.to_owned(), file: String::new(), line: 1 },
                passes_on: false,
                element: None,
            },
            owner: SourceOwner::System,
            pc: 0,
            number: 0,
        };
        are_merged(&names.map(function))
    }

    #[test]
    fn a_function_that_calls_itself_for_another_type_was_merged_with_that() {
        let allocate = "std::allocator<T>::allocate(unsigned long)";
        let base = "std::_Vector_base<T, std::allocator<T> >::_M_allocate(unsigned long)";
        let other = "std::_Vector_base<long, std::allocator<long> >::_M_allocate(unsigned long)";
        let append = "std::vector<T, std::allocator<T> >::_M_default_append(unsigned long)";
        assert!(are_of([allocate, base, other]));
        assert!(!are_of([allocate, base, append]));
        assert!(!are_of([allocate, base, base]));
    }
}
