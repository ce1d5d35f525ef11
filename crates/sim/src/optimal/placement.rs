//! Placements as text: one line for each change of place.

use std::io::Write;

use homenode_base::BlockSize;
use homenode_optimal::Change;
use serde::{Deserialize, Serialize};

use crate::error::{SimError, SimResult};

const HEAD: &str = "machine,policy,block_size,address,reference,processors,global\n";

/// Format of written changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PlacementFormat {
    /// One JSON object a line.
    Jsonl,
    /// Comma-separated values; processors are separated by spaces.
    Csv,
}

/// The destination of a placement.
pub struct PlacementOutput<'a> {
    /// The output.
    pub sink: &'a mut dyn Write,
    /// The format.
    pub format: PlacementFormat,
}

pub(super) struct PlacementLabel<'a> {
    pub(super) machine: &'a str,
    pub(super) replicate: bool,
    pub(super) block_size: BlockSize,
}

#[derive(Serialize)]
struct PlacementLine<'a> {
    machine: &'a str,
    policy: &'static str,
    block_size: u64,
    address: String,
    reference: u64,
    processors: &'a [u16],
    global: bool,
}

pub(super) fn head(output: &mut PlacementOutput<'_>) -> SimResult<()> {
    match output.format {
        PlacementFormat::Jsonl => Ok(()),
        PlacementFormat::Csv => output.sink.write_all(HEAD.as_bytes()).map_err(SimError::Output),
    }
}

pub(super) fn write(
    text: &mut Vec<u8>,
    about: &PlacementLabel<'_>,
    number: u64,
    changes: &[Change],
    format: PlacementFormat,
) {
    let policy = if about.replicate { "optimal" } else { "optimal-no-replication" };
    let bytes = about.block_size.bytes();
    let address = format!("0x{:x}", number.saturating_mul(bytes));
    for change in changes {
        let written = match format {
            PlacementFormat::Jsonl => {
                let line = PlacementLine {
                    machine: about.machine,
                    policy,
                    block_size: bytes,
                    address: address.clone(),
                    reference: change.reference,
                    processors: &change.places,
                    global: change.global,
                };
                serde_json::to_writer(&mut *text, &line).map_err(Into::into)
            }
            PlacementFormat::Csv => {
                let each: Vec<String> = change.places.iter().map(u16::to_string).collect();
                let machine = quoted(about.machine);
                let (reference, global) = (change.reference, change.global);
                let places = each.join(" ");
                write!(text, "{machine},{policy},{bytes},{address},{reference},{places},{global}")
            }
        };
        written.expect("memory takes everything");
        text.push(b'\n');
    }
}

fn quoted(field: &str) -> String {
    if field.contains([',', '"', '\n']) {
        return format!("\"{}\"", field.replace('"', "\"\""));
    }
    field.to_owned()
}
