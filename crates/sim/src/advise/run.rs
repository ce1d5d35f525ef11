//! The advice for every point of a matrix.

use std::path::Path;

use homenode_advise::{DataObject, Layout, UseSurvey, UseSurveyor, data_objects, false_sharing};
use homenode_analysis::Names;
use homenode_base::BlockSize;
use homenode_machine::MachineKind;
use homenode_trace::{Summary, TraceError, TraceReader};
use homenode_transform::CacheFilterShape;

use super::config::AdviceConfig;
use super::evaluator::{LayoutEvaluator, PricedReferences};
use super::hot_lines::{name_uses, take_out};
use super::report::{AdvicePoint, AdviceProvenance, AdviceReport};
use super::search::search;
use super::{lines, place, report};
use crate::error::{SimResult, config_error};
use crate::layout;
use crate::lines::{
    LayoutVariant, LineConfig, LineProvenance, LineReplay, LineResult, name_stack_variables,
    survey_beside, survey_uses,
};
use crate::machines::machine_kinds;
use crate::pass::{PassProgress, Progress, TraceSource, budget_bytes, thread_pool};
use crate::placement::{CountedReferences, MatrixPlan, SimConfig, on_counted, provenance};
use crate::references::data;

/// Finds layouts that reduce cost, and their savings. With `out` it also writes the trace under the
/// combined layout; the configuration must select a single point then.
///
/// # Errors
/// When the configuration is invalid, the trace is damaged, or the new one cannot be written.
pub fn advise(
    config: &AdviceConfig,
    trace: &TraceReader,
    out: Option<&Path>,
    progress: Progress<'_>,
) -> SimResult<AdviceReport> {
    let kinds = machine_kinds(&config.simulation.machines)?;
    if kinds.iter().any(|kind| {
        matches!(kind, MachineKind::Multicore | MachineKind::Directory | MachineKind::Controllers)
    }) {
        return on_lines(config, trace, out, progress);
    }
    let plan = |simulation: &SimConfig, trace: &TraceReader| checked(simulation, trace, out);
    let (mut found, record) =
        on_counted(&config.simulation, trace, progress, plan, |counted, progress| {
            on_pages(counted, out, progress)
        })?;
    if let AdviceProvenance::Priced(provenance) = &mut found.provenance {
        record.add_to(provenance);
    }
    Ok(found)
}

fn checked(
    simulation: &SimConfig,
    trace: &TraceReader,
    out: Option<&Path>,
) -> SimResult<MatrixPlan> {
    let plan = MatrixPlan::new(simulation, trace)?;
    let points = plan.machines.len() * plan.policies.len() * plan.sizes.len();
    if out.is_some() && points != 1 {
        return Err(config_error(format!(
            "-o: a trace can be laid out for one --machine, --policy and --block-size at a time, \
             not {points} combinations"
        )));
    }
    Ok(plan)
}

/// Advice on machines with prices. The whole trace gives the words and their layout, the references
/// that reach memory give the cost.
fn on_pages(
    counted: &CountedReferences<'_>,
    out: Option<&Path>,
    progress: Progress<'_>,
) -> SimResult<AdviceReport> {
    let CountedReferences { config, plan, whole: trace, reaching: misses, caches } = *counted;
    let line = caches.map(CacheFilterShape::block_bytes);
    let points = plan.machines.len() * plan.policies.len() * plan.sizes.len();
    let pool = thread_pool(config.threads)?;
    let budget = budget_bytes(config.memory_budget_bytes);
    let total = trace.references();
    let mut progress = PassProgress::new(progress, total, 0.0);
    #[expect(clippy::cast_precision_loss, reason = "progress is a rounded figure")]
    progress.begin(0.5 / (1.0 + points as f64));
    let surveyor = UseSurveyor::new(plan.processors, plan.filter);
    let survey = survey_uses(surveyor, trace, &pool, &mut |done| progress.tick(done))?;
    let survey_of_misses = line.map(|_| {
        let surveyor = UseSurveyor::new(plan.processors, plan.filter);
        survey_uses(surveyor, misses, &pool, &mut |done| progress.tick(done))
    });
    let survey_of_misses = survey_of_misses.transpose()?;
    let priced = PricedReferences {
        trace,
        misses,
        survey: &survey,
        survey_of_misses: survey_of_misses.as_ref().unwrap_or(&survey),
        unit_words: line.unwrap_or(BlockSize::WORD_BYTES) / BlockSize::WORD_BYTES,
    };
    let names = Names::new(trace.metadata());
    let objects = data_objects(&names, &survey);
    let mut advised = Advised { trace, out, points: Vec::new(), written: None };
    for machine in 0..plan.machines.len() {
        for policy in 0..plan.policies.len() {
            for size in 0..plan.sizes.len() {
                let point = LayoutEvaluator::new(plan, machine, policy, size, &pool, budget)?;
                advised.add(at(&point, &priced, &objects, &mut progress)?, point.block)?;
            }
        }
    }
    progress.finish()?;
    let provenance = AdviceProvenance::Priced(provenance(plan, trace));
    Ok(advised.report(plan.processors, &survey, &objects, provenance))
}

