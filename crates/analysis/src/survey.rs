//! Second pass: which processors use the worst blocks, the objects, and the address space.

use std::collections::BTreeMap;

use homenode_base::{AccessKind, ProcId, ReferenceRole};
use homenode_trace::{Batch, Columns, ThreadTurn, TraceReader, Want};
use rustc_hash::FxHashMap;

use crate::detail::{BlockDetail, ReferenceInBlock, UseCounts};
use crate::map::{MapBuilder, ROWS_MAX};
use crate::objects::Names;
use crate::rank::{Ranking, WorstQuery, for_each_batch};
use crate::{AnalysisError, AnalysisProgress};

/// Entries of the cache from words to objects; programs reuse few words at a time.
const CACHE_ENTRIES: usize = 1 << 12;

const BYTES_PER_WORD: u64 = homenode_base::BlockSize::WORD_BYTES;

#[derive(Clone, Copy, Debug, Default)]
struct SurveyedBlock {
    worst: Option<usize>,
    mixed: bool,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct ObjectReferences {
    pub uses: UseCounts,
    processors: Vec<u64>,
}

impl ObjectReferences {
    pub(crate) fn processors(&self) -> u32 {
        self.processors.iter().map(|bits| bits.count_ones()).sum()
    }

    fn add(&mut self, processor: ProcId, write: bool) {
        self.uses.add(write);
        let at = usize::from(processor / 64);
        if at >= self.processors.len() {
            self.processors.resize(at + 1, 0);
        }
        self.processors[at] |= 1 << (processor % 64);
    }
}

pub(crate) struct WorstSurvey {
    pub details: Vec<BlockDetail>,
    pub groups: Vec<ObjectReferences>,
    /// References to each object in each block that holds several.
    pub mixed: BTreeMap<u64, BTreeMap<usize, u64>>,
    pub map: MapBuilder,
}

struct WorstSurveyor<'a> {
    query: &'a WorstQuery,
    names: &'a Names<'a>,
    surveyed: FxHashMap<u64, SurveyedBlock>,
    mixed: FxHashMap<(u64, usize), u64>,
    cache: Vec<(u64, usize)>,
    survey: WorstSurvey,
}

/// The second pass over the trace.
pub(crate) fn survey(
    trace: &TraceReader,
    query: &WorstQuery,
    names: &Names<'_>,
    ranking: &Ranking,
    progress: &mut AnalysisProgress<'_>,
    done: &mut u64,
) -> Result<WorstSurvey, AnalysisError> {
    let mut surveyed: FxHashMap<u64, SurveyedBlock> = FxHashMap::default();
    for (place, block) in ranking.worst.iter().enumerate() {
        surveyed.entry(block.number).or_default().worst = Some(place);
    }
    for &block in ranking.mixed.keys() {
        surveyed.entry(block).or_default().mixed = true;
    }
    let mut surveyor = WorstSurveyor {
        query,
        names,
        surveyed,
        mixed: FxHashMap::default(),
        cache: vec![(u64::MAX, 0); CACHE_ENTRIES],
        survey: WorstSurvey {
            details: ranking.worst.iter().map(|_| BlockDetail::default()).collect(),
            groups: vec![ObjectReferences::default(); names.len()],
            mixed: BTreeMap::new(),
            map: MapBuilder::new(query.block_size, query.processors, ROWS_MAX),
        },
    };
    let columns = Columns { pc: true, flags: true, ..Columns::default() };
    let want = Want { columns, events: false };
    for_each_batch(trace, want, &mut **progress, done, |batch| surveyor.batch(batch))?;
    let mut survey = surveyor.survey;
    for ((block, group), references) in surveyor.mixed {
        survey.mixed.entry(block).or_default().insert(group, references);
    }
    Ok(survey)
}

impl WorstSurveyor<'_> {
    fn batch(&mut self, batch: &Batch) {
        for ThreadTurn { thread, rows } in batch.turns.iter() {
            let processor = thread % self.query.processors;
            for row in rows {
                if batch.role(row, self.query.filter) != ReferenceRole::Shared {
                    continue;
                }
                let touch = ReferenceInBlock {
                    thread,
                    processor,
                    write: batch.kind[row] != AccessKind::Read.code(),
                    pc: batch.pc.get(row).copied().unwrap_or(0),
                    words: (0, 0),
                };
                self.reference(touch, batch.addr[row], batch.size[row]);
            }
        }
    }

    #[inline]
    fn reference(&mut self, touch: ReferenceInBlock, addr: u64, size: u8) {
        let group = self.group(addr);
        self.survey.groups[group].add(touch.processor, touch.write);
        self.survey.map.add(addr, usize::from(touch.processor), touch.write);
        let last = addr.saturating_add(u64::from(size).saturating_sub(1));
        for block in self.query.block_size.blocks_touched(addr, size) {
            let Some(&found) = self.surveyed.get(&block) else { continue };
            let start = block * self.query.block_size.bytes();
            let end = start + (self.query.block_size.bytes() - 1);
            let first = addr.max(start);
            if let Some(place) = found.worst {
                let words = (first / BYTES_PER_WORD, last.min(end) / BYTES_PER_WORD);
                self.survey.details[place].add(ReferenceInBlock { words, ..touch });
            }
            if found.mixed {
                let group = if first == addr { group } else { self.group(first) };
                *self.mixed.entry((block, group)).or_default() += 1;
            }
        }
    }

    /// The object at an address. If two objects share the word, it is the one that was referenced
    /// when the word entered the cache.
    #[inline]
    fn group(&mut self, addr: u64) -> usize {
        let word = addr / BYTES_PER_WORD;
        let slot = usize::try_from(word % CACHE_ENTRIES as u64).unwrap_or(0);
        if self.cache[slot].0 != word {
            self.cache[slot] = (word, self.names.group(addr));
        }
        self.cache[slot].1
    }
}
