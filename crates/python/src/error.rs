//! The two exceptions of the package, with the place where something went wrong as attributes.

use std::fmt::Display;
use std::path::Path;

use homenode_sim::SimError;
use pyo3::exceptions::{PyBrokenPipeError, PyException, PyOSError};
use pyo3::prelude::*;
use pyo3::{PyTypeInfo, create_exception};

create_exception!(
    homenode._core,
    TraceError,
    PyException,
    "A trace or an input file is damaged, foreign or cannot be read or written."
);
create_exception!(
    homenode._core,
    ConfigError,
    PyException,
    "A machine, policy, block size or option cannot be used."
);

/// Adds the exceptions to the module; `path`, `offset` and `line` are `None` where unknown.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = module.py();
    for (name, class) in
        [("TraceError", TraceError::type_object(py)), ("ConfigError", ConfigError::type_object(py))]
    {
        for attribute in ["path", "offset", "line"] {
            class.setattr(attribute, py.None())?;
        }
        module.add(name, class)?;
    }
    Ok(())
}

/// A trace error as the Python exception with its place. A closed reader is Python's own
/// `BrokenPipeError`: `homenode export ... | head` is not a failure.
pub fn trace_error(error: &homenode_trace::TraceError) -> PyErr {
    if let homenode_trace::TraceError::Io { source, .. } = error
        && source.kind() == std::io::ErrorKind::BrokenPipe
    {
        return PyBrokenPipeError::new_err(error.to_string());
    }
    placed(TraceError::new_err(error.to_string()), error.path(), error.offset(), error.line())
}

/// An error in the configuration or the options.
pub fn config_error(error: impl Display) -> PyErr {
    ConfigError::new_err(error.to_string())
}

/// A simulation's error as the exception for its cause.
pub fn sim_error(error: &SimError) -> PyErr {
    if let SimError::Output(cause) = error {
        return match cause.raw_os_error() {
            Some(number) => PyOSError::new_err((number, error.to_string())),
            None => PyOSError::new_err(error.to_string()),
        };
    }
    if let SimError::Trace(error) = error { trace_error(error) } else { config_error(error) }
}

fn placed(exception: PyErr, path: Option<&Path>, offset: Option<u64>, line: Option<u64>) -> PyErr {
    Python::attach(|py| {
        let value = exception.value(py);
        let path = path.map(|p| p.display().to_string());
        // A failure here would only hide the place, which the message has too.
        let _ = value.setattr("path", path);
        let _ = value.setattr("offset", offset);
        let _ = value.setattr("line", line);
    });
    exception
}
