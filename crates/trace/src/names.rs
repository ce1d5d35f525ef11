//! Names in a trace's metadata: ranges of addresses, source lines, call stacks, types.

use serde::{Deserialize, Serialize};

/// The kind of memory of an address range.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RangeKind {
    /// Static data; the name is the symbol.
    Static,
    /// A heap block; `site` is the program counter of the allocating call.
    Heap,
    /// A thread's stack.
    Stack,
    /// Thread-local storage.
    ThreadLocal,
    /// A mapped file or anonymous mapping; the name is the file.
    #[default]
    Mapping,
}

/// A named range of addresses.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AddressRange {
    /// First byte.
    pub start: u64,
    /// Bytes.
    pub size: u64,
    /// The kind of memory.
    pub kind: RangeKind,
    /// Symbol, file or other name; may be empty.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// Program counter of the allocating call, 0 if unknown.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub site: u64,
    /// Thread that owns the stack or allocated the block.
    #[serde(default)]
    pub thread: u16,
    /// For a heap block, the call stack of its allocation: its position in [`Metadata::stacks`],
    /// counted from 1; 0 if unknown.
    ///
    /// [`Metadata::stacks`]: crate::Metadata::stacks
    #[serde(default, skip_serializing_if = "is_none")]
    pub stack: u32,
    /// Type of its elements, which are consecutive from the start: its position in
    /// [`Metadata::layouts`], counted from 1; 0 if unknown.
    ///
    /// [`Metadata::layouts`]: crate::Metadata::layouts
    #[serde(default, skip_serializing_if = "is_none")]
    pub layout: u32,
    /// Distance between the elements; 0 if it is their size.
    #[serde(default, skip_serializing_if = "is_none")]
    pub stride: u32,
}

impl AddressRange {
    /// A range whose other fields are unknown.
    #[must_use]
    pub fn new(kind: RangeKind, start: u64, size: u64, name: impl Into<String>) -> Self {
        Self { start, size, kind, name: name.into(), ..Self::default() }
    }
}

/// Addresses to which re-alignment moved data of one object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MovedRange {
    /// First byte.
    pub start: u64,
    /// Bytes.
    pub size: u64,
    /// The program's own address of the data, or of other data of the object.
    pub from: u64,
}

/// A variable in the frame of a function that starts threads.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct LocalRange {
    /// First byte.
    pub start: u64,
    /// Bytes.
    pub size: u64,
    /// Its name.
    pub name: String,
    /// The function that declares it, and the line of the declaration.
    #[serde(flatten)]
    pub declared: CallFrame,
    /// Type of its elements: its position in [`Metadata::layouts`], counted from 1; 0 if unknown.
    ///
    /// [`Metadata::layouts`]: crate::Metadata::layouts
    #[serde(default, skip_serializing_if = "is_none")]
    pub layout: u32,
}

impl LocalRange {
    /// One past its last byte.
    #[must_use]
    pub fn end(&self) -> u64 {
        self.start.saturating_add(self.size)
    }
}

/// The source line of a program counter.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SourceLine {
    /// Program counter.
    pub pc: u64,
    /// Function, demangled; may be empty.
    pub function: String,
    /// Source file; may be empty.
    pub file: String,
    /// Line, 0 if unknown.
    pub line: u32,
}

/// A function of a call stack.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct CallFrame {
    /// Function, demangled; may be empty.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub function: String,
    /// Source file; may be empty.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub file: String,
    /// Line of the call, 0 if unknown.
    #[serde(default, skip_serializing_if = "is_none")]
    pub line: u32,
}

/// The call stack of an allocation.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct AllocationStack {
    /// Its functions, the caller of the allocator first, inlined ones included: positions in
    /// [`Metadata::frames`], counted from 0.
    ///
    /// [`Metadata::frames`]: crate::Metadata::frames
    pub frames: Vec<u32>,
    /// The frame that names the blocks, counted from 0: the first one outside libraries and their
    /// headers that is not a wrapper of the allocator.
    #[serde(default, skip_serializing_if = "is_none")]
    pub site: u32,
    /// The array that Fortran's `allocate` allocates; empty otherwise.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub variable: String,
    /// Type of the allocated data: its position in [`Metadata::layouts`], counted from 1; 0 if
    /// unknown.
    ///
    /// [`Metadata::layouts`]: crate::Metadata::layouts
    #[serde(default, skip_serializing_if = "is_none")]
    pub layout: u32,
}

/// Name, size and fields of a type.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct TypeLayout {
    /// Its name in the source.
    pub name: String,
    /// Bytes.
    pub size: u64,
    /// Its fields, including those of nested structures, ordered by offset. Empty for a type
    /// without fields.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fields: Vec<TypeField>,
}

/// A field of a type.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct TypeField {
    /// First byte, from the start of the type.
    pub offset: u64,
    /// Bytes.
    pub size: u64,
    /// Its path in the source: `hits`, `position.x`, `slots[].count`.
    pub name: String,
    /// Elements of the array that contains the field, 0 or 1 if none does.
    #[serde(default, skip_serializing_if = "is_none")]
    pub count: u32,
    /// Distance of these elements.
    #[serde(default, skip_serializing_if = "is_none")]
    pub stride: u32,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it with a reference")]
fn is_zero(value: &u64) -> bool {
    *value == 0
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it with a reference")]
fn is_none(value: &u32) -> bool {
    *value == 0
}
