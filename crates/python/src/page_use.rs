//! Page use by node on machines with a directory, as NumPy columns.

use homenode_sim::PageUseColumns;
use numpy::IntoPyArray;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// The columns by name; `_core.pyi` and the class `PageUse` define them.
pub fn columns(py: Python<'_>, found: PageUseColumns) -> PyResult<Bound<'_, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("page_bytes", found.page_bytes)?;
    dict.set_item("nodes", found.nodes)?;
    dict.set_item("objects", found.objects)?;
    dict.set_item("page_address", found.page_address.into_pyarray(py))?;
    dict.set_item("page_home", found.page_home.into_pyarray(py))?;
    dict.set_item("page_object", found.page_object.into_pyarray(py))?;
    dict.set_item("use_page", found.use_page.into_pyarray(py))?;
    dict.set_item("use_node", found.use_node.into_pyarray(py))?;
    dict.set_item("use_fills", found.use_fills.into_pyarray(py))?;
    dict.set_item("use_write_backs", found.use_write_backs.into_pyarray(py))?;
    dict.set_item("served_home", found.served_home.into_pyarray(py))?;
    dict.set_item("served_object", found.served_object.into_pyarray(py))?;
    dict.set_item("served_fills", found.served_fills.into_pyarray(py))?;
    let loads = found.home_loads;
    let by_home = |name: &str, of: &dyn Fn(&homenode_sim::HomeLoad) -> u64| {
        let column: Vec<u64> = loads.iter().map(of).collect();
        dict.set_item(name, column.into_pyarray(py))
    };
    by_home("home_controllers", &|load| load.controllers.into())?;
    by_home("home_lookups", &|load| load.lookups.served)?;
    by_home("home_lookup_cycles", &|load| load.lookups.busy)?;
    by_home("home_lookup_waits", &|load| load.lookups.waited)?;
    by_home("home_accesses", &|load| load.accesses.served)?;
    by_home("home_access_cycles", &|load| load.accesses.busy)?;
    by_home("home_access_waits", &|load| load.accesses.waited)?;
    Ok(dict)
}
