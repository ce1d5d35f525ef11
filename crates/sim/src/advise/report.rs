//! Results, as the command line prints them.

use homenode_advise::kind::TABLE;
use homenode_advise::{Candidate, ChanceRange, DataObject, FalselyShared, PartOfObject, UseSurvey};
use homenode_analysis::{ObjectKind, SourceSite};
use homenode_base::{BlockSize, ProcId};
use homenode_placement::{Amount, Cost};
use homenode_trace::Summary;
use serde::Serialize;

use super::evaluator::{LayoutEvaluator, PricedTrace};
use super::place::HomeAdvice;
use super::search::{AcceptedLayout, LayoutSearch};
use crate::lines::{LineFinding, LineObject, LineProvenance, LineTime};
use crate::placement::{PlacementProvenance, nanoseconds};

/// One piece of advice. The field names are public; `docs/advise.md` defines each.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct AdviceRow {
    /// Kind: `separate-lock`, `align`, `pad`, `split`, `group`, `place` or `replicate`.
    pub kind: &'static str,
    /// The object's short name.
    pub object: String,
    /// Kind of memory; `null` if the trace does not have it.
    pub object_kind: Option<ObjectKind>,
    /// Where heap blocks were allocated.
    pub allocated_at: Option<SourceSite>,
    /// First byte, in hexadecimal.
    pub address: String,
    /// Bytes of the object: of all its heap blocks together.
    pub size: u64,
    /// Heap blocks of the object; 1 for a symbol.
    pub ranges: u64,
    /// Bytes from one element to the next, if the advice is about elements.
    pub stride: Option<u64>,
    /// Number of elements.
    pub count: Option<u64>,
    /// Words of the object that are used.
    pub words: u64,
    /// Blocks that hold these words.
    pub blocks: u64,
    /// Threads that use it, not counting first visits.
    pub threads: Vec<ProcId>,
    /// Additional memory that the advice takes.
    pub extra_bytes: u64,
    /// Cost that it saves alone, in units of a local reference.
    pub saved_alone: f64,
    /// The same as a fraction of the cost before.
    pub saved_alone_share: Option<f64>,
    /// Cost that it saves after the advice above it.
    pub saved: f64,
    /// The same as a fraction of the cost before.
    pub saved_share: Option<f64>,
    /// The problem and the advice.
    pub sentence: String,
    /// How to apply it in C.
    pub hint: String,
}

/// Cost and false sharing of one layout.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct LayoutCost {
    /// Accesses to blocks.
    pub accesses: u64,
    /// Cost, in units of a local reference.
    pub total_cost: Amount,
    /// Cost in nanoseconds, if the machine's prices are in nanoseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total_ns: Option<f64>,
    /// Mean cost per reference.
    pub mcpr: Option<f64>,
    /// Falsely shared blocks.
    pub false_sharing: FalselyShared,
}

/// The advice for one machine, policy and block size.
#[derive(Clone, Debug, Serialize)]
pub struct AdvicePoint {
    /// The machine.
    pub machine: String,
    /// The policy as written in the configuration.
    pub policy: String,
    /// Bytes in a block.
    pub block_size: u64,
    /// The unit of costs: `local references`, or `cycles` on a machine with a clock.
    pub unit: &'static str,
    /// The trace as it is.
    pub before: LayoutCost,
    /// The trace with all layouts and every block at its better home, simulated as a whole.
    pub after: LayoutCost,
    /// Fraction of the cost that all advice together saves.
    pub saved_share: Option<f64>,
    /// Execution time before divided by execution time after; `null` without a clock.
    pub speed_up: Option<f64>,
    /// How much of that may be chance; `null` without a clock, or if no layout seemed to save time.
    pub chance: Option<ChanceRange>,
    /// Fraction of the references to falsely shared blocks that go to other blocks afterwards;
    /// `null` without such references.
    pub false_sharing_gone: Option<f64>,
    /// Additional memory that all advice together takes.
    pub extra_bytes: u64,
    /// Objects that were examined because their blocks cost enough.
    pub examined: u64,
    /// Layouts that were simulated.
    pub tried: u64,
    /// Where time goes, and which data processors wait for; `null` without a clock.
    pub lines: Option<LineFindings>,
    /// The advice, by savings, largest first.
    pub advice: Vec<AdviceRow>,
}

