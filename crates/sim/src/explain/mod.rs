//! Protocols explained: their tables, and a walk through a few references, step by step.

use homenode_base::{Access, BlockSize};
use homenode_machine::{BusCycles, BusMachine, CacheShape};
use homenode_snoop::walk::{EXAMPLES, Example, Walk, WalkError, example, pieces, walk};
use homenode_snoop::{MissRule, ProtocolSpec, Reading, Setup, Sheet};
use homenode_trace::Batch;
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use crate::Progress;
use crate::error::SimError;
use crate::pass::source::TraceSource;
use crate::placement::plan::processors;

/// Most references that one walks through.
const REFERENCES_MAX: usize = 500;

/// What to explain.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExplainConfig {
    /// Protocols: `name` or `name:parameter=yes`.
    pub protocols: Vec<String>,
    /// The machine whose prices, and with a trace whose caches, are used.
    pub machine: String,
    /// An example; that of the protocols if absent. Not with a trace.
    #[serde(default)]
    pub example: Option<String>,
    /// Processors; the example's or the trace's threads if absent.
    #[serde(default)]
    pub processors: Option<u16>,
    /// Bytes in each cache; the example's or the machine's if absent.
    #[serde(default)]
    pub cache_size: Option<u64>,
    /// Blocks in a set; the example's or the machine's if absent.
    #[serde(default)]
    pub associativity: Option<u64>,
    /// Bytes in a block; the example's or the machine's if absent.
    #[serde(default)]
    pub block_size: Option<u64>,
    /// Private areas beside those of the references: first byte, and one past the last.
    #[serde(default)]
    pub private_ranges: Vec<(u64, u64)>,
    /// Most references of a trace to walk through.
    pub references: usize,
    /// Addresses in the blocks of a trace that are followed; the first block that several
    /// processors reference and one of them writes if there is none.
    #[serde(default)]
    pub blocks: Vec<u64>,
}

/// Protocols, explained.
#[derive(Clone, Debug, Serialize)]
pub struct Explanation {
    /// Version of the program.
    pub version: &'static str,
    /// The machine.
    pub machine: String,
    /// Processors.
    pub processors: u16,
    /// Bytes in each cache.
    pub cache_size: u64,
    /// Bytes in a block.
    pub block_size: u64,
    /// Blocks in a set.
    pub associativity: u64,
    /// Where the caches are split: that for instructions, beside the one above for data.
    pub instruction_cache: Option<CacheShape>,
    /// Cycles of each transaction.
    pub cycles: BusCycles,
    /// The example, unless it is a trace.
    pub example: Option<&'static Example>,
    /// The part of a trace, unless it is an example.
    pub trace: Option<TracePart>,
    /// The protocols.
    pub protocols: Vec<Explained>,
}

/// The references of a trace that one walks through.
#[derive(Clone, Debug, Serialize)]
pub struct TracePart {
    /// Name of the trace.
    pub name: String,
    /// Content checksum of the trace.
    pub checksum: String,
    /// For each reference of the walk its number in the trace, fetches included, from 0.
    pub numbers: Vec<u64>,
    /// Whether later references to the same blocks are left out.
    pub cut: bool,
}

/// A protocol, explained.
#[derive(Clone, Debug, Serialize)]
pub struct Explained {
    /// The protocol as the configuration names it.
    pub name: String,
    /// One line about it.
    pub summary: &'static str,
    /// Where it comes from.
    pub source: &'static str,
    /// Its table.
    pub table: Sheet,
    /// The walk.
    pub walk: Walk,
}

/// Examples to walk through.
#[must_use]
pub fn explain_examples() -> &'static [Example] {
    EXAMPLES
}

