//! Hooks in assembly.

use std::fs::{self, File};
use std::io::{self, BufReader, BufWriter, Write};
use std::path::PathBuf;

use homenode_assembly::{Assembly, AssemblyError};
use pyo3::prelude::*;

use crate::error::config_error;

/// An assembly file that is to get hooks.
#[pyclass(frozen, name = "Assembly")]
pub struct PyAssembly(Assembly);

#[pymethods]
impl PyAssembly {
    #[new]
    fn new(path: PathBuf) -> PyResult<Self> {
        Ok(Self(Assembly::read(BufReader::new(File::open(path)?))?))
    }

    /// Whether a compiler wrote it.
    #[getter]
    fn is_of_a_compiler(&self) -> bool {
        self.0.is_of_a_compiler()
    }

    /// Writes the text with a label in front of every instruction.
    fn label(&self, target: PathBuf) -> PyResult<()> {
        written(target, |file| self.0.label(file))
    }

    /// Writes the text with hooks; the object is what the assembler makes of the labelled text.
    fn hook(&self, labelled_object: PathBuf, target: PathBuf) -> PyResult<()> {
        let object = fs::read(labelled_object)?;
        written(target, |file| self.0.hook(&object, file))
    }

    /// Writes the text without hooks, but with a count of the instructions that have none.
    fn count(&self, labelled_object: PathBuf, target: PathBuf, name: &str) -> PyResult<()> {
        let object = fs::read(labelled_object)?;
        written(target, |file| self.0.count(&object, name, file))
    }
}

fn written(
    target: PathBuf,
    write: impl FnOnce(&mut BufWriter<File>) -> Result<(), AssemblyError>,
) -> PyResult<()> {
    let file = File::create(&target)?;
    let mut file = BufWriter::new(file);
    let done = write(&mut file).and_then(|()| Ok(file.flush()?));
    if let Err(AssemblyError::Write(cause)) = &done {
        let problem = format!("cannot write {}: {cause}", target.display());
        return Err(io::Error::new(cause.kind(), problem).into());
    }
    done.map_err(config_error)
}