/// Where time goes on a machine with a clock.
#[derive(Clone, Debug, Serialize)]
pub struct LineFindings {
    /// The trace as it is.
    pub before: LineTime,
    /// The trace with all layouts.
    pub after: LineTime,
    /// The objects with the longest waits in the trace as it is.
    pub objects: Vec<LineObject>,
    /// Waiting in the trace as it is that no layout reduces, but a change of the program may.
    pub findings: Vec<LineFinding>,
}

/// Everything that the results depend on.
#[derive(Clone, Debug, Serialize)]
#[serde(untagged)]
pub enum AdviceProvenance {
    /// Machines with prices.
    Priced(PlacementProvenance),
    /// Machines with a clock.
    Clocked(LineProvenance),
}

/// The advice for all points.
#[derive(Clone, Debug, Serialize)]
pub struct AdviceReport {
    /// Name of the trace.
    pub trace: String,
    /// Processors of the machines.
    pub processors: u16,
    /// Data references taken into account.
    pub references: u64,
    /// Objects with at least one used word.
    pub objects: u64,
    /// One for each machine, policy and block size.
    pub points: Vec<AdvicePoint>,
    /// The new trace, if one was written.
    pub written: Option<Summary>,
    /// Everything that the results depend on.
    pub provenance: AdviceProvenance,
}

pub(super) fn assemble(
    point: &LayoutEvaluator<'_>,
    objects: &[DataObject],
    survey: &UseSurvey,
    search: &LayoutSearch,
    placings: &[HomeAdvice],
    sides: [&PricedTrace; 2],
    sharing: [FalselyShared; 2],
) -> AdvicePoint {
    let [before, mut after] = [0, 1].map(|i| side(point, sides[i], sharing[i]));
    // Blocks are independent, so what better homes save adds up.
    let placed: u128 = placings.iter().map(|placing| placing.saved).sum();
    after.total_cost.steps = after.total_cost.steps.map(|steps| steps.saturating_sub(placed));
    after.total_ns = nanoseconds(point.priced, after.total_cost);
    after.mcpr = after.total_cost.per(after.accesses);
    let saved = |side: &LayoutCost| side.total_cost.steps;
    let total = saved(&before).unwrap_or(0);
    let writer = AdviceWriter {
        machine: point.machine,
        policy: &point.spec.text,
        block: point.block,
        objects,
        survey,
        scale: CostScale { steps: before.total_cost.scale, total },
    };
    let mut advice = writer.layouts(search);
    advice.extend(placings.iter().map(|placing| writer.home(placing)));
    AdvicePoint {
        saved_share: (total > 0).then(|| 1.0 - ratio(saved(&after).unwrap_or(0), total)),
        ..writer.point(search, [before, after], advice)
    }
}

fn side(
    point: &LayoutEvaluator<'_>,
    priced: &PricedTrace,
    false_sharing: FalselyShared,
) -> LayoutCost {
    let total_cost = Cost::on(&priced.tally, &point.prices).total();
    let accesses = priced.tally.accesses();
    let total_ns = nanoseconds(point.priced, total_cost);
    LayoutCost { accesses, total_cost, total_ns, mcpr: total_cost.per(accesses), false_sharing }
}

/// The cost of a local reference in steps, and the whole cost before, in steps.
pub(super) struct CostScale {
    pub(super) steps: u64,
    pub(super) total: u128,
}

impl CostScale {
    fn units(&self, steps: i128) -> f64 {
        let whole = ratio(steps.unsigned_abs(), u128::from(self.steps));
        if steps < 0 { -whole } else { whole }
    }

    fn share(&self, steps: i128) -> Option<f64> {
        let part = ratio(steps.unsigned_abs(), self.total);
        (self.total > 0).then_some(if steps < 0 { -part } else { part })
    }
}

