//! Input that Python reads: standard input, pipes and compressed files.

use std::cell::RefCell;
use std::io::{self, Read};
use std::rc::Rc;

use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;

/// Bytes read at a time.
const PORTION_BYTES: usize = 1 << 16;

/// Python's exception, if it raised one while it read.
pub type ReadFailure = Rc<RefCell<Option<PyErr>>>;

/// Reads through the `read` of a Python object, which ends a blocked read on a signal.
pub struct StreamReader {
    stream: Py<PyAny>,
    portion: Option<PyBackedBytes>,
    at: usize,
    failure: ReadFailure,
}

impl StreamReader {
    pub fn new(stream: Py<PyAny>, failure: &ReadFailure) -> Self {
        Self { stream, portion: None, at: 0, failure: Rc::clone(failure) }
    }

    fn next_portion(&self) -> io::Result<PyBackedBytes> {
        let read = Python::attach(|py| {
            let bytes = self.stream.bind(py).call_method1("read", (PORTION_BYTES,))?;
            Ok(bytes.extract::<PyBackedBytes>()?)
        });
        read.map_err(|error: PyErr| {
            *self.failure.borrow_mut() = Some(error);
            io::Error::other("Python raised an exception")
        })
    }
}

impl Read for StreamReader {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let portion = match self.portion.take() {
            Some(portion) if self.at < portion.len() => portion,
            _ => {
                self.at = 0;
                self.next_portion()?
            }
        };
        let count = out.len().min(portion.len() - self.at);
        out[..count].copy_from_slice(&portion[self.at..self.at + count]);
        self.at += count;
        self.portion = Some(portion);
        Ok(count)
    }
}
