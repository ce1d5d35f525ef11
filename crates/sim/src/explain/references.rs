//! Selects the steps of a walk from a trace.

use homenode_base::{Access, AccessKind};
use homenode_snoop::walk::{NeededSynchronisation, WrittenStep, pieces};
use homenode_trace::{Batch, BatchPart, Event, ThreadTurn};
use rustc_hash::FxHashMap;

use super::config::ExplainConfig;
use super::outcome::TraceExcerpt;
use crate::error::{SimResult, config_error};
use crate::pass::{Progress, TraceSource, report};

const REFERENCES_MAX: usize = 500;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WalkedRows {
    All,
    /// Data references: all but instruction fetches.
    Data,
    Synchronised,
}

enum TraceItem<'a> {
    Row(Access),
    Event(&'a Event),
}

pub(super) struct BlockFilter {
    shift: u32,
    processors: u16,
    blocks: Vec<u64>,
    references: usize,
    rows: WalkedRows,
}

struct BlockUsers {
    first: u16,
    shared: bool,
    written: bool,
}

impl BlockFilter {
    pub(super) fn new(
        config: &ExplainConfig,
        processors: u16,
        block_size_bytes: u64,
        rows: WalkedRows,
    ) -> SimResult<Self> {
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
        Ok(Self { shift, processors, blocks, references: config.references, rows })
    }

    fn skips(&self, access: &Access) -> bool {
        access.kind == AccessKind::Fetch && self.rows != WalkedRows::All
    }

    /// The selected references of the trace, with the acquires and releases that affect them if
    /// those are included.
    pub(super) fn of(
        mut self,
        trace: &dyn TraceSource,
        progress: Progress<'_>,
    ) -> SimResult<(Vec<WrittenStep>, TraceExcerpt)> {
        if self.blocks.is_empty() {
            self.blocks = self.first_shared(trace, progress)?;
        }
        let mut needed = (self.rows == WalkedRows::Synchronised)
            .then(|| NeededSynchronisation::new(self.processors));
        let (mut found, mut numbers, mut cut, mut references) = (Vec::new(), Vec::new(), false, 0);
        each(trace, self.rows, progress, &mut |number, item| {
            let access = match item {
                TraceItem::Row(access) => access,
                TraceItem::Event(event) => {
                    if let Some(needed) = &mut needed {
                        needed.event(event);
                    }
                    return true;
                }
            };
            if self.skips(&access) {
                return true;
            }
            for piece in pieces(&access, self.shift) {
                if self.blocks.binary_search(&(piece.addr >> self.shift)).is_err() {
                    continue;
                }
                cut = references == self.references;
                if cut {
                    return false;
                }
                references += 1;
                if let Some(needed) = &mut needed {
                    found.extend(needed.before(&piece));
                }
                found.push(WrittenStep::Access(piece));
                numbers.resize(found.len(), number);
            }
            true
        })?;
        if found.is_empty() {
            let listed: Vec<String> =
                self.blocks.iter().map(|block| format!("{:#x}", block << self.shift)).collect();
            return Err(config_error(format!(
                "{}: there is no reference to the block at {}; homenode sharing lists shared \
                 blocks",
                trace.name(),
                listed.join(" or at ")
            )));
        }
        let part = TraceExcerpt { name: trace.name(), checksum: trace.checksum(), numbers, cut };
        Ok((found, part))
    }

    /// The first block that several processors reference and one of them writes; without such a
    /// block, the first one of the trace.
    fn first_shared(&self, trace: &dyn TraceSource, progress: Progress<'_>) -> SimResult<Vec<u64>> {
        let mut uses: FxHashMap<u64, BlockUsers> = FxHashMap::default();
        let (mut first, mut shared) = (None, None);
        each(trace, WalkedRows::Data, progress, &mut |_, item| {
            let TraceItem::Row(access) = item else { return true };
            if self.skips(&access) {
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

/// Calls `see` with the references of a trace and their numbers, and, if acquires and releases are
/// included, with its events and the number of the next reference, until it returns false.
fn each(
    trace: &dyn TraceSource,
    rows: WalkedRows,
    progress: Progress<'_>,
    see: &mut dyn FnMut(u64, TraceItem<'_>) -> bool,
) -> SimResult<()> {
    let mut batch = Batch::default();
    let (mut number, total) = (0, trace.references());
    for piece in 0..trace.pieces() {
        match rows {
            WalkedRows::All | WalkedRows::Data => trace.read(piece, &mut batch)?,
            WalkedRows::Synchronised => trace.read_all(piece, &mut batch)?,
        }
        for part in batch.parts() {
            let goes_on = match part {
                BatchPart::Event(event) => see(number, TraceItem::Event(event)),
                BatchPart::Turn(ThreadTurn { thread, mut rows }) => rows.all(|row| {
                    number += 1;
                    see(number - 1, TraceItem::Row(batch.access(thread, row)))
                }),
            };
            if !goes_on {
                return Ok(());
            }
        }
        report(&mut *progress, number.min(total), total)?;
    }
    Ok(())
}
