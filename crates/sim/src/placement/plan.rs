//! The checked matrix, with each distinct computation listed once.

use homenode_base::{BlockSize, ReferenceFilter};
use homenode_machine::{PriceList, PriceModel, PricedMachine, Prices};
use homenode_placement::{
    HistoryBuilder, HistoryOptions, PlacementSetup, PolicySpec, Shard, Times,
};
use homenode_transform::realign::WINDOW_MAX;

use super::config::SimConfig;
use super::policies::POLICIES;
use crate::error::{SimResult, check_given, config_error};
use crate::pass::{TraceSource, check_threads, processors};
use crate::references::{Inclusion, PrivateReferences, data};

#[derive(Clone, Debug)]
pub(crate) struct PolicyRun {
    pub(crate) policy: usize,
    pub(crate) setup: PlacementSetup,
}

#[derive(Clone, Debug)]
pub(crate) struct SizePlan {
    pub(crate) block: BlockSize,
    pub(crate) prices: Vec<PriceList>,
    pub(crate) jobs: Vec<PolicyRun>,
    /// The job of each machine and policy: `job[machine][policy]`.
    pub(crate) job: Vec<Vec<usize>>,
    /// Histories are split at multiples of these Times.
    pub(crate) split_periods: Vec<u64>,
    /// Resolution of Time that the policies need.
    pub(crate) times: Times,
}

#[derive(Clone, Debug)]
pub(crate) struct MatrixPlan {
    pub(crate) machines: Vec<PricedMachine>,
    pub(crate) policies: Vec<PolicySpec>,
    pub(crate) sizes: Vec<SizePlan>,
    pub(crate) processors: u16,
    pub(crate) filter: ReferenceFilter,
    pub(crate) private: Option<PrivateReferences>,
    pub(crate) sync: Inclusion,
    /// References in a window of re-alignment, if data are re-aligned.
    pub(crate) realign: Option<u64>,
    pub(crate) notes: Vec<String>,
}

impl MatrixPlan {
    pub(crate) fn new(config: &SimConfig, trace: &dyn TraceSource) -> SimResult<Self> {
        Self::with_own(config, &[], trace)
    }

    /// As [`new`](Self::new), with these policies after those of the configuration.
    pub(crate) fn with_own(
        config: &SimConfig,
        own: &[PolicySpec],
        trace: &dyn TraceSource,
    ) -> SimResult<Self> {
        check_given(&[
            ("machine", config.machines.len()),
            ("policy", config.policies.len() + own.len()),
            ("block size", config.block_sizes.len()),
        ])?;
        if config.realign.is_some() {
            return Err(config_error(
                "--realign: only counts are computed with data re-aligned on the fly; for this \
                 write the re-aligned trace with `homenode transform realign`",
            ));
        }
        check_threads(config.threads)?;
        let machines = config.machines.iter().map(|m| PricedMachine::parse(m));
        let listed = config.policies.iter().map(|p| Ok(PolicySpec::parse(p, POLICIES)?));
        let policies = listed.chain(own.iter().cloned().map(Ok));
        let machines: Vec<PricedMachine> = machines.collect::<Result<_, _>>()?;
        let own = own_processors(config.processors, &machines)?;
        let mut plan = Self {
            machines,
            policies: policies.collect::<SimResult<_>>()?,
            sizes: Vec::new(),
            processors: processors(own, trace)?,
            filter: data(config.private.unwrap_or_default(), config.sync),
            private: config.private,
            sync: config.sync,
            realign: None,
            notes: Vec::new(),
        };
        for &bytes in &config.block_sizes {
            let size = plan.size(BlockSize::new(bytes)?, config.force, rate(trace))?;
            plan.sizes.push(size);
        }
        Ok(plan)
    }

    fn size(&mut self, block: BlockSize, force: bool, rate: Option<f64>) -> SimResult<SizePlan> {
        let mut size = SizePlan {
            block,
            prices: Vec::new(),
            jobs: Vec::new(),
            job: Vec::new(),
            split_periods: Vec::new(),
            times: Times::Visits,
        };
        for machine in &self.machines {
            let prices = machine.price_list(block, force)?;
            for note in machine.notes(block)? {
                if !self.notes.contains(&note) {
                    self.notes.push(note);
                }
            }
            let mut row = Vec::new();
            for (policy, spec) in self.policies.iter().enumerate() {
                let mut setup =
                    PlacementSetup { rate, ..PlacementSetup::new(self.processors, block, &prices) };
                spec.check(&setup)?;
                setup.prices = setup.prices.filter(|_| spec.factory.needs_prices());
                row.push(size.job(policy, spec, setup)?);
            }
            size.prices.push(prices);
            size.job.push(row);
        }
        Ok(size)
    }

