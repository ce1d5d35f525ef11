//! What an object is: kind of memory, name, where it was allocated, and type.

use serde::Serialize;

use crate::source::SourceSite;

/// What kind of memory an object lies in.
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
    /// Variables on a thread's stack that other threads use.
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
    /// Symbol, file, `thread 3`, or whose thread-local or anonymous memory it is; empty for heap
    /// blocks and unknown memory.
    pub name: String,
    /// Where heap blocks were allocated, or anonymous memory was mapped.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub allocated_at: Option<SourceSite>,
    /// Where other threads use variables of a stack most.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub used_at: Option<SourceSite>,
    /// Its type, or that of its elements; empty if unknown.
    #[serde(rename = "type", skip_serializing_if = "String::is_empty")]
    pub type_name: String,
}

impl Object {
    /// An object of this kind and name, of which no more is known.
    #[must_use]
    pub fn named(kind: ObjectKind, name: impl Into<String>) -> Self {
        Self {
            kind,
            name: name.into(),
            allocated_at: None,
            used_at: None,
            type_name: String::new(),
        }
    }

    /// A short name for people: the symbol, the file, or where it was allocated, and what for.
    #[must_use]
    pub fn label(&self) -> String {
        match (&self.allocated_at, self.kind) {
            (Some(site), _) => {
                let colon = if self.type_name.is_empty() { "" } else { ": " };
                let kind = if self.kind == ObjectKind::Mapping { "mapped" } else { "heap" };
                format!("{kind}, {}{colon}{}", site.label(), self.type_name)
            }
            (None, ObjectKind::Heap) if self.name.is_empty() => "heap".to_owned(),
            (None, ObjectKind::Stack) => format!("stack of {}", self.name),
            (None, ObjectKind::StackVariable) => match &self.used_at {
                Some(site) => format!("stack of {}, used at {}", self.name, site.label()),
                None => format!("variables on the stack of {}", self.name),
            },
            (None, _) => self.name.clone(),
        }
    }
}