/// Explains some protocols by the same references: those of an example, or with a trace the first
/// ones of a few of its blocks.
///
/// # Errors
/// When the configuration is faulty, or the trace is or has no such references.
pub fn explain<T: TraceSource + ?Sized>(
    config: &ExplainConfig,
    trace: Option<&T>,
    progress: Progress<'_>,
) -> Result<Explanation, SimError> {
    let specs = config.protocols.iter().map(|text| ProtocolSpec::parse(text));
    let specs: Vec<ProtocolSpec> = specs.collect::<Result<_, _>>()?;
    if specs.is_empty() {
        return Err(wrong("no protocol is given: name at least one".to_owned()));
    }
    let machine = BusMachine::parse(&config.machine)?;
    let names: Vec<&str> = specs.iter().map(|spec| spec.entry.name).collect();
    let shown = match (trace, &config.example) {
        (Some(_), Some(_)) => {
            return Err(wrong("an example and a trace are given: leave one out".to_owned()));
        }
        (Some(_), None) => None,
        (None, None) => Some(example(&names)),
        (None, Some(name)) => Some(named(name)?),
    };
    // An example is for caches of its own.
    let (own, instructions) = match shown {
        Some(_) => (Example::CACHE, None),
        None => (machine.cache, machine.instructions),
    };
    let setup = setup(config, (own, instructions), (shown, trace))?;
    let (references, part) = match (shown, trace) {
        (None, Some(trace)) => {
            let part = Part::new(config, &setup)?;
            part.of(trace, progress)?
        }
        (Some(example), _) => (example.references(), None),
        (None, None) => (Vec::new(), None),
    };
    let cycles = machine.cycles(BlockSize::new(setup.cache.block_size_bytes)?)?;
    let one = |spec: &ProtocolSpec| explained(spec, &setup, (&cycles, &references));
    Ok(Explanation {
        version: env!("CARGO_PKG_VERSION"),
        machine: machine.name.clone(),
        processors: setup.processors,
        cache_size: setup.cache.size_bytes,
        block_size: setup.cache.block_size_bytes,
        associativity: setup.cache.associativity,
        instruction_cache: setup.instructions,
        cycles,
        example: shown,
        trace: part,
        protocols: specs.iter().map(one).collect::<Result<_, _>>()?,
    })
}

fn explained(
    spec: &ProtocolSpec,
    setup: &Setup,
    (cycles, references): (&BusCycles, &[Access]),
) -> Result<Explained, SimError> {
    let mut setup = setup.clone();
    setup.reading.private_kernel = spec.private_kernel;
    let table = spec.table();
    let walk = walk(&setup, &table, cycles, references).map_err(|error| match error {
        WalkError::Check(error) => SimError::Check(error),
        WalkError::Setup(error) => SimError::Cache(error),
        other => wrong(other.to_string()),
    })?;
    Ok(Explained {
        name: spec.text.clone(),
        summary: spec.entry.summary,
        source: spec.entry.source,
        table: Sheet::of(&table),
        walk,
    })
}

fn wrong(problem: String) -> SimError {
    SimError::Config { problem }
}

fn named(name: &str) -> Result<&'static Example, SimError> {
    EXAMPLES.iter().find(|example| example.name == name).ok_or_else(|| {
        let known: Vec<&str> = EXAMPLES.iter().map(|example| example.name).collect();
        wrong(format!("unknown example {name:?}: expected one of {}", known.join(", ")))
    })
}

/// The machine, checked.
fn setup<T: TraceSource + ?Sized>(
    config: &ExplainConfig,
    (own, instructions): (CacheShape, Option<CacheShape>),
    (example, trace): (Option<&Example>, Option<&T>),
) -> Result<Setup, SimError> {
    if let Some(&(low, high)) = config.private_ranges.iter().find(|(low, high)| low >= high) {
        return Err(wrong(format!(
            "private range {low:#x}-{high:#x}: expected the first byte and, after it, one past \
             the last"
        )));
    }
    let block_size_bytes = config.block_size.unwrap_or(own.block_size_bytes);
    // An example's cache keeps the number of its frames when blocks have another size.
    let frames = own.size_bytes / own.block_size_bytes;
    let size = if example.is_some() { frames * block_size_bytes } else { own.size_bytes };
    let setup = Setup {
        processors: match (example, trace) {
            (None, Some(trace)) => processors(config.processors, trace)?,
            (Some(example), _) => config.processors.unwrap_or_else(|| example.processors()),
            (None, None) => config.processors.unwrap_or(1),
        },
        cache: CacheShape {
            size_bytes: config.cache_size.unwrap_or(size),
            block_size_bytes,
            associativity: config.associativity.unwrap_or(own.associativity),
        },
        instructions: instructions.map(|own| CacheShape { block_size_bytes, ..own }),
        private: config.private_ranges.iter().map(|&(low, high)| low..high).collect(),
        reading: Reading::default(),
        rule: MissRule::Dubois,
        check: true,
    };
    setup.geometry()?;
    Ok(setup)
}

