//! Variables on thread stacks that other threads use and processors wait for, if the trace does not
//! name them.

use std::ops::Range;

use homenode_advise::{UseSurvey, WordLabel};
use homenode_analysis::{Names, SourceSite, StackVariable};
use homenode_base::{AccessKind, BlockSize, ProcId};
use homenode_snoop::{WaitCause, WordWaits};
use homenode_trace::{Batch, Columns, RangeKind, TraceReader, Want};
use rustc_hash::FxHashMap;

use super::replay::LineResult;
use crate::error::SimResult;
use crate::pass::for_each_piece;

/// Stacks are examined if waiting for shared data there exceeds one in this many processor cycles.
const STACK_PART: u64 = 500;

/// Uses by other threads belong to one variable if one begins at most this many words after the
/// last one.
const GAP_WORDS: u64 = 4;

struct ThreadStack {
    first: u64,
    last: u64,
    /// The processors of the threads that used it as their stack, one after the other.
    owners: Vec<ProcId>,
}

/// Names variables on stacks that other threads use and processors wait for after the instructions
/// of those threads. That takes another pass over the trace.
pub(crate) fn name_stack_variables(
    names: &mut Names<'_>,
    survey: &UseSurvey,
    result: &LineResult,
    trace: &TraceReader,
    pool: &rayon::ThreadPool,
) -> SimResult<()> {
    let stacks = stacks(trace, survey.processors());
    if !are_waited_for(&stacks, &result.waits, result.processor_cycles()) {
        return Ok(());
    }
    let variables = variables(&stacks, survey, names);
    let pcs = users(&variables, survey.processors(), trace, pool)?;
    let named = |(words, pc): (&SharedWords<'_>, Option<u64>)| {
        let site = pc.map(|pc| names.site(pc));
        words.variable(site.filter(|site| site.pc == 0))
    };
    let named = variables.iter().zip(pcs).map(named).collect();
    names.add_stack_variables(named);
    Ok(())
}

pub(super) fn waits_for_stacks(
    trace: &TraceReader,
    waits: &WordWaits,
    processor_cycles: u64,
) -> bool {
    are_waited_for(&stacks(trace, ProcId::MAX), waits, processor_cycles)
}

fn are_waited_for(stacks: &[ThreadStack], waits: &WordWaits, processor_cycles: u64) -> bool {
    waited_for(stacks, waits) > processor_cycles / STACK_PART
}

/// All stacks, in order of address. Overlapping ones are one: a new thread may reuse the stack of
/// one that has ended.
fn stacks(trace: &TraceReader, processors: u16) -> Vec<ThreadStack> {
    let mut ranges: Vec<_> = trace.metadata().ranges.iter().collect();
    ranges.retain(|range| range.kind == RangeKind::Stack && range.size > 0);
    ranges.sort_by_key(|range| range.start);
    let mut stacks: Vec<ThreadStack> = Vec::new();
    for range in ranges {
        let last = range.start.saturating_add(range.size - 1);
        let owner = range.thread % processors;
        match stacks.last_mut() {
            Some(stack) if range.start <= stack.last => {
                stack.last = stack.last.max(last);
                stack.owners.push(owner);
            }
            _ => stacks.push(ThreadStack { first: range.start, last, owners: vec![owner] }),
        }
    }
    stacks
}

fn stack_at(stacks: &[ThreadStack], addr: u64) -> Option<&ThreadStack> {
    let after = stacks.partition_point(|stack| stack.first <= addr);
    stacks[..after].last().filter(|stack| addr <= stack.last)
}

fn waited_for(stacks: &[ThreadStack], waits: &WordWaits) -> u64 {
    let on_stacks =
        waits.iter().filter(|(word, _)| stack_at(stacks, word * BlockSize::WORD_BYTES).is_some());
    let sharing = [WaitCause::FalseSharing, WaitCause::TrueSharing];
    on_stacks
        .map(|(_, waits)| sharing.map(|cause| waits.of(cause).cycles).iter().sum::<u64>())
        .sum()
}

struct SharedWords<'a> {
    stack: &'a ThreadStack,
    /// The bytes around it without named variables: the first and the last.
    free: (u64, u64),
    first: u64,
    last: u64,
    /// Whether they are never written while several threads run.
    read: bool,
}

