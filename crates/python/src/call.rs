//! Calls of engines: JSON in and out, without the interpreter, with progress and Ctrl-C.

use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::error::config_error;

/// Least time between two calls into Python.
const INTERVAL: Duration = Duration::from_millis(100);

/// Runs `work` without the interpreter. An exception that Python raises meanwhile, in the progress
/// callable or because of Ctrl-C, takes precedence over the result.
pub fn detached<T: Send, E: Send>(
    py: Python<'_>,
    progress: Option<Py<PyAny>>,
    exception: impl FnOnce(&E) -> PyErr,
    work: impl FnOnce(&mut ProgressCallback) -> Result<T, E> + Send,
) -> PyResult<T> {
    let mut progress = ProgressCallback { callable: progress, last: Instant::now(), error: None };
    let result = py.detach(|| work(&mut progress));
    match progress.error {
        Some(error) => Err(error),
        None => result.map_err(|error| exception(&error)),
    }
}

/// A value from JSON; errors call it `what`.
pub fn parse<C: DeserializeOwned>(what: &str, json: &str) -> PyResult<C> {
    serde_json::from_str(json).map_err(|e| config_error(format!("the {what} cannot be read: {e}")))
}

/// JSON of a value whose serialisation cannot fail.
pub fn to_json<T: Serialize + ?Sized>(value: &T) -> PyResult<String> {
    serde_json::to_string(value).map_err(|e| PyRuntimeError::new_err(e.to_string()))
}

/// A Python callable `(done, total or None)`, called from an engine that runs without the
/// interpreter; without a callable only signals are checked.
pub struct ProgressCallback {
    callable: Option<Py<PyAny>>,
    last: Instant,
    error: Option<PyErr>,
}

impl ProgressCallback {
    /// Reports if the interval is over. Breaks when Python raises, in the callable or because of
    /// Ctrl-C.
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
                self.interrupted(error);
                ControlFlow::Break(())
            }
        }
    }

    /// Records an exception that Python raised, here or elsewhere, such as while input was read.
    pub fn interrupted(&mut self, error: PyErr) {
        self.error = Some(error);
    }
}
