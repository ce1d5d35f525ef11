//! The picture of sharing: which processors reference which part of memory when.

use homenode_sim::{PictureConfig, sharing_picture};
use homenode_trace::TraceReader;
use serde_json::{Value, json};

use super::{Engine, configured, laws, quietly};
use crate::cases::census::Counted;
use crate::cases::corpus::Case;

pub const ENGINE: Engine = Engine { name: "picture", cannot: |_| None, run };

fn run(case: &Case, trace: &TraceReader, with: &Value) -> Result<Vec<Value>, String> {
    let base = json!({
        "block_size": case.machine.block_size, "stretches": 64, "slices": 4,
        "processors": case.processors(),
    });
    let config: PictureConfig = configured(base, with)?;
    let found = quietly(|progress| sharing_picture(&config, trace, progress))?;
    let outcome = serde_json::to_value(&found).map_err(|e| e.to_string())?;
    // The picture includes private references only if they count as shared.
    let asked = Counted::asked(&config, false)?;
    let counted = Counted { private: as_shared(&config)?, ..asked };
    let rows = &found.map.rows;
    let drawn: u64 = rows.iter().flat_map(|row| row.reads.iter().chain(&row.writes)).sum();
    let cells = found.slices.iter().all(|slice| slice.len() == rows.len());
    let least = config.block_size.max(found.map.row_bytes);
    laws(
        &outcome,
        &[
            ("every reference is drawn once", found.references == counted.references(case)),
            ("the map has every reference", drawn == found.references),
            ("a slice has a cell for every stretch", cells),
            (
                "the number of slices is the requested one",
                found.slices.len() == config.slices as usize,
            ),
            ("no stretch is smaller than requested", found.map.row_bytes == least),
            ("no more stretches than requested", rows.len() <= config.stretches as usize),
        ],
    )?;
    Ok(vec![outcome])
}

fn as_shared(config: &PictureConfig) -> Result<bool, String> {
    let config = serde_json::to_value(config).map_err(|e| e.to_string())?;
    Ok(config["private"] == "shared")
}
