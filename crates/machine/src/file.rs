//! The TOML file of a machine: its kind, and the keys that it inherits from its base.
//!
//! ```toml
//! name = "example"            # required, unless there is a base
//! kind = "bus"                # optional where there is a base, or prices
//! base = "numa"               # optional: what is absent here is taken from there
//! summary = "one line"
//! source = "where the numbers come from"
//! ```
//! A base is a machine of the table and of the same kind. Tables are inherited key by key, but a
//! formula as a whole: its `terms` are those of one file. The other keys depend on the kind
//! ([`KINDS`]).

use serde::de::DeserializeOwned;
use toml::Spanned;
use toml::de::{DeTable, DeValue, Deserializer};

use crate::cached::CachedMachine;
use crate::error::MachineError;
use crate::kind::{KINDS, MachineKind};
use crate::parts::without_sources;
use crate::table::{Preset, TABLE};

/// Longest chain of files through `base`.
const BASES_MAX: usize = 8;

/// The description, which machines of every kind have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Description {
    /// Name, as in the table, the file or the price list.
    pub name: String,
    /// One line about the machine.
    pub summary: String,
    /// Where its numbers come from.
    pub source: String,
}

impl Description {
    pub(crate) fn new(name: String, summary: String, source: String) -> Self {
        Self { name, summary, source }
    }
}

/// A file, with missing keys taken from its base.
pub struct MachineFile<'a> {
    pub(crate) kind: MachineKind,
    origin: &'a str,
    text: &'a str,
    table: Spanned<DeTable<'a>>,
}

impl<'a> MachineFile<'a> {
    /// Reads a file and its bases; `origin` names it in errors.
    pub(crate) fn read(text: &'a str, origin: &'a str) -> Result<Self, MachineError> {
        Self::read_chain(text, origin, BASES_MAX)
    }

    /// Reads a file that is one of at most `files_max`, the others being its bases.
    fn read_chain(text: &'a str, origin: &'a str, files_max: usize) -> Result<Self, MachineError> {
        let table = DeTable::parse(text).map_err(|e| parse_error(text, origin, &e))?;
        let kind = default_kind(table.get_ref());
        let mut file = Self { kind, origin, text, table };
        let declared = file.declared_kind()?;
        if let Some((base, at)) = file.take_string("base")? {
            if files_max <= 1 {
                let problem = format!("more than {BASES_MAX} machines in a chain of bases");
                return Err(file.error(problem));
            }
            let base = file.base(&base, declared, at)?;
            let base = Self::read_chain(base.text, base.name, files_max - 1)?;
            file.kind = base.kind;
            inherit(file.table.get_mut(), base.table.into_inner());
        } else {
            file.kind = declared.unwrap_or(kind);
        }
        Ok(file)
    }

    fn declared_kind(&mut self) -> Result<Option<MachineKind>, MachineError> {
        let Some((name, at)) = self.take_string("kind")? else { return Ok(None) };
        match MachineKind::named(&name) {
            Some(kind) => Ok(Some(kind)),
            None => {
                let known: Vec<&str> = KINDS.iter().map(|entry| entry.name).collect();
                let known = known.join(", ");
                Err(self.error_at(at, &format!("unknown kind {name:?}: expected one of {known}")))
            }
        }
    }