/// Which references of a trace are wanted.
struct Part {
    shift: u32,
    processors: u16,
    blocks: Vec<u64>,
    references: usize,
}

/// Who referenced a block so far.
struct Use {
    first: u16,
    shared: bool,
    written: bool,
}

impl Part {
    fn new(config: &ExplainConfig, setup: &Setup) -> Result<Self, SimError> {
        if !(1..=REFERENCES_MAX).contains(&config.references) {
            return Err(wrong(format!(
                "{} references: a walk has 1 to {REFERENCES_MAX}",
                config.references
            )));
        }
        let shift = setup.cache.block_size_bytes.trailing_zeros();
        let mut blocks: Vec<u64> = config.blocks.iter().map(|address| address >> shift).collect();
        blocks.sort_unstable();
        blocks.dedup();
        Ok(Self { shift, processors: setup.processors, blocks, references: config.references })
    }

    /// Finds them in the trace.
    fn of<T: TraceSource + ?Sized>(
        mut self,
        trace: &T,
        progress: Progress<'_>,
    ) -> Result<(Vec<Access>, Option<TracePart>), SimError> {
        if self.blocks.is_empty() {
            self.blocks = self.first_shared(trace, progress)?;
        }
        let (mut found, mut numbers, mut cut) = (Vec::new(), Vec::new(), false);
        each(trace, progress, &mut |number, access| {
            for piece in pieces(&access, self.shift) {
                if self.blocks.binary_search(&(piece.addr >> self.shift)).is_err() {
                    continue;
                }
                cut = found.len() == self.references;
                if cut {
                    return false;
                }
                found.push(piece);
                numbers.push(number);
            }
            true
        })?;
        if found.is_empty() {
            let listed: Vec<String> =
                self.blocks.iter().map(|block| format!("{:#x}", block << self.shift)).collect();
            return Err(wrong(format!(
                "{}: nothing references the block at {}; homenode sharing lists blocks that are \
                 shared",
                trace.name(),
                listed.join(" or at ")
            )));
        }
        let part = TracePart { name: trace.name(), checksum: trace.checksum(), numbers, cut };
        Ok((found, Some(part)))
    }

    /// The first block that several processors reference and one of them writes; the first block
    /// of all if there is none.
    fn first_shared<T: TraceSource + ?Sized>(
        &self,
        trace: &T,
        progress: Progress<'_>,
    ) -> Result<Vec<u64>, SimError> {
        let mut uses: FxHashMap<u64, Use> = FxHashMap::default();
        let (mut first, mut shared) = (None, None);
        each(trace, progress, &mut |_, access| {
            let processor = access.thread % self.processors;
            for piece in pieces(&access, self.shift) {
                let block = piece.addr >> self.shift;
                first.get_or_insert(block);
                let new = Use { first: processor, shared: false, written: false };
                let seen = uses.entry(block).or_insert(new);
                seen.shared |= seen.first != processor;
                seen.written |= access.kind.writes();
                if seen.shared && seen.written {
                    shared = Some(block);
                    return false;
                }
            }
            true
        })?;
        let Some(block) = shared.or(first) else {
            let name = trace.name();
            return Err(wrong(format!("{name}: the trace has no references to walk through")));
        };
        Ok(vec![block])
    }
}

/// Gives the references of a trace with their numbers until enough is seen.
fn each<T: TraceSource + ?Sized>(
    trace: &T,
    progress: Progress<'_>,
    see: &mut dyn FnMut(u64, Access) -> bool,
) -> Result<(), SimError> {
    let mut batch = Batch::default();
    let (mut number, total) = (0, trace.references());
    for piece in 0..trace.pieces() {
        trace.read(piece, &mut batch)?;
        for row in 0..batch.len() {
            if !see(number, batch.get(row)) {
                return Ok(());
            }
            number += 1;
        }
        if progress(number.min(total), Some(total)).is_break() {
            return Err(SimError::Interrupted);
        }
    }
    Ok(())
}
