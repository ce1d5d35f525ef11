//! The file: what is known about a workload.
//!
//! Shares are in percent of the references of the group, fetches included, as publications print
//! them.

use std::path::Path;

use serde::Deserialize;
use toml::de::{DeTable, Deserializer};

use crate::error::ServersError;
use crate::sourced::{put, without_sources};

/// A workload of processes.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct Statistics {
    /// Its name.
    pub name: String,
    /// One line about it.
    pub summary: String,
    /// Where the numbers come from.
    pub source: String,
    /// The trace as a whole.
    pub trace: TraceShape,
    /// The kernel's memory.
    #[serde(default)]
    pub kernel: Kernel,
    /// Where references go that are not to shared data.
    pub locality: WalkLocality,
    /// How shared data is used.
    pub sessions: Sessions,
    /// The processes.
    #[serde(rename = "group")]
    pub groups: Vec<Group>,
}

/// The trace as a whole.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct TraceShape {
    /// References, fetches included.
    pub references: u64,
    /// Bytes of the blocks that are counted.
    pub block_bytes: u64,
    /// Bytes of a reference.
    pub word_bytes: u64,
    /// References of a process before the next one's; longer or shorter if groups make unequal
    /// numbers of references.
    pub turn_references: u64,
    /// Determines all random choices.
    pub seed: u64,
}

/// The memory of the kernel, all of it in addition to the processes' own but for `code_blocks`
/// and `shared_blocks`, which are among the distinct blocks of each group that uses them.
#[derive(Clone, Debug, Default, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct Kernel {
    /// Code.
    pub code_blocks: u64,
    /// Data that several processes reference.
    pub shared_blocks: u64,
    /// Data of one process each, of all processes together.
    pub private_blocks: u64,
    /// References to the kernel at a time, on average.
    pub call_references: f64,
    /// How its shared data is used, if differently.
    pub sessions: Option<Sessions>,
}

/// Where fetches and references to private data go.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct WalkLocality {
    /// Blocks of code in a loop, on average.
    pub loop_blocks: f64,
    /// Rounds of a loop, on average.
    pub loop_rounds: f64,
    /// Zipf's exponent of the choice of the next loop.
    pub code_zipf: f64,
    /// Words of private data referenced one after the other, on average.
    pub run_words: f64,
    /// Zipf's exponent of the choice of the next block of private data.
    pub data_zipf: f64,
    /// Neighbouring blocks of similar popularity.
    pub cluster_blocks: u64,
}

/// The distribution of the lengths of sessions.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum Lengths {
    /// Each reference is the last with the same probability.
    Geometric,
    /// All are as long as the mean, rounded.
    Fixed,
}

/// A process references one shared object for a session, then another one.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct Sessions {
    /// Blocks of an object.
    pub object_blocks: u64,
    /// References to the object, on average.
    pub accesses: f64,
    /// Their distribution.
    pub lengths: Lengths,
    /// Zipf's exponent of the choice of the next object.
    pub zipf: f64,
    /// Percent of the references that are to a word of the process's own in the object.
    pub own_words: f64,
}

/// Processes with the same statistics.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct Group {
    /// Their name.
    pub name: String,
    /// How many there are.
    pub processes: u64,
    /// Their percentage of the references of the trace; without it groups have references in
    /// proportion to their processes.
    pub references: Option<f64>,
    /// Blocks that they touch together, but for the kernel's private blocks.
    pub distinct_blocks: u64,
    /// Blocks of code among them, without the kernel's.
    pub code_blocks: u64,
    /// Fetches.
    pub code: f64,
    /// Reads and writes.
    pub data: f64,
    /// Writes.
    pub data_write: f64,
    /// Blocks of data that several of them reference.
    pub shared_blocks: u64,
    /// References to these.
    pub shared_access: f64,
    /// Writes to these.
    pub shared_write: f64,
    /// References by the kernel.
    #[serde(default)]
    pub kernel: f64,
    /// The kernel's among the shared blocks.
    #[serde(default)]
    pub kernel_shared_blocks: u64,
    /// Percent of the references to shared data that are to the kernel's.
    #[serde(default)]
    pub kernel_shared_access: f64,
    /// Its own locality and sessions.
    #[serde(default)]
    pub own: Overrides,
}