    /// The same matrix with one job for all machines at whose prices a policy makes the same
    /// decisions, which is sufficient for counts.
    pub(crate) fn for_counts(mut self) -> Self {
        self.sizes.iter_mut().for_each(SizePlan::merge_jobs);
        self
    }

    pub(crate) fn realigned(mut self, window: Option<u64>) -> SimResult<Self> {
        self.realign = check_window(window)?;
        Ok(self)
    }

    /// How private references are treated on a machine. Histories are the same for local and for
    /// excluded references.
    pub(crate) fn private(&self, machine: &PricedMachine) -> PrivateReferences {
        self.private.unwrap_or(match machine.model() {
            PriceModel::Placement => PrivateReferences::Local,
            PriceModel::PageCoherence => PrivateReferences::Exclude,
        })
    }

    /// Units of progress: each reference once for building histories and once for each walk.
    pub(crate) fn work(&self, references: u64) -> u64 {
        let times = self.sizes.iter().map(|size| size.jobs.len() + 1).sum::<usize>();
        references.saturating_mul(u64::try_from(times).unwrap_or(1))
    }

    pub(crate) fn builder(&self, size: &SizePlan, shard: Shard, budget: u64) -> HistoryBuilder {
        HistoryBuilder::new(HistoryOptions {
            block_size: size.block,
            processors: self.processors,
            filter: self.filter,
            split_periods: size.split_periods.clone(),
            shard,
            memory_budget_bytes: budget,
        })
        .with_times(size.times)
    }
}

impl SizePlan {
    fn job(&mut self, policy: usize, spec: &PolicySpec, setup: PlacementSetup) -> SimResult<usize> {
        let same = |j: &PolicyRun| {
            j.policy == policy && j.setup.global == setup.global && j.setup.prices == setup.prices
        };
        if let Some(found) = self.jobs.iter().position(same) {
            return Ok(found);
        }
        let instance = spec.build(&setup)?;
        self.times = self.times.max(instance.times());
        let period = instance.split_period();
        if let Some(period) = period.filter(|p| !self.split_periods.contains(p)) {
            self.split_periods.push(period);
        }
        self.jobs.push(PolicyRun { policy, setup });
        Ok(self.jobs.len() - 1)
    }

    fn merge_jobs(&mut self) {
        let mut kept: Vec<PolicyRun> = Vec::new();
        let mut places = Vec::new();
        for job in std::mem::take(&mut self.jobs) {
            let same = |k: &PolicyRun| {
                k.policy == job.policy
                    && k.setup.global == job.setup.global
                    && decide_alike(k.setup.prices.as_ref(), job.setup.prices.as_ref())
            };
            places.push(kept.iter().position(same).unwrap_or(kept.len()));
            if places.last() == Some(&kept.len()) {
                kept.push(job);
            }
        }
        self.jobs = kept;
        self.job.iter_mut().flatten().for_each(|job| *job = places[*job]);
    }
}

fn decide_alike(a: Option<&Prices>, b: Option<&Prices>) -> bool {
    match (a, b) {
        (Some(a), Some(b)) => a.decide_like(b),
        (None, None) => true,
        (Some(_), None) | (None, Some(_)) => false,
    }
}

fn check_window(window: Option<u64>) -> SimResult<Option<u64>> {
    if window.is_none_or(|n| (1..=WINDOW_MAX).contains(&n)) {
        return Ok(window);
    }
    Err(config_error(format!(
        "windows of re-alignment hold 1 to {WINDOW_MAX} references; the paper's are 1000000"
    )))
}

/// The requested number of processors, or that of the machines, which must agree because only one
/// is simulated at a time.
fn own_processors(requested: Option<u16>, machines: &[PricedMachine]) -> SimResult<Option<u16>> {
    if requested.is_some() {
        return Ok(requested);
    }
    let mut own = machines.iter().map(PricedMachine::processors);
    let first = own.next().flatten();
    if own.all(|other| other == first) {
        return Ok(first);
    }
    let said = |machine: &PricedMachine| match machine.processors() {
        Some(count) => format!("{} has {count}", machine.name()),
        None => format!("{} as many as there are threads", machine.name()),
    };
    let said: Vec<String> = machines.iter().map(said).collect();
    Err(config_error(format!(
        "machines of different numbers of processors ({}): choose one number for all with \
         --processors, or simulate them one at a time",
        said.join(", ")
    )))
}

/// References per second of the traced run (thesis section 5.1).
fn rate(trace: &dyn TraceSource) -> Option<f64> {
    #[expect(clippy::cast_precision_loss, reason = "a rate is a rounded figure")]
    let references = trace.references() as f64;
    // Without recording if it was measured, else recorded.
    let seconds = trace.metadata().native_time_s.or(trace.metadata().wall_time_s);
    seconds.filter(|&s| s > 0.0 && s.is_finite()).map(|s| references / s)
}
