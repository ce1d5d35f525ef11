//! Which variables on stacks processors wait for, because other threads use them, where the trace
//! does not name them.

use std::ops::Range;

use homenode_advise::{UseSurvey, WordLabel};
use homenode_analysis::{Names, SourceSite, StackVariable};
use homenode_base::{AccessKind, BlockSize, ProcId};
use homenode_snoop::{WaitCause, WordWaits};
use homenode_trace::{Batch, Columns, RangeKind, TraceReader, Want};
use rustc_hash::FxHashMap;

use crate::error::SimError;
use crate::pass::WindowReader;

/// Stacks are looked at if processors wait for more than one in so many of their cycles for what
/// threads share there.
const STACK_PART: u64 = 500;

/// What other threads use belongs together if it begins at most so many words after the one before.
const GAP_WORDS: u64 = 4;

/// A thread's stack.
struct ThreadStack {
    first: u64,
    last: u64,
    /// The threads that it was the stack of, one after the other, as processors.
    owners: Vec<ProcId>,
}

/// Names the variables on stacks that other threads use by where these use them, if processors wait
/// for them. That takes another pass over the trace.
pub(crate) fn name_stack_variables(
    names: &mut Names<'_>,
    (survey, waits, processor_cycles): (&UseSurvey, &WordWaits, u64),
    (trace, pool): (&TraceReader, &rayon::ThreadPool),
) -> Result<(), SimError> {
    let stacks = stacks(trace, survey.processors());
    if !are_waited_for(&stacks, waits, processor_cycles) {
        return Ok(());
    }
    let variables = variables(&stacks, survey, names);
    let pcs = users(&variables, survey.processors(), (trace, pool))?;
    let named = |(words, pc): (&SharedWords<'_>, Option<u64>)| {
        let site = pc.map(|pc| names.site(pc));
        words.variable(site.filter(|site| site.pc == 0))
    };
    let named = variables.iter().zip(pcs).map(named).collect();
    names.add_stack_variables(named);
    Ok(())
}

/// Whether processors wait for variables on stacks, so that they are worth a name.
pub(super) fn waits_for_stacks(
    trace: &TraceReader,
    (waits, processor_cycles): (&WordWaits, u64),
) -> bool {
    are_waited_for(&stacks(trace, ProcId::MAX), waits, processor_cycles)
}

fn are_waited_for(stacks: &[ThreadStack], waits: &WordWaits, processor_cycles: u64) -> bool {
    waited_for(stacks, waits) > processor_cycles / STACK_PART
}

/// All stacks, in order of address. Those that overlap, as when a thread gets the memory of one
/// that has ended, are one.
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

/// The stack that a byte lies in.
fn stack_at(stacks: &[ThreadStack], addr: u64) -> Option<&ThreadStack> {
    let after = stacks.partition_point(|stack| stack.first <= addr);
    stacks[..after].last().filter(|stack| addr <= stack.last)
}

/// Cycles for which processors wait for what threads share on stacks.
fn waited_for(stacks: &[ThreadStack], waits: &WordWaits) -> u64 {
    let on_stacks =
        waits.iter().filter(|(word, _)| stack_at(stacks, word * BlockSize::WORD_BYTES).is_some());
    let sharing = [WaitCause::FalseSharing, WaitCause::TrueSharing];
    on_stacks
        .map(|(_, waits)| sharing.map(|cause| waits.of(cause).cycles).iter().sum::<u64>())
        .sum()
}

/// Neighbouring words that others than a stack's threads use.
struct SharedWords<'a> {
    stack: &'a ThreadStack,
    /// The bytes around it without variables that have names: the first and the last.
    free: (u64, u64),
    first: u64,
    last: u64,
    /// Whether nobody writes them while several threads run.
    read: bool,
}

/// The variables that others than a stack's threads use while several run, in order of address.
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
    /// Adds what the stack's own threads use of an array in which each thread has its part: as many
    /// neighbouring words as each of the others has.
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

    /// As a part of the stack.
    fn variable(&self, used_at: Option<SourceSite>) -> StackVariable {
        let bytes = BlockSize::WORD_BYTES;
        StackVariable { first: self.first * bytes, last: self.last * bytes + bytes - 1, used_at }
    }
}

/// The instruction by which others use each variable most: by which they write it, if they do.
fn users(
    variables: &[SharedWords<'_>],
    processors: u16,
    (trace, pool): (&TraceReader, &rayon::ThreadPool),
) -> Result<Vec<Option<u64>>, SimError> {
    let mut uses: Vec<FxHashMap<u64, (u64, u64)>> = vec![FxHashMap::default(); variables.len()];
    let columns = Columns { pc: true, ..Columns::default() };
    let want = Want { columns, events: false };
    let read = |index, batch: &mut Batch| trace.read_chunk(index, want, batch);
    let mut windows = WindowReader::of_one_piece(pool, trace, &read);
    let mut count = |batch: &Batch| {
        for (row, &addr) in batch.addr.iter().enumerate() {
            let word = addr / BlockSize::WORD_BYTES;
            let after = variables.partition_point(|words| words.first <= word);
            let Some(words) = variables[..after].last() else { continue };
            let user = batch.thread[row] % processors;
            if word > words.last || words.stack.owners.contains(&user) {
                continue;
            }
            let Some(&pc) = batch.pc.get(row) else { continue };
            let (writes, all) = uses[after - 1].entry(pc).or_default();
            *writes += u64::from(batch.kind[row] != AccessKind::Read.code());
            *all += 1;
        }
    };
    while windows.next(|batches| batches.iter().for_each(&mut count))?.is_some() {}
    let most = |uses: FxHashMap<u64, (u64, u64)>| {
        let uses = uses.into_iter().filter(|&(pc, _)| pc != 0);
        uses.max_by_key(|&(pc, count)| (count, std::cmp::Reverse(pc))).map(|(pc, _)| pc)
    };
    Ok(uses.into_iter().map(most).collect())
}