/// The variables that threads other than the stack's own use while several run, in order of
/// address.
fn variables<'a>(
    stacks: &'a [ThreadStack],
    survey: &UseSurvey,
    names: &Names<'_>,
) -> Vec<SharedWords<'a>> {
    let mut found: Vec<SharedWords<'_>> = Vec::new();
    for word in survey.touched() {
        let Some(stack) = stack_at(stacks, word * BlockSize::WORD_BYTES) else { continue };
        let Some(free) = names.unnamed_on_stack(word * BlockSize::WORD_BYTES) else { continue };
        if !survey.used_by_others(word, &stack.owners) {
            continue;
        }
        let read = survey.label(word) == WordLabel::Read;
        match found.last_mut() {
            Some(before)
                if before.read == read
                    && before.free == free
                    && word - before.last <= GAP_WORDS =>
            {
                before.last = word;
            }
            _ => found.push(SharedWords { stack, free, first: word, last: word, read }),
        }
    }
    for at in 0..found.len() {
        let before = at.checked_sub(1).map_or(0, |before| found[before].last + 1);
        let after = found.get(at + 1).map_or(u64::MAX, |after| after.first);
        let words = &mut found[at];
        let (first, last) = words.free;
        let first = first.div_ceil(BlockSize::WORD_BYTES);
        let end = (last + 1) / BlockSize::WORD_BYTES;
        words.add_own(survey, before.max(first)..after.min(end));
    }
    found
}

impl SharedWords<'_> {
    /// Adds the part of the stack's own threads to an array with one part for each thread: as many
    /// adjacent words as each other thread has.
    fn add_own(&mut self, survey: &UseSurvey, free: Range<u64>) {
        if self.read {
            return;
        }
        let mut users = vec![false; usize::from(survey.processors())];
        (self.first..=self.last).for_each(|word| survey.add_users(word, &mut users));
        let others =
            (0..).zip(&users).filter(|(user, uses)| **uses && !self.stack.owners.contains(user));
        let others = u64::try_from(others.count()).unwrap_or(1).max(1);
        let part = (self.last + 1 - self.first) / others;
        let own = |word: &u64| survey.used_concurrently(*word);
        let (first, last) = (self.first, self.last);
        let mut before = first.saturating_sub(part).max(free.start)..first;
        self.first = before.find(own).unwrap_or(first);
        let after = last + 1..last.saturating_add(part + 1).min(free.end);
        self.last = after.rev().find(own).unwrap_or(last);
    }

    fn variable(&self, used_at: Option<SourceSite>) -> StackVariable {
        let bytes = BlockSize::WORD_BYTES;
        StackVariable { first: self.first * bytes, last: self.last * bytes + bytes - 1, used_at }
    }
}

/// The instruction of other threads that writes each variable most; without writes, the one that
/// uses it most.
fn users(
    variables: &[SharedWords<'_>],
    processors: u16,
    trace: &TraceReader,
    pool: &rayon::ThreadPool,
) -> SimResult<Vec<Option<u64>>> {
    let mut uses: Vec<FxHashMap<u64, (u64, u64)>> = vec![FxHashMap::default(); variables.len()];
    let columns = Columns { pc: true, ..Columns::default() };
    let want = Want { columns, events: false };
    let read = |index, batch: &mut Batch| trace.read_chunk(index, want, batch);
    for_each_piece(pool, trace, &read, &mut |_| Ok(()), |batch| {
        for (row, thread) in batch.turns.threads().enumerate() {
            let word = batch.addr[row] / BlockSize::WORD_BYTES;
            let after = variables.partition_point(|words| words.first <= word);
            let Some(words) = variables[..after].last() else { continue };
            let user = thread % processors;
            if word > words.last || words.stack.owners.contains(&user) {
                continue;
            }
            let Some(&pc) = batch.pc.get(row) else { continue };
            let (writes, all) = uses[after - 1].entry(pc).or_default();
            *writes += u64::from(batch.kind[row] != AccessKind::Read.code());
            *all += 1;
        }
    })?;
    let most = |uses: FxHashMap<u64, (u64, u64)>| {
        let uses = uses.into_iter().filter(|&(pc, _)| pc != 0);
        uses.max_by_key(|&(pc, count)| (count, std::cmp::Reverse(pc))).map(|(pc, _)| pc)
    };
    Ok(uses.into_iter().map(most).collect())
}
