//! The homenode._core extension module: conversions between Python and the engines, no logic.
//!
//! Everything structured crosses as JSON text, references as NumPy columns. Long calls release the
//! interpreter and report to a progress callable; see `call.rs`.

mod batches;
mod call;
mod error;
mod interruptible;
mod programs;
mod studies;
mod tables;
mod traces;
mod writer;

use pyo3::prelude::*;

/// Version of the package, `major.minor.patch`.
#[pyfunction]
fn version() -> &'static str {
    env!("CARGO_PKG_VERSION")
}

/// The compiled half of homenode; use the package `homenode` instead.
#[pymodule]
fn _core(module: &Bound<'_, PyModule>) -> PyResult<()> {
    error::register(module)?;
    module.add_class::<writer::PyTraceWriter>()?;
    module.add_class::<batches::Batches>()?;
    module.add_function(wrap_pyfunction!(version, module)?)?;
    module.add_function(wrap_pyfunction!(tables::table, module)?)?;
    module.add_function(wrap_pyfunction!(tables::machine_prices, module)?)?;
    module.add_function(wrap_pyfunction!(tables::schema, module)?)?;
    module.add_function(wrap_pyfunction!(tables::studies_with_options, module)?)?;
    module.add_function(wrap_pyfunction!(studies::simulate, module)?)?;
    module.add_function(wrap_pyfunction!(traces::trace_info, module)?)?;
    module.add_function(wrap_pyfunction!(traces::trace_metadata, module)?)?;
    module.add_function(wrap_pyfunction!(traces::import_trace, module)?)?;
    module.add_function(wrap_pyfunction!(traces::export_trace, module)?)?;
    module.add_function(wrap_pyfunction!(traces::repair, module)?)?;
    module.add_function(wrap_pyfunction!(traces::compact, module)?)?;
    module.add_function(wrap_pyfunction!(batches::read_batches, module)?)?;
    module.add_function(wrap_pyfunction!(studies::worst_blocks, module)?)?;
    module.add_function(wrap_pyfunction!(studies::simulate_bus, module)?)?;
    module.add_function(wrap_pyfunction!(programs::run_bus, module)?)?;
    module.add_function(wrap_pyfunction!(programs::run_directory, module)?)?;
    module.add_function(wrap_pyfunction!(tables::have_caches, module)?)?;
    module.add_function(wrap_pyfunction!(tables::machine_kinds, module)?)?;
    module.add_function(wrap_pyfunction!(studies::line_waits, module)?)?;
    module.add_function(wrap_pyfunction!(tables::critical_point, module)?)?;
    module.add_function(wrap_pyfunction!(studies::footprint, module)?)?;
    module.add_function(wrap_pyfunction!(tables::check_protocols, module)?)?;
    module.add_function(wrap_pyfunction!(studies::simulate_directory, module)?)?;
    module.add_function(wrap_pyfunction!(studies::directory_uses, module)?)?;
    module.add_function(wrap_pyfunction!(tables::check_directory_protocols, module)?)?;
    module.add_function(wrap_pyfunction!(studies::explain, module)?)?;
    module.add_function(wrap_pyfunction!(studies::tlb, module)?)?;
    module.add_function(wrap_pyfunction!(studies::optimal, module)?)?;
    module.add_function(wrap_pyfunction!(studies::pmap, module)?)?;
    module.add_function(wrap_pyfunction!(tables::page_actions, module)?)?;
    module.add_function(wrap_pyfunction!(studies::picture, module)?)?;
    module.add_function(wrap_pyfunction!(traces::transform, module)?)?;
    module.add_function(wrap_pyfunction!(studies::sharing, module)?)?;
    module.add_function(wrap_pyfunction!(traces::synthetic, module)?)?;
    module.add_function(wrap_pyfunction!(studies::advise, module)?)?;
    module.add_function(wrap_pyfunction!(programs::record, module)?)?;
    Ok(())
}
