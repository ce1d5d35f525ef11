//! The recorder of a walk: pushes one step at a time into an engine that also counts, and records
//! its acts and the state of caches and memory. It makes no decisions.

use homenode_base::Access;

use super::log::{Shown, Walk, WalkStep};
use super::misses::{MissJournal, WalkCopy};
use super::pieces::{WalkBlock, pieces};
use super::written::WrittenStep;
use crate::counts::MissCounts;

/// A step in the log of an engine.
pub type StepOf<E> =
    WalkStep<<E as WalkedEngine>::Act, <E as WalkedEngine>::Scene, <E as WalkedEngine>::Messages>;

/// The log of an engine.
pub type WalkOf<E> = Walk<
    <E as WalkedEngine>::Act,
    <E as WalkedEngine>::Scene,
    <E as WalkedEngine>::Messages,
    <E as WalkedEngine>::Totals,
>;

/// An engine that performs one step at a time and can be inspected.
pub trait WalkedEngine: Sized {
    /// An act of a controller.
    type Act;
    /// A snapshot of all blocks.
    type Scene: Default;
    /// The counts of messages between different nodes.
    type Messages;
    /// The counts of a walk.
    type Totals;
    /// Other findings of the walk.
    type Findings;
    /// Errors of the engine.
    type Error;

    /// Logarithm of the block size.
    fn shift(&self) -> u32;
    /// The processor of a thread.
    fn processor(&self, thread: u16) -> u16;
    /// Whether the engine treats the reference as one to a private area.
    fn is_private(&self, access: &Access) -> bool;
    /// Performs a step whose reference is in the log already; adds the acts and everything else
    /// that the engine knows. Returns whether the block had to be fetched.
    ///
    /// # Errors
    /// When the protocol breaks an invariant.
    fn perform(
        &mut self,
        written: &WrittenStep,
        blocks: &[WalkBlock],
        step: &mut StepOf<Self>,
    ) -> Result<bool, Self::Error>;
    /// Whether the miss of a cache's copy is still unclassified. Blocks have their number in the
    /// address space.
    fn is_open(&self, cache: usize, block: u64) -> bool;
    /// Misses so far, without unclassified ones.
    fn misses(&self) -> MissCounts;
    /// The states that a step may change: those of the block by cache, or those of the page by
    /// node.
    fn states(&mut self, step: &StepOf<Self>, blocks: &[WalkBlock]) -> Vec<&'static str>;
    /// The current state of all blocks.
    fn scene(&mut self, blocks: &[WalkBlock]) -> Self::Scene;
    /// The counts of a walk through these steps, and its other findings.
    fn finish(self, steps: &[WrittenStep]) -> (Self::Totals, Self::Findings);
}

/// Performs steps in order, split at block boundaries.
///
/// # Errors
/// When the protocol breaks an invariant.
pub fn record<E: WalkedEngine>(
    mut engine: E,
    steps: &[WrittenStep],
) -> Result<(WalkOf<E>, E::Findings), E::Error> {
    let shift = engine.shift();
    let parts: Vec<(usize, WrittenStep)> =
        steps.iter().enumerate().flat_map(|(number, step)| parts_of(number, step, shift)).collect();
    let blocks = WalkBlock::all(parts.iter().filter_map(|(_, step)| step.access()), shift);
    let start = engine.scene(&blocks);
    let mut recorder =
        Recorder { engine, blocks, steps: Vec::new(), misses: MissJournal::default() };
    for (number, part) in &parts {
        recorder.step(*number, part)?;
    }
    let Recorder { engine, blocks, steps: done, .. } = recorder;
    let (totals, findings) = engine.finish(steps);
    let (caches, pages, bus_cycles) = (None, None, None);
    Ok((Walk { caches, pages, blocks, start, steps: done, totals, bus_cycles }, findings))
}

fn parts_of(number: usize, step: &WrittenStep, shift: u32) -> Vec<(usize, WrittenStep)> {
    let split = |access| pieces(access, shift).into_iter();
    match step {
        WrittenStep::Access(access) => {
            split(access).map(|part| (number, WrittenStep::Access(part))).collect()
        }
        WrittenStep::Begins(access) => {
            split(access).map(|part| (number, WrittenStep::Begins(part))).collect()
        }
        WrittenStep::Acquire(_) | WrittenStep::Release(_) => vec![(number, *step)],
    }
}

struct Recorder<E: WalkedEngine> {
    engine: E,
    blocks: Vec<WalkBlock>,
    steps: Vec<StepOf<E>>,
    misses: MissJournal,
}

impl<E: WalkedEngine> Recorder<E> {
    fn step(&mut self, number: usize, written: &WrittenStep) -> Result<(), E::Error> {
        let Self { engine, blocks, .. } = self;
        let thread = written.thread();
        let mut step = WalkStep::new(number, thread, engine.processor(thread));
        match written {
            WrittenStep::Access(access) | WrittenStep::Begins(access) => {
                step.set_access(access, engine.shift(), blocks);
                step.private = engine.is_private(access);
            }
            WrittenStep::Acquire(_) => step.kind = "acquire",
            WrittenStep::Release(_) => step.kind = "release",
        }
        step.before = engine.states(&step, blocks);
        let before = engine.misses();
        let fetched = engine.perform(written, blocks, &mut step)?;
        let cache = step.cache.unwrap_or(usize::from(step.processor));
        // An acquire or a release touches no copy.
        let own = step.block.map_or(WalkCopy { cache: usize::MAX, block: usize::MAX }, |block| {
            WalkCopy { cache, block }
        });
        let shift = engine.shift();
        let judged = self.misses.judge(self.steps.len(), own, |copy| {
            engine.is_open(copy.cache, blocks[copy.block].address >> shift)
        });
        for &(earlier, miss) in &judged {
            self.steps[earlier].miss = Some(miss);
        }
        if fetched {
            let now = engine.misses();
            step.miss = Some(self.misses.miss(self.steps.len(), own, &before, &now, &judged));
        }
        step.after = engine.states(&step, blocks);
        step.scenes = Shown(engine.scene(blocks));
        self.steps.push(step);
        Ok(())
    }
}