pub(super) struct AdviceWriter<'a> {
    pub(super) machine: &'a str,
    pub(super) policy: &'a str,
    pub(super) block: BlockSize,
    pub(super) objects: &'a [DataObject],
    pub(super) survey: &'a UseSurvey,
    pub(super) scale: CostScale,
}

impl AdviceWriter<'_> {
    /// The point, without what only machines with a clock have, and without the share that is
    /// saved.
    pub(super) fn point(
        &self,
        search: &LayoutSearch,
        [before, after]: [LayoutCost; 2],
        advice: Vec<AdviceRow>,
    ) -> AdvicePoint {
        let references = |side: LayoutCost| side.false_sharing.references;
        let (shared, left) = (references(before), references(after));
        AdvicePoint {
            machine: self.machine.to_owned(),
            policy: self.policy.to_owned(),
            block_size: self.block.bytes(),
            unit: "local references",
            before,
            after,
            saved_share: None,
            speed_up: None,
            chance: None,
            false_sharing_gone: (shared > 0).then(|| 1.0 - ratio(left.into(), shared.into())),
            extra_bytes: advice.iter().map(|row| row.extra_bytes).sum(),
            examined: count(search.examined),
            tried: count(search.trials.len()),
            lines: None,
            advice,
        }
    }

    pub(super) fn layouts(&self, search: &LayoutSearch) -> Vec<AdviceRow> {
        let row = |taken: &AcceptedLayout| {
            let trial = &search.trials[taken.trial];
            let said = &trial.proposal.text;
            AdviceRow {
                stride: trial.proposal.stride,
                count: said.elements.map(|e| e.count),
                blocks: count(trial.old_blocks.len()),
                extra_bytes: trial.proposal.extra_bytes,
                saved_alone: self.scale.units(taken.alone),
                saved_alone_share: self.scale.share(taken.alone),
                sentence: said.sentence.clone() + &used_at(&self.objects[trial.object]),
                hint: said.hint.clone(),
                ..self.row(TABLE[trial.kind].name, trial.object, taken.more)
            }
        };
        search.taken.iter().map(row).collect()
    }

    fn home(&self, placing: &HomeAdvice) -> AdviceRow {
        let saved = i128::try_from(placing.saved).unwrap_or(i128::MAX);
        AdviceRow {
            blocks: count(placing.blocks),
            sentence: placing.sentence.clone(),
            hint: placing.hint.clone(),
            ..self.row(placing.kind, placing.object, saved)
        }
    }

    fn row(&self, kind: &'static str, object: usize, saved: i128) -> AdviceRow {
        let object = &self.objects[object];
        let candidate = Candidate::new(self.survey, object, self.block, false);
        let first = object.extents.first().map_or(0, |extent| extent.first);
        AdviceRow {
            kind,
            object: object.label(),
            object_kind: object.identity.as_ref().map(|object| object.kind),
            allocated_at: object.identity.as_ref().and_then(|object| object.allocated_at.clone()),
            address: format!("{:#x}", first * BlockSize::WORD_BYTES),
            size: candidate.bytes(),
            ranges: count(object.extents.len()),
            stride: None,
            count: None,
            words: object.used,
            blocks: 0,
            threads: candidate.users,
            extra_bytes: 0,
            saved_alone: self.scale.units(saved),
            saved_alone_share: self.scale.share(saved),
            saved: self.scale.units(saved),
            saved_share: self.scale.share(saved),
            sentence: String::new(),
            hint: String::new(),
        }
    }
}

/// Where the program writes memory that has no name of its own.
fn used_at(object: &DataObject) -> String {
    match &object.part {
        PartOfObject::HotLines { used_at: Some(site) } => {
            format!(" It is written most at {}.", site.label())
        }
        PartOfObject::HotLines { .. } | PartOfObject::Whole | PartOfObject::Rest => String::new(),
    }
}

fn ratio(part: u128, whole: u128) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "a share is a rounded figure")]
    let share = part as f64 / whole.max(1) as f64;
    share
}

fn count(n: usize) -> u64 {
    u64::try_from(n).unwrap_or(u64::MAX)
}
