//! Machines of kinds that only their engines know: whole numbers by name.
//!
//! ```toml
//! name = "example"
//! kind = "flat"
//! block_size_bytes = 64
//! summary = "one line"
//! source = "where the numbers come from"
//! [numbers]
//! reference_cycles = { value = 5, source = "..." }
//! ```

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::error::MachineError;
use crate::file::{Description, MachineFile};
use crate::kind::MachineKind;

/// A machine of numbers, whose meaning its engine knows.
#[derive(Clone, Debug)]
pub struct PlainMachine {
    /// Name, summary and source.
    pub description: Description,
    pub(crate) kind: MachineKind,
    pub(crate) block_size_bytes: u64,
    /// The numbers by name.
    pub numbers: BTreeMap<String, u64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PlainFile {
    name: String,
    summary: String,
    source: String,
    block_size_bytes: u64,
    numbers: BTreeMap<String, u64>,
}

impl PlainMachine {
    /// The machine that a file describes. `Machine::from_toml` reads machines with this whose kinds
    /// have no file of their own here.
    ///
    /// # Errors
    /// When the file is not such a machine.
    pub fn machine(file: MachineFile<'_>) -> Result<Self, MachineError> {
        let kind = file.kind;
        let PlainFile { name, summary, source, block_size_bytes, numbers } = file.contents()?;
        let description = Description { name, summary, source };
        Ok(Self { description, kind, block_size_bytes, numbers })
    }
}
