//! Identity of an object: kind of memory, name, place of allocation, and type.

use serde::Serialize;

use crate::source::SourceSite;

/// The kind of memory of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ObjectKind {
    /// Unknown: the trace has no name for it.
    Unknown,
    /// A static object with a symbol.
    Static,
    /// Heap blocks that one line of the program allocated.
    Heap,
    /// A thread's stack.
    Stack,
    /// A variable on a thread's stack that other threads use, or several beside each other.
    StackVariable,
    /// Thread-local storage.
    ThreadLocal,
    /// A mapped file or anonymous mapping.
    Mapping,
}

/// A data structure of the program: a symbol, all heap blocks of one call site, a stack, a mapping.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Object {
    /// Kind of memory.
    pub kind: ObjectKind,
    /// Symbol, local variable, file, `thread 3`, or whose thread-local or anonymous memory it is;
    /// of heap blocks the array of Fortran, if it is one; empty for unknown memory.
    pub name: String,
    /// Where heap blocks were allocated, or anonymous memory was mapped.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub allocated_at: Option<SourceSite>,
    /// Where a variable of a stack is declared.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub declared_at: Option<SourceSite>,
    /// For variables of a stack without known names, where other threads use them most.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub used_at: Option<SourceSite>,
    /// Its type, or that of its elements; empty if unknown.
    #[serde(rename = "type", skip_serializing_if = "String::is_empty")]
    pub type_name: String,
}

impl Object {
    /// An object of which only kind and name are known.
    #[must_use]
    pub fn named(kind: ObjectKind, name: impl Into<String>) -> Self {
        Self {
            kind,
            name: name.into(),
            allocated_at: None,
            declared_at: None,
            used_at: None,
            type_name: String::new(),
        }
    }

    /// A short name for people: the symbol, the file, or the place of allocation, with the type.
    #[must_use]
    pub fn label(&self) -> String {
        let colon = if self.type_name.is_empty() { "" } else { ": " };
        match (&self.allocated_at, self.kind) {
            (Some(site), _) => {
                let kind = if self.kind == ObjectKind::Mapping { "mapped" } else { "heap" };
                let name = if self.kind == ObjectKind::Heap { self.name.as_str() } else { "" };
                let gap = if name.is_empty() { "" } else { " " };
                format!("{kind}{gap}{name}, {}{colon}{}", site.label(), self.type_name)
            }
            (None, ObjectKind::Heap) if self.name.is_empty() => "heap".to_owned(),
            (None, ObjectKind::Stack) => format!("stack of {}", self.name),
            (None, ObjectKind::StackVariable) => match (&self.declared_at, &self.used_at) {
                (Some(site), _) => {
                    format!("local {}, {}{colon}{}", self.name, site.label(), self.type_name)
                }
                (None, Some(site)) => format!("stack of {}, used at {}", self.name, site.label()),
                (None, None) => format!("variables on the stack of {}", self.name),
            },
            (None, _) => self.name.clone(),
        }
    }
}