fn on_lines(
    config: &AdviceConfig,
    trace: &TraceReader,
    out: Option<&Path>,
    progress: Progress<'_>,
) -> SimResult<AdviceReport> {
    let simulation = &config.simulation;
    check_lines(simulation, out)?;
    let pool = thread_pool(simulation.threads)?;
    let configs = simulation.machines.iter().map(|machine| line_config(config, machine));
    let configs = configs.collect::<SimResult<Vec<_>>>()?;
    let replays = configs.iter().map(|config| LineReplay::new(config, trace, &pool));
    let replays: Vec<LineReplay<'_>> = replays.collect::<Result<_, _>>()?;
    let mut progress = PassProgress::new(progress, trace.references(), 0.0);
    progress.begin(0.1);
    let processors = replays.first().map_or(1, |replay| replay.processors);
    let filter = data(simulation.private.unwrap_or_default(), simulation.sync);
    // The scheduler maps threads to processors, so word use is recorded per thread.
    let surveyor = UseSurveyor::new(TraceSource::threads(trace).max(1), filter);
    let identity = Layout::default();
    let identity = [LayoutVariant::of(&identity)];
    let (survey, before) = survey_beside(surveyor, trace, &pool, || {
        let mut tick = |done| progress.tick(done);
        let results = replays.iter().map(|replay| replay.simulate(&identity, &mut tick));
        results.collect::<Result<Vec<_>, _>>()
    })?;
    let mut names = Names::new(trace.metadata());
    let before: Vec<LineResult> = before.into_iter().flatten().collect();
    if let Some(result) = before.first() {
        name_stack_variables(&mut names, &survey, result, trace, &pool)?;
    }
    let objects = data_objects(&names, &survey);
    let mut advised = Advised { trace, out, points: Vec::new(), written: None };
    for (replay, before) in replays.iter().zip(before) {
        let mut objects = take_out(objects.clone(), &survey, &before, replay.block);
        name_uses(&mut objects, &names, trace, &pool)?;
        let tick = &mut progress.of_passes(0.2);
        let found = lines::advise(replay, trace, &objects, &survey, &names, &before, tick)?;
        advised.add(found, replay.block)?;
    }
    progress.finish()?;
    let provenances = replays.iter().map(|replay| LineProvenance::of(replay, trace));
    let provenance = provenances.reduce(|mut all, other| {
        all.machines.extend(other.machines);
        all
    });
    let provenance = AdviceProvenance::Clocked(provenance.expect("there is a machine"));
    Ok(advised.report(processors, &survey, &objects, provenance))
}

/// Rejects options that only apply to machines with prices.
fn check_lines(simulation: &SimConfig, out: Option<&Path>) -> SimResult<()> {
    let count = simulation.machines.len();
    Err(config_error(if out.is_some() && count != 1 {
        format!("-o: a trace can be laid out for one --machine at a time, not {count}")
    } else if simulation.word_bytes.is_some() {
        "--word-bytes: a machine with a clock makes references as they were recorded; choose one \
         with prices, such as --machine numa"
            .to_owned()
    } else if simulation.filter.is_some() {
        "--filter: this machine has caches of its own; leave it out".to_owned()
    } else {
        return Ok(());
    }))
}

