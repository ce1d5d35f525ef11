//! Selects the references of a trace for a walk.

use homenode_base::{Access, AccessKind};
use homenode_snoop::walk::pieces;
use homenode_trace::Batch;
use rustc_hash::FxHashMap;

use super::config::ExplainConfig;
use super::outcome::TraceExcerpt;
use crate::error::{SimError, config_error};
use crate::pass::{Progress, TraceSource, report};

/// Most references of a walk.
const REFERENCES_MAX: usize = 500;

/// Selects references by block.
pub(super) struct BlockFilter {
    shift: u32,
    processors: u16,
    blocks: Vec<u64>,
    references: usize,
    /// Whether instruction fetches are references.
    fetches: bool,
}

/// Use of a block so far.
struct BlockUsers {
    first: u16,
    shared: bool,
    written: bool,
}

impl BlockFilter {
    pub(super) fn new(
        config: &ExplainConfig,
        (processors, block_size_bytes): (u16, u64),
        fetches: bool,
    ) -> Result<Self, SimError> {
        if !(1..=REFERENCES_MAX).contains(&config.references) {
            return Err(config_error(format!(
                "{} references: a walk has 1 to {REFERENCES_MAX}",
                config.references
            )));
        }
        let shift = block_size_bytes.trailing_zeros();
        let mut blocks: Vec<u64> = config.blocks.iter().map(|address| address >> shift).collect();
        blocks.sort_unstable();
        blocks.dedup();
        Ok(Self { shift, processors, blocks, references: config.references, fetches })
    }

    /// The selected references of the trace.
    pub(super) fn of<T: TraceSource + ?Sized>(
        mut self,
        trace: &T,
        progress: Progress<'_>,
    ) -> Result<(Vec<Access>, TraceExcerpt), SimError> {
        if self.blocks.is_empty() {
            self.blocks = self.first_shared(trace, progress)?;
        }
        let (mut found, mut numbers, mut cut) = (Vec::new(), Vec::new(), false);
        let fetches = self.fetches;
        each(trace, progress, &mut |number, access| {
            if access.kind == AccessKind::Fetch && !fetches {
                return true;
            }
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
            return Err(config_error(format!(
                "{}: nothing references the block at {}; homenode sharing lists blocks that are \
                 shared",
                trace.name(),
                listed.join(" or at ")
            )));
        }
        let part = TraceExcerpt { name: trace.name(), checksum: trace.checksum(), numbers, cut };
        Ok((found, part))
    }

    /// The first block that several processors reference and one of them writes; the first block
    /// of all if there is none.
    fn first_shared<T: TraceSource + ?Sized>(
        &self,
        trace: &T,
        progress: Progress<'_>,
    ) -> Result<Vec<u64>, SimError> {
        let mut uses: FxHashMap<u64, BlockUsers> = FxHashMap::default();
        let (mut first, mut shared) = (None, None);
        each(trace, progress, &mut |_, access| {
            if access.kind == AccessKind::Fetch && !self.fetches {
                return true;
            }
            let processor = access.thread % self.processors;
            for piece in pieces(&access, self.shift) {
                let block = piece.addr >> self.shift;
                first.get_or_insert(block);
                let new = BlockUsers { first: processor, shared: false, written: false };
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
            return Err(config_error(format!(
                "{name}: the trace has no references to walk through"
            )));
        };
        Ok(vec![block])
    }
}

/// Calls `see` with the references of a trace and their numbers until it returns false.
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
        report(&mut *progress, number.min(total), total)?;
    }
    Ok(())
}