/// What a group has of its own; each table takes the place of that of the file.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct Overrides {
    /// Instead of the file's locality.
    pub locality: Option<WalkLocality>,
    /// Instead of the file's sessions.
    pub sessions: Option<Sessions>,
}

impl Statistics {
    /// Reads a file; `origin` names it in errors.
    ///
    /// # Errors
    /// When it is not TOML, lacks a key, or has an unknown one.
    pub fn parse(text: &str, origin: &str) -> Result<Self, ServersError> {
        let fail = |error: &toml::de::Error| {
            let at = error.span().map_or(0, |span| span.start);
            let line = text.get(..at).unwrap_or(text).matches('\n').count() + 1;
            let problem = error.message().to_owned();
            ServersError::File { origin: origin.to_owned(), line, problem }
        };
        let mut table = DeTable::parse(text).map_err(|error| fail(&error))?;
        without_sources(table.get_mut());
        Self::deserialize(Deserializer::from(table)).map_err(|error| fail(&error))
    }

    /// Reads a file with some of its values changed, each a key (`sessions.accesses`,
    /// `group.NAME.kernel`) and a value as in the file.
    ///
    /// # Errors
    /// As [`parse`](Self::parse), and when the file has no such key, or the value does not fit.
    pub fn parse_with(
        text: &str,
        origin: &str,
        changes: &[(String, String)],
    ) -> Result<Self, ServersError> {
        let mut found = Self::parse(text, origin)?;
        // Each is tried by itself: an error is then that of the last one.
        for count in 1..=changes.len() {
            found = changed(text, &changes[..count]).map_err(|problem| {
                let (key, value) = changes[count - 1].clone();
                let remedy = "write KEY=VALUE with a key and a kind of value that the file has";
                let (origin, remedy) = (origin.to_owned(), remedy.to_owned());
                ServersError::Impossible { origin, key, value, problem, remedy }
            })?;
        }
        Ok(found)
    }

    /// Reads a file by its path, with some of its values changed.
    ///
    /// # Errors
    /// When it cannot be read, or as [`parse_with`](Self::parse_with).
    pub fn read(path: &Path, changes: &[(String, String)]) -> Result<Self, ServersError> {
        let text = std::fs::read_to_string(path)
            .map_err(|source| ServersError::Io { path: path.to_owned(), source })?;
        Self::parse_with(&text, &path.display().to_string(), changes)
    }

    /// The same workload with all references and blocks divided by a number; what is there stays
    /// at least one block.
    #[must_use]
    pub fn scaled(mut self, by: u64) -> Self {
        let by = by.max(1);
        let part = |count: &mut u64| {
            *count = count.saturating_add(by / 2).div_euclid(by).max((*count).min(1))
        };
        part(&mut self.trace.references);
        part(&mut self.kernel.code_blocks);
        part(&mut self.kernel.shared_blocks);
        part(&mut self.kernel.private_blocks);
        for group in &mut self.groups {
            part(&mut group.distinct_blocks);
            part(&mut group.code_blocks);
            part(&mut group.shared_blocks);
            part(&mut group.kernel_shared_blocks);
        }
        self
    }
}

/// A valid file with changes; the error is the last one's.
fn changed(text: &str, changes: &[(String, String)]) -> Result<Statistics, String> {
    let said = |error: toml::de::Error| error.message().to_owned();
    let lines: Vec<String> = changes.iter().map(|(_, value)| format!("value = {value}")).collect();
    let mut table = DeTable::parse(text).map_err(said)?;
    without_sources(table.get_mut());
    for ((key, _), line) in changes.iter().zip(&lines) {
        let value = DeTable::parse(line).map_err(said)?.into_inner().remove("value");
        put(table.get_mut(), key, value.ok_or("no value")?)?;
    }
    Statistics::deserialize(Deserializer::from(table)).map_err(said)
}
