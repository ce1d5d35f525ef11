//! The homenode._core extension module: conversions between Python and the engines, no logic.
//!
//! Everything structured crosses as JSON text, references as NumPy columns. Long calls release the
//! interpreter and report to a progress callable; see `call.rs`.

mod assembly;
mod batches;
mod call;
mod error;
mod programs;
mod stream;
mod studies;
mod tables;
mod traces;
mod writer;

/// The compiled half of homenode; use the package `homenode` instead.
#[pyo3::pymodule]
mod _core {
    use pyo3::prelude::*;

    #[pymodule_export]
    use crate::assembly::PyAssembly;
    #[pymodule_export]
    use crate::batches::{Batches, read_batches};
    #[pymodule_export]
    use crate::programs::{record, run};
    #[pymodule_export]
    use crate::studies::{
        advise, explain, footprint, line_waits, optimal, picture, pmap, sharing, simulate, tlb,
        worst_blocks,
    };
    #[pymodule_export]
    use crate::tables::{
        check_directory_protocols, check_protocols, critical_point, engine_of, machine_kinds,
        machine_prices, page_actions, schema, studies_with_options, table,
    };
    #[pymodule_export]
    use crate::traces::{
        compact, export_trace, import_trace, repair, servers, synthetic, trace_info,
        trace_metadata, transform,
    };
    #[pymodule_export]
    use crate::writer::{PyThreadNumbers, PyTraceWriter};

    /// Version of the package, `major.minor.patch`.
    #[pyfunction]
    fn version() -> &'static str {
        env!("CARGO_PKG_VERSION")
    }

    #[pymodule_init]
    fn exceptions(module: &Bound<'_, PyModule>) -> PyResult<()> {
        crate::error::register(module)
    }
}
