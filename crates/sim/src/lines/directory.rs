//! The clock of one machine with a directory, for waits by line.

use homenode_clock::streams::StreamSplitter;
use homenode_directory::{CoherenceTable, DirectoryClock, PageDemands};
use homenode_trace::TraceReader;

use crate::directory::{DirectoryConfig, DirectoryPlan, clock_setup, marks_init_done, splitter};
use crate::error::SimError;

/// One machine with a directory, checked before the trace is read.
pub(super) struct DirectoryReplay {
    pub(super) plan: DirectoryPlan,
    config: DirectoryConfig,
    /// Whether the trace marks the end of initialisation.
    marks_init_done: bool,
}

impl DirectoryReplay {
    pub(super) fn new(config: DirectoryConfig, trace: &TraceReader) -> Result<Self, SimError> {
        let plan = DirectoryPlan::new(&config, trace)?;
        let point = plan.first()?;
        let name = &point.home.text;
        let problem = if point.home.entry().needs_first_run {
            format!("--home {name}: it is chosen by a first run; say --home first-touch")
        } else if matches!(point.table, CoherenceTable::Pages(_)) {
            format!(
                "--protocol {}: it keeps pages coherent, so that no line is waited for; say \
                 --protocol dash",
                config.protocols.join(",")
            )
        } else {
            return Ok(Self { plan, config, marks_init_done: marks_init_done(trace)? });
        };
        Err(SimError::Config { problem })
    }

    pub(super) fn block_bytes(&self) -> u64 {
        self.plan.points.first().map_or(0, |point| point.setup.cache.block_size_bytes)
    }

    pub(super) fn splitter(&self, trace: &TraceReader) -> Result<StreamSplitter, SimError> {
        splitter(&self.plan, &self.config, trace)
    }

    /// A clock with latencies `slower_by` cycles longer.
    pub(super) fn clock(
        &self,
        processes: usize,
        slower_by: u64,
    ) -> Result<DirectoryClock, SimError> {
        let point = self.plan.first()?;
        let model = point.model.without_controllers()?;
        let mut timed = clock_setup(&self.plan, model, point, &self.config, processes);
        timed.collect_waits = true;
        timed.machine = timed.machine.slower_by(slower_by);
        let known = point.homes(self.config.seed, self.marks_init_done, None::<&PageDemands>);
        let homes = point.home.build(&known)?;
        Ok(DirectoryClock::new(&point.setup, point.table.clone(), (homes, &timed))?)
    }
}
