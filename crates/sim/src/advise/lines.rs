//! Advice on cache lines, in cycles of a machine with a clock.

use homenode_advise::{DataObject, Layout, UseSurvey, false_sharing};
use homenode_analysis::Names;
use homenode_placement::Amount;
use homenode_trace::TraceReader;

use super::evaluator::ReportPart;
use super::line_search::{LineSearch, search};
use super::report::{AdvicePoint, AdviceWriter, CostScale, LayoutCost, LineFindings};
use super::untried::untried;
use crate::error::SimResult;
use crate::lines::{LineReplay, LineResult, LineTime, line_findings, line_objects};
use crate::results::ratio;

const OBJECTS_MAX: usize = 10;

/// Advice for one machine, and the combined layout; `result` is the simulation of the trace as it
/// is.
pub(super) fn advise(
    replay: &LineReplay<'_>,
    trace: &TraceReader,
    objects: &[DataObject],
    survey: &UseSurvey,
    names: &Names<'_>,
    before: &LineResult,
    tick: ReportPart<'_>,
) -> SimResult<(AdvicePoint, Layout)> {
    let all = before.processor_cycles();
    // The search is mostly one clock, so the findings about the trace as it is are computed in
    // parallel.
    let (mut sharing, mut waiting, mut findings) = Default::default();
    let searched = replay.pool.in_place_scope(|scope| {
        scope.spawn(|_| {
            sharing = false_sharing(survey, &Layout::default(), replay.block);
            waiting = line_objects(names, &before.waits, all, OBJECTS_MAX);
            findings = line_findings(names, survey, &before.waits, all);
        });
        search(replay, trace, objects, survey, before, tick)
    });
    let LineSearch { found, after, chance } = searched?;
    findings.extend(untried(objects, &found.trials, survey, before, replay.block));
    let after = after.as_ref().unwrap_or(before);
    let sharing_after = if found.layout.is_empty() {
        sharing
    } else {
        false_sharing(survey, &found.layout, replay.block)
    };
    let side = |result: &LineResult, false_sharing| LayoutCost {
        accesses: result.accesses,
        total_cost: Amount { steps: Some(u128::from(result.cycles)), scale: 1 },
        total_ns: None,
        mcpr: Amount { steps: Some(u128::from(result.processor_cycles())), scale: 1 }
            .per(result.accesses),
        false_sharing,
    };
    let writer = AdviceWriter {
        machine: replay.machine.name(),
        policy: &replay.protocol,
        block: replay.block,
        objects,
        survey,
        scale: CostScale { steps: 1, total: u128::from(before.cycles) },
    };
    let advice = writer.layouts(&found);
    let point = AdvicePoint {
        unit: "cycles",
        saved_share: ratio(before.cycles.saturating_sub(after.cycles), before.cycles),
        speed_up: ratio(before.cycles, after.cycles),
        chance,
        lines: Some(LineFindings {
            before: LineTime::of(before),
            after: LineTime::of(after),
            objects: waiting,
            findings,
        }),
        ..writer.point(&found, [side(before, sharing), side(after, sharing_after)], advice)
    };
    Ok((point, found.layout))
}