    /// The machine with this name, which must be of the declared kind, if one is.
    fn base(
        &self,
        name: &str,
        kind: Option<MachineKind>,
        at: usize,
    ) -> Result<&'static Preset, MachineError> {
        let kind_of = |p: &Preset| MachineFile::read(p.text, p.name).map(|file| file.kind).ok();
        let fits = |p: &&Preset| kind.is_none() || kind_of(p) == kind;
        let found = TABLE.iter().find(|preset| preset.name == name);
        if let Some(base) = found.filter(fits) {
            return Ok(base);
        }
        let known: Vec<&str> = TABLE.iter().filter(fits).map(|preset| preset.name).collect();
        let known = known.join(", ");
        let problem = match (found.and_then(kind_of), kind) {
            (Some(other), Some(kind)) => format!(
                "base {name:?}: expected one of {known}, as the kind is {}; {name} is of kind {}",
                kind.name(),
                other.name()
            ),
            (_, _) => format!("base: unknown machine {name:?}: expected one of {known}"),
        };
        Err(self.error_at(at, &problem))
    }

    /// Removes a key that means the same in all kinds; returns its value and its position in the
    /// text.
    fn take_string(&mut self, key: &str) -> Result<Option<(String, usize)>, MachineError> {
        let Some(value) = self.table.get_mut().remove(key) else { return Ok(None) };
        let at = value.span().start;
        match value.into_inner().as_str() {
            Some(text) => Ok(Some((text.to_owned(), at))),
            None => Err(self.error_at(at, &format!("{key}: expected a string"))),
        }
    }

    /// The contents of the file and its bases, without kind, base and the sources of values.
    pub(crate) fn contents<T: DeserializeOwned>(mut self) -> Result<T, MachineError> {
        // Bases are machines of the table and valid, so any error is in this file's text.
        let (text, origin) = (self.text, self.origin);
        let sourced = without_sources(self.table.get_mut());
        let contents = T::deserialize(Deserializer::from(self.table));
        contents
            .and_then(|contents| sourced.map(|()| contents))
            .map_err(|error| parse_error(text, origin, &error))
    }

    /// The machine with caches that `build` makes of the contents. The error of `build` says what
    /// is wrong with them.
    pub(crate) fn cached<T: DeserializeOwned>(
        self,
        build: impl FnOnce(T) -> Result<CachedMachine, String>,
    ) -> Result<CachedMachine, MachineError> {
        let origin = self.origin.to_owned();
        build(self.contents()?).map_err(|problem| MachineError::File { origin, problem })
    }

    /// The file, or the name in the table.
    pub(crate) fn origin(&self) -> &'a str {
        self.origin
    }

    fn error(&self, problem: String) -> MachineError {
        MachineError::File { origin: self.origin.to_owned(), problem }
    }

    fn error_at(&self, at: usize, problem: &str) -> MachineError {
        self.error(at_line(self.text, at, problem))
    }
}

/// The kind of a machine whose file declares neither a kind nor a base: it has prices or latencies.
fn default_kind(file: &DeTable<'_>) -> MachineKind {
    let events = ["latencies", "packets"].iter().any(|&table| file.contains_key(table));
    if events { MachineKind::PageCoherence } else { MachineKind::Placement }
}

/// An error in a text, as TOML or as a machine, with its line.
fn parse_error(text: &str, origin: &str, error: &toml::de::Error) -> MachineError {
    let problem = at_line(text, error.span().map_or(0, |span| span.start), error.message());
    MachineError::File { origin: origin.to_owned(), problem }
}

fn at_line(text: &str, at: usize, problem: &str) -> String {
    let line = text.get(..at).unwrap_or(text).matches('\n').count() + 1;
    format!("line {line}: {problem}")
}

/// Adds the keys of `base` that `table` lacks. A formula inherits only its source.
fn inherit<'a>(table: &mut DeTable<'a>, base: DeTable<'a>) {
    const FORMULA: [&str; 2] = ["terms", "infinite"];
    let is_formula = FORMULA.iter().any(|&key| table.contains_key(key));
    for (key, value) in base {
        if is_formula && FORMULA.contains(&key.get_ref().as_ref()) {
            continue;
        }
        match table.get_mut(key.get_ref().as_ref()).map(Spanned::get_mut) {
            None => {
                table.insert(key, value);
            }
            Some(DeValue::Table(own)) => {
                if let DeValue::Table(base) = value.into_inner() {
                    inherit(own, base);
                }
            }
            Some(_) => {}
        }
    }
}
