//! Traces whose false sharing is known in closed form (thesis section 7.1.6, the examples).
//!
//! Each is a series of writes to one block. The thesis ignores the cost of the first placement;
//! here the first location is free, so its *n* transfers are *n* - 1.

mod false_sharing;
mod fragmentation;
mod grouping;

use std::path::Path;

use homenode_base::{Access, AccessKind, BlockSize, ProcId};
use homenode_trace::{
    AddressRange, Metadata, RangeKind, Summary, TraceError, TraceWriter, WriterOptions,
};

/// Address of the block: aligned to any block size that the study of false sharing accepts.
const ADDRESS: u64 = 1 << 28;

const WORDS_MAX: u64 = 1 << 28;

/// The parameters of a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SyntheticShape {
    /// p, at least 2.
    pub processors: u16,
    /// s: words in the block, a power of two.
    pub words: u64,
    /// n, the length of the trace.
    pub references: u64,
}

/// The exact results for a trace, divided by prices, so that they do not depend on the machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClosedForm {
    /// Phi_s.
    pub transfers: u64,
    /// Phi_1.
    pub word_transfers: u64,
    /// F / b.
    pub fragmentation: u64,
    /// S / R.
    pub false_sharing: u64,
    /// -Gamma / o.
    pub grouping: u64,
}

/// A family of traces.
#[derive(Clone, Copy)]
pub struct Entry {
    /// Name on the command line.
    pub name: &'static str,
    /// One line about it.
    pub summary: &'static str,
    /// Where it comes from.
    pub source: &'static str,
    /// Writer and word of reference `i`.
    pub reference: fn(&SyntheticShape, u64) -> (ProcId, u64),
    /// The condition that the shape violates, if it does.
    pub demand: fn(&SyntheticShape) -> Option<&'static str>,
    /// F, S and Gamma.
    pub closed: fn(&SyntheticShape) -> ClosedForm,
}

/// All families, in the thesis's order.
pub const TABLE: &[Entry] = &[fragmentation::ENTRY, false_sharing::ENTRY, grouping::ENTRY];

/// Why there is no such trace.
#[derive(Debug, thiserror::Error)]
pub enum SyntheticError {
    /// No such name in the table.
    #[error("there is no synthetic trace {name:?}; there are: {known}")]
    Unknown {
        /// What was asked for.
        name: String,
        /// The names in the table.
        known: String,
    },
    /// A parameter has a value that the family cannot have.
    #[error(
        "{name} needs {demand}; found {processors} processors, {words} words, {references} \
             references"
    )]
    Shape {
        /// The family.
        name: &'static str,
        /// What it needs.
        demand: &'static str,
        /// p.
        processors: u16,
        /// s.
        words: u64,
        /// n.
        references: u64,
    },
    /// The trace cannot be written.
    #[error(transparent)]
    Trace(#[from] TraceError),
}

impl Entry {
    /// Checks the parameters.
    ///
    /// # Errors
    /// When the family has no such trace.
    pub fn check(&self, shape: &SyntheticShape) -> Result<(), SyntheticError> {
        let general = if shape.processors < 2 {
            Some("at least two processors")
        } else if !shape.words.is_power_of_two() || shape.words > WORDS_MAX {
            Some("a number of words that is a power of two, at most 2^28")
        } else if shape.references == 0 {
            Some("at least one reference")
        } else {
            None
        };
        let Some(demand) = general.or_else(|| (self.demand)(shape)) else { return Ok(()) };
        Err(SyntheticError::Shape {
            name: self.name,
            demand,
            processors: shape.processors,
            words: shape.words,
            references: shape.references,
        })
    }

    /// The references in order.
    pub fn accesses(&self, shape: SyntheticShape) -> impl Iterator<Item = Access> + '_ {
        (0..shape.references).map(move |i| {
            let (processor, word) = (self.reference)(&shape, i);
            let address = ADDRESS + word * BlockSize::WORD_BYTES;
            Access::new(processor, AccessKind::Write, address, 4)
        })
    }

    /// Writes the trace to a file.
    ///
    /// # Errors
    /// When the parameters do not fit the family, or the file cannot be written.
    pub fn write(&self, shape: SyntheticShape, path: &Path) -> Result<Summary, SyntheticError> {
        self.check(&shape)?;
        let mut writer = TraceWriter::create(path, WriterOptions::default())?;
        for access in self.accesses(shape) {
            if let Err(error) = writer.push(&access) {
                writer.abort()?;
                return Err(error.into());
            }
        }
        let bytes = shape.words * BlockSize::WORD_BYTES;
        let range = AddressRange::new(RangeKind::Static, ADDRESS, bytes, "block");
        let program = format!(
            "synthetic {} p={} s={} n={}",
            self.name, shape.processors, shape.words, shape.references
        );
        let metadata = Metadata { program, ranges: vec![range], ..Metadata::default() };
        Ok(writer.finish(metadata)?)
    }
}

/// The family of this name.
///
/// # Errors
/// When there is none.
pub fn find(name: &str) -> Result<&'static Entry, SyntheticError> {
    TABLE.iter().find(|entry| entry.name == name).ok_or_else(|| {
        let known: Vec<&str> = TABLE.iter().map(|entry| entry.name).collect();
        SyntheticError::Unknown { name: name.to_owned(), known: known.join(", ") }
    })
}

fn processor(number: u64, shape: &SyntheticShape) -> ProcId {
    ProcId::try_from(number % u64::from(shape.processors)).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The lists of references that the thesis prints, or describes.
    #[test]
    fn the_traces_begin_as_published() {
        let shape = SyntheticShape { processors: 2, words: 4, references: 8 };
        let list = |name| -> Vec<(u16, u64)> {
            let entry = find(name).unwrap();
            (0..8).map(|i| (entry.reference)(&shape, i)).collect()
        };
        let pairs =
            |p: [u16; 8], w: [u64; 8]| -> Vec<(u16, u64)> { p.into_iter().zip(w).collect() };
        assert_eq!(list("t-f"), pairs([0, 1, 0, 1, 0, 1, 0, 1], [0; 8]));
        assert_eq!(list("t-s"), pairs([0, 1, 0, 1, 0, 1, 0, 1], [0, 1, 2, 3, 0, 1, 2, 3]));
        assert_eq!(list("t-gamma"), pairs([0, 0, 0, 0, 1, 1, 1, 1], [0, 1, 2, 3, 0, 1, 2, 3]));
    }

    #[test]
    fn shapes_that_a_family_does_not_have_are_errors() {
        let shape =
            |processors, words, references| SyntheticShape { processors, words, references };
        let fails = |name: &str, s| find(name).unwrap().check(&s).unwrap_err().to_string();
        assert!(fails("t-f", shape(1, 4, 8)).contains("at least two processors"));
        assert!(fails("t-f", shape(2, 3, 8)).contains("a power of two"));
        assert!(fails("t-s", shape(3, 4, 8)).contains("divide"));
        assert!(fails("t-gamma", shape(2, 4, 9)).contains("whole"));
        assert!(find("t-x").err().unwrap().to_string().contains("t-f, t-s, t-gamma"));
    }
}
