//! Hooks in assembly.

use pyo3::prelude::*;

use crate::error::config_error;

/// The text with a label in front of every instruction.
#[pyfunction]
pub fn assembly_with_labels(text: &str) -> String {
    homenode_assembly::with_labels(text)
}

/// The text with hooks; the object is what the assembler makes of the labelled text.
#[pyfunction]
pub fn assembly_with_hooks(text: &str, labelled_object: &[u8]) -> PyResult<String> {
    homenode_assembly::instrumented(text, labelled_object).map_err(config_error)
}
