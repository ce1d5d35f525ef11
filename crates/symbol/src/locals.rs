//! Variables in the frames of functions.

use gimli::{AttributeValue, Operation, UnitRef};

use crate::dwarf::SectionReader;
use crate::layout::{DataType, data_type, size_of};
use crate::tree::EntryTree;
use crate::{InlineFrame, Symbolizer};

/// Deepest nesting of blocks and inlined functions that is followed.
const DEPTH_MAX: usize = 64;

/// Numbers of registers in debug information for x86-64 (its psABI, table 3.36).
const FRAME_POINTER: gimli::Register = gimli::Register(6);
const STACK_POINTER: gimli::Register = gimli::Register(7);

/// The registers that locate a function's frame while it calls another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct StackFrame {
    /// The stack pointer.
    pub sp: u64,
    /// The frame pointer, or another value that the function keeps in that register.
    pub fp: u64,
    /// The stack pointer of the function's caller: the canonical frame address.
    pub cfa: u64,
}

/// A variable in a frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LocalVariable {
    /// Its name.
    pub name: String,
    /// The function that declares it, and the line of the declaration.
    pub declared: InlineFrame,
    /// First byte.
    pub addr: u64,
    /// Bytes.
    pub size: u64,
    /// Its type, or that of an array's elements.
    pub data: Option<DataType>,
}

impl Symbolizer {
    /// The variables in memory of the function that contains an address, and of functions inlined
    /// there, as far as the address is in their scope.
    ///
    /// Cost: the first question about a unit passes over its debug information.
    #[must_use]
    pub fn locals(&self, addr_in_file: u64, frame: StackFrame) -> Vec<LocalVariable> {
        self.locals_of(addr_in_file, frame).unwrap_or_default()
    }

    fn locals_of(&self, pc: u64, frame: StackFrame) -> Option<Vec<LocalVariable>> {
        let tree = self.tree(pc)?;
        let resolver = self.resolver(pc)?;
        let unit = self.debug.located(resolver.unit(pc)?);
        let functions = self.functions(pc).ok()?;
        let places: Vec<Option<usize>> =
            functions.into_iter().map(|at| at.and_then(|at| tree.find(at))).collect();
        let function = (*places.last()?)?;
        let base = frame_base(unit, &tree, function, frame)?;
        let names = self.frames(pc);
        let mut scopes =
            Scopes { unit, tree: &tree, frame, base, pc, places, names, found: Vec::new() };
        scopes.add(function, 0);
        Some(scopes.found)
    }
}

/// The address to which those of a function's variables are relative.
fn frame_base(
    unit: UnitRef<'_, SectionReader>,
    tree: &EntryTree,
    function: usize,
    frame: StackFrame,
) -> Option<u64> {
    let entry = unit.entry(tree.offset(function)).ok()?;
    let location = entry.attr(gimli::DW_AT_frame_base)?.exprloc_value()?;
    let operation = only_operation(unit, location)?;
    if let Operation::CallFrameCFA = operation {
        return Some(frame.cfa);
    }
    in_frame(&operation, frame)
}

/// An address relative to a register.
fn in_frame(operation: &Operation<SectionReader>, frame: StackFrame) -> Option<u64> {
    let (register, offset) = if let Operation::Register { register } = operation {
        (*register, 0)
    } else if let Operation::RegisterOffset { register, offset, .. } = operation {
        (*register, *offset)
    } else {
        return None;
    };
    let base = match register {
        STACK_POINTER => frame.sp,
        FRAME_POINTER => frame.fp,
        _ => return None,
    };
    base.checked_add_signed(offset)
}

fn only_operation(
    unit: UnitRef<'_, SectionReader>,
    expression: gimli::Expression<SectionReader>,
) -> Option<Operation<SectionReader>> {
    let mut operations = expression.operations(unit.encoding());
    let first = operations.next().ok()??;
    operations.next().ok()?.is_none().then_some(first)
}

/// A function's scopes around an address.
struct Scopes<'a> {
    unit: UnitRef<'a, SectionReader>,
    tree: &'a EntryTree,
    frame: StackFrame,
    base: u64,
    pc: u64,
    /// The functions at the address, the innermost first: their entries and names.
    places: Vec<Option<usize>>,
    names: Vec<InlineFrame>,
    found: Vec<LocalVariable>,
}

impl Scopes<'_> {
    /// Adds the variables of a scope of one of the functions, and of the scopes in it.
    fn add(&mut self, scope: usize, depth: usize) {
        let tree = self.tree;
        for child in tree.children(scope) {
            match tree.get(child).tag {
                gimli::DW_TAG_variable | gimli::DW_TAG_formal_parameter => {
                    let variable = self.variable(child, scope);
                    self.found.extend(variable);
                }
                gimli::DW_TAG_lexical_block | gimli::DW_TAG_inlined_subroutine
                    if depth < DEPTH_MAX && self.covers(child) =>
                {
                    self.add(child, depth + 1);
                }
                _ => {}
            }
        }
    }

    fn covers(&self, scope: usize) -> bool {
        let Ok(entry) = self.unit.entry(self.tree.offset(scope)) else { return false };
        let Ok(mut ranges) = self.unit.die_ranges(&entry) else { return false };
        while let Ok(Some(range)) = ranges.next() {
            if (range.begin..range.end).contains(&self.pc) {
                return true;
            }
        }
        false
    }

    fn variable(&self, at: usize, scope: usize) -> Option<LocalVariable> {
        let tree = self.tree;
        let entry = self.unit.entry(tree.offset(at)).ok()?;
        let expression = self.location(entry.attr_value(gimli::DW_AT_location)?)?;
        let operation = only_operation(self.unit, expression)?;
        let addr = if let Operation::FrameOffset { offset } = operation {
            self.base.checked_add_signed(offset)?
        } else if let Operation::RegisterOffset { .. } = operation {
            // A function that aligns its frame.
            in_frame(&operation, self.frame)?
        } else {
            return None;
        };
        let type_of = tree.type_of(at)?;
        let around = |&of: &usize| self.places.contains(&Some(of));
        let function = std::iter::successors(Some(scope), |&at| Some(tree.get(at).parent))
            .take(DEPTH_MAX)
            .find(around)?;
        let number = self.places.iter().position(|place| *place == Some(function))?;
        let line = tree.origins(at).map(|of| tree.get(of).line).find(|&line| line > 0);
        let mut declared = self.names.get(number)?.clone();
        declared.line = u32::try_from(line.unwrap_or(0)).unwrap_or(0);
        Some(LocalVariable {
            name: tree.name(at)?,
            declared,
            addr,
            size: size_of(tree, type_of).filter(|&size| size > 0)?,
            data: data_type(tree, type_of),
        })
    }

    /// The location of a variable at the address.
    fn location(
        &self,
        value: AttributeValue<SectionReader>,
    ) -> Option<gimli::Expression<SectionReader>> {
        if let AttributeValue::Exprloc(expression) = value {
            return Some(expression);
        }
        let mut locations = self.unit.attr_locations(value).ok()??;
        while let Ok(Some(part)) = locations.next() {
            if (part.range.begin..part.range.end).contains(&self.pc) {
                return Some(part.data);
            }
        }
        None
    }
}