fn line_config(config: &AdviceConfig, machine: &str) -> SimResult<LineConfig> {
    let simulation = &config.simulation;
    let block_size = match simulation.block_sizes[..] {
        [] => None,
        [one] => Some(one),
        _ => {
            return Err(config_error("--block-size: a machine with a clock has one size"));
        }
    };
    Ok(LineConfig {
        machine: machine.to_owned(),
        protocol: simulation.policies.first().cloned(),
        processors: simulation.processors,
        block_size,
        private: simulation.private.unwrap_or_default(),
        sync: simulation.sync,
        contention: config.contention,
        threads: simulation.threads,
        ..LineConfig::default()
    })
}

type FoundAdvice = (AdvicePoint, Layout);

fn at(
    point: &LayoutEvaluator<'_>,
    priced: &PricedReferences<'_>,
    objects: &[DataObject],
    progress: &mut PassProgress<'_>,
) -> SimResult<FoundAdvice> {
    let (survey, misses) = (priced.survey, priced.misses);
    let identity = Layout::default();
    progress.begin(0.2);
    let before = point.price(misses, &identity, &mut |done| progress.tick(done))?;
    let found = search(point, priced, objects, &before, &mut progress.of_passes(0.4))?;
    progress.begin(0.5);
    let layout = found.layout.clone();
    let after = if layout.is_empty() {
        None
    } else {
        Some(point.price(misses, &layout, &mut |done| progress.tick(done))?)
    };
    let after = after.as_ref().unwrap_or(&before);
    let sharing = [&identity, &layout].map(|layout| false_sharing(survey, layout, point.block));
    progress.begin(0.5);
    let total = after.blocks.values().map(|cost| cost.steps).sum();
    let tick = &mut |done| progress.tick(done);
    let placings = place::places(point, priced, objects, &layout, total, tick)?;
    let sides = [&before, after];
    let row = report::assemble(point, objects, survey, &found, &placings, sides, sharing);
    Ok((row, layout))
}

struct Advised<'a> {
    trace: &'a TraceReader,
    out: Option<&'a Path>,
    points: Vec<AdvicePoint>,
    written: Option<Summary>,
}

impl Advised<'_> {
    fn add(&mut self, (point, layout): FoundAdvice, block: BlockSize) -> SimResult<()> {
        if let Some(out) = self.out {
            self.written = Some(write(&point, self.trace, &layout, block, out)?);
        }
        self.points.push(point);
        Ok(())
    }

    fn report(
        self,
        processors: u16,
        survey: &UseSurvey,
        objects: &[DataObject],
        provenance: AdviceProvenance,
    ) -> AdviceReport {
        AdviceReport {
            trace: TraceSource::name(self.trace),
            processors,
            references: survey.references(),
            objects: u64::try_from(objects.len()).unwrap_or(u64::MAX),
            points: self.points,
            written: self.written,
            provenance,
        }
    }
}

fn write(
    found: &AdvicePoint,
    trace: &TraceReader,
    layout: &Layout,
    block: BlockSize,
    out: &Path,
) -> SimResult<Summary> {
    let words = trace.word_size().map(|word| format!(" --word-bytes {}", word.bytes()));
    let mut record = format!(
        "advise --machine {} --policy {} --block-size {}{}:",
        found.machine,
        found.policy,
        found.block_size,
        words.unwrap_or_default()
    );
    for row in &found.advice {
        record = format!("{record} {} {};", row.kind, row.object);
    }
    let (version, checksum) = (env!("CARGO_PKG_VERSION"), trace.checksum());
    record = format!("{record} (homenode {version}) of a trace with checksum {checksum}");
    let mut tick = |_| Ok::<(), TraceError>(());
    Ok(layout::write(trace, layout, block, out, record, &mut tick)?)
}
