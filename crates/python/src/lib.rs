//! The homenode._core extension module: conversions between Python and the engines, no logic.
//!
//! Everything structured crosses as JSON text, references as NumPy columns. Long calls release the
//! interpreter and report to a progress callable; see `progress.rs`.

mod advise;
mod batches;
mod bus;
mod directory;
mod error;
mod explain;
mod interchange;
mod live;
mod optimal;
mod page_use;
mod patient;
mod picture;
mod pmap;
mod progress;
mod record;
mod sharing;
mod simulate;
mod tables;
mod tlb;
mod transform;
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
    module.add_function(wrap_pyfunction!(simulate::simulate, module)?)?;
    module.add_function(wrap_pyfunction!(interchange::trace_info, module)?)?;
    module.add_function(wrap_pyfunction!(interchange::trace_metadata, module)?)?;
    module.add_function(wrap_pyfunction!(interchange::import_trace, module)?)?;
    module.add_function(wrap_pyfunction!(interchange::export_trace, module)?)?;
    module.add_function(wrap_pyfunction!(interchange::repair, module)?)?;
    module.add_function(wrap_pyfunction!(interchange::compact, module)?)?;
    module.add_function(wrap_pyfunction!(batches::read_batches, module)?)?;
    module.add_function(wrap_pyfunction!(simulate::worst_blocks, module)?)?;
    module.add_function(wrap_pyfunction!(bus::simulate_bus, module)?)?;
    module.add_function(wrap_pyfunction!(live::run_bus, module)?)?;
    module.add_function(wrap_pyfunction!(live::run_directory, module)?)?;
    module.add_function(wrap_pyfunction!(bus::have_caches, module)?)?;
    module.add_function(wrap_pyfunction!(bus::machine_kinds, module)?)?;
    module.add_function(wrap_pyfunction!(bus::line_waits, module)?)?;
    module.add_function(wrap_pyfunction!(bus::critical_point, module)?)?;
    module.add_function(wrap_pyfunction!(bus::footprint, module)?)?;
    module.add_function(wrap_pyfunction!(bus::check_protocols, module)?)?;
    module.add_function(wrap_pyfunction!(directory::simulate_directory, module)?)?;
    module.add_function(wrap_pyfunction!(directory::directory_uses, module)?)?;
    module.add_function(wrap_pyfunction!(directory::check_directory_protocols, module)?)?;
    module.add_function(wrap_pyfunction!(explain::explain, module)?)?;
    module.add_function(wrap_pyfunction!(tlb::tlb, module)?)?;
    module.add_function(wrap_pyfunction!(optimal::optimal, module)?)?;
    module.add_function(wrap_pyfunction!(pmap::pmap, module)?)?;
    module.add_function(wrap_pyfunction!(pmap::page_actions, module)?)?;
    module.add_function(wrap_pyfunction!(picture::picture, module)?)?;
    module.add_function(wrap_pyfunction!(transform::transform, module)?)?;
    module.add_function(wrap_pyfunction!(sharing::sharing, module)?)?;
    module.add_function(wrap_pyfunction!(sharing::synthetic, module)?)?;
    module.add_function(wrap_pyfunction!(advise::advise, module)?)?;
    module.add_function(wrap_pyfunction!(record::record, module)?)?;
    Ok(())
}
