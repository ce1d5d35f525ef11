//! The corpus: `testdata/cases/*.toml`, read and checked. Its README has the schema.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use homenode_base::Access;
use homenode_trace::TraceReader;
use serde::Deserialize;
use serde_json::Value;
use toml::Table;

use crate::cases::script;

pub fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/cases")
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    name: String,
    source: String,
    about: String,
    trace: String,
    #[serde(default)]
    machine: Machine,
    #[serde(default)]
    metadata: Table,
    #[serde(default)]
    skip: BTreeMap<String, String>,
    #[serde(default)]
    expect: Vec<WrittenExpectation>,
}

/// The part of the machine that all engines share; each adds its own parameters.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Machine {
    /// Processors; as many as the trace has threads if absent.
    pub processors: Option<u16>,
    /// Bytes in a block of a cache, in a page, in a placed block.
    pub block_size: u64,
    /// Bytes in each processor's cache; room for every block of the trace if absent.
    pub cache_size: Option<u64>,
    /// Blocks in a set of it; all of them if absent.
    pub associativity: Option<u64>,
}

impl Default for Machine {
    fn default() -> Self {
        Self { processors: None, block_size: 64, cache_size: None, associativity: None }
    }
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenExpectation {
    engine: String,
    #[serde(default)]
    with: Table,
    gives: Table,
}

#[derive(Clone, Debug)]
pub struct Expectation {
    pub engine: String,
    /// Its configuration, if it differs from the case's machine.
    pub with: Value,
    /// A part of each of its outcomes.
    pub gives: Value,
}

pub struct Case {
    pub file: String,
    pub name: String,
    pub machine: Machine,
    pub skip: BTreeMap<String, String>,
    pub expectations: Vec<Expectation>,
    pub accesses: Vec<Access>,
    pub has_events: bool,
    pub trace: TraceReader,
    /// The same in pieces of a few references.
    pub in_pieces: TraceReader,
}

pub fn read(folder: &Path) -> Result<Vec<Case>, String> {
    let listed = std::fs::read_dir(folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    let mut paths: Vec<PathBuf> = listed.filter_map(|entry| Some(entry.ok()?.path())).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "toml"));
    paths.sort();
    let mut cases = Vec::new();
    for path in paths {
        let file = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let text = std::fs::read_to_string(&path).map_err(|e| format!("{file}: {e}"))?;
        cases.extend(parse(&file, &text)?);
    }
    distinct(cases)
}

pub fn distinct(cases: Vec<Case>) -> Result<Vec<Case>, String> {
    let mut names = BTreeSet::new();
    match cases.iter().find(|case| !names.insert(&case.name)) {
        Some(twice) => Err(format!("{}: case {}: the name occurs twice", twice.file, twice.name)),
        None => Ok(cases),
    }
}

pub fn parse(file: &str, text: &str) -> Result<Vec<Case>, String> {
    let mut table: Table = text.parse().map_err(|e| format!("{file}: {e}"))?;
    let cases = table.remove("case").unwrap_or(toml::Value::Array(Vec::new()));
    if let Some(key) = table.keys().next() {
        return Err(format!("{file}: unknown key {key:?}: expected [[case]]"));
    }
    let toml::Value::Array(cases) = cases else {
        return Err(format!("{file}: `case` is a list: expected [[case]]"));
    };
    let one = |(number, value): (usize, toml::Value)| {
        let name = value.get("name").and_then(toml::Value::as_str).map(str::to_owned);
        let name = name.unwrap_or_else(|| format!("number {}", number + 1));
        let written: Result<Written, _> = value.try_into();
        let problem = |e: String| format!("{file}: case {name}: {}", e.trim());
        written.map_err(|e| e.to_string()).and_then(|w| build(file, w)).map_err(problem)
    };
    cases.into_iter().enumerate().map(one).collect()
}

fn build(file: &str, written: Written) -> Result<Case, String> {
    for (what, text) in [("source", &written.source), ("about", &written.about)] {
        if text.trim().is_empty() {
            return Err(format!("`{what}` is empty: say where the numbers come from"));
        }
    }
    if written.expect.is_empty() {
        return Err("no [[case.expect]]: a case has at least one number worked out by hand".into());
    }
    let text = script::expand(&written.trace)?;
    let metadata = json(&written.metadata)?;
    let trace = script::trace(&text, &metadata, 1 << 16)?;
    let expectation = |e: WrittenExpectation| {
        let (with, gives) = (json(&e.with)?, json(&e.gives)?);
        Ok(Expectation { engine: e.engine, with, gives })
    };
    Ok(Case {
        file: file.to_owned(),
        name: written.name,
        machine: written.machine,
        skip: written.skip,
        expectations: written.expect.into_iter().map(expectation).collect::<Result<_, String>>()?,
        accesses: script::accesses(&trace)?,
        has_events: trace.chunks().iter().any(|chunk| chunk.events > 0),
        in_pieces: script::trace(&text, &metadata, 3)?,
        trace,
    })
}

fn json(table: &Table) -> Result<Value, String> {
    serde_json::to_value(table).map_err(|e| e.to_string())
}

impl Case {
    pub fn processors(&self) -> u16 {
        self.machine.processors.unwrap_or_else(|| self.trace.threads().max(1))
    }
}
