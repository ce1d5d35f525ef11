//! The optimum in detail: configuration in as JSON, report out as JSON, the placement to a file.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use homenode_sim::{OptimalConfig, PlacementFormat, PlacementOutput, SimError};
use homenode_trace::TraceReader;
use pyo3::prelude::*;

use crate::interchange::to_json;
use crate::progress::ProgressCallback;
use crate::simulate::{parse, sim_error};

/// Finds the optimum; `out` is the file for the placement, with `-` for standard output, and
/// whether its format is comma-separated values.
#[pyfunction]
pub fn optimal(
    py: Python<'_>,
    path: PathBuf,
    config_json: &str,
    out: Option<(PathBuf, bool)>,
    progress: Option<Py<PyAny>>,
) -> PyResult<String> {
    let config: OptimalConfig = parse(config_json)?;
    let mut progress = ProgressCallback::new(progress);
    let result = py.detach(|| {
        let trace = TraceReader::open(path)?;
        let mut tick = |done, total| progress.tick(done, total);
        let Some((out, csv)) = out else {
            return homenode_sim::optimal(&config, &trace, None, &mut tick);
        };
        let mut sink = open(&out).map_err(SimError::Output)?;
        let format = if csv { PlacementFormat::Csv } else { PlacementFormat::Jsonl };
        let output = PlacementOutput { sink: &mut sink, format };
        let report = homenode_sim::optimal(&config, &trace, Some(output), &mut tick)?;
        sink.flush().map_err(SimError::Output)?;
        Ok(report)
    });
    to_json(&progress.finish(result.map_err(|error| sim_error(&error)))?)
}

fn open(out: &Path) -> io::Result<Box<dyn Write>> {
    if out == Path::new("-") {
        return Ok(Box::new(io::stdout().lock()));
    }
    Ok(Box::new(BufWriter::new(File::create(out)?)))
}
