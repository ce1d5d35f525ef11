//! Progress callables: called rarely, and where Ctrl-C is noticed.

use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use pyo3::prelude::*;

/// Least time between two calls into Python.
const INTERVAL: Duration = Duration::from_millis(100);

/// A Python callable `(done, total or None)`, called from an engine that runs without the
/// interpreter.
pub struct ProgressCallback {
    callable: Option<Py<PyAny>>,
    last: Instant,
    error: Option<PyErr>,
}

impl ProgressCallback {
    /// Reports to `callable`, or only checks for signals if there is none.
    pub fn new(callable: Option<Py<PyAny>>) -> Self {
        Self { callable, last: Instant::now(), error: None }
    }

    /// Reports if it is time to. Breaks when Python raises, in the callable or because of Ctrl-C.
    pub fn tick(&mut self, done: u64, total: Option<u64>) -> ControlFlow<()> {
        let finished = total == Some(done);
        if self.last.elapsed() < INTERVAL && !finished {
            return ControlFlow::Continue(());
        }
        self.last = Instant::now();
        let outcome = Python::attach(|py| {
            py.check_signals()?;
            if let Some(callable) = &self.callable {
                callable.call1(py, (done, total))?;
            }
            Ok(())
        });
        match outcome {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => {
                self.error = Some(error);
                ControlFlow::Break(())
            }
        }
    }

    /// Records an exception that Python raised elsewhere, such as while input was read.
    pub fn interrupted(&mut self, error: PyErr) {
        self.error = Some(error);
    }

    /// The result of a call that may have been interrupted: Python's own exception takes
    /// precedence.
    pub fn finish<T>(self, result: Result<T, PyErr>) -> PyResult<T> {
        match self.error {
            Some(error) => Err(error),
            None => result,
        }
    }
}
