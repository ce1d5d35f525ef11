//! Writes the trace: the processes take turns.

use std::ops::ControlFlow;
use std::path::Path;

use homenode_base::{Access, Flags, Rng};
use homenode_trace::{
    AddressRange, Columns, Event, EventKind, Metadata, Process, RangeKind, Summary, TraceWriter,
    WriterOptions,
};

use crate::areas::Area;
use crate::error::ServersError;
use crate::odds::{Odds, index};
use crate::plan::{GroupPlan, KernelAreas, MemoryShares, Plan, code_visits, data_visits, part};
use crate::process::{Calls, Identity, InKernel, KindOdds, ModeWalks, ServerProcess, offset};
use crate::rules::{Rules, at};
use crate::session::{Member, SessionWalk};
use crate::statistics::{Group, Sessions, Statistics, WalkLocality};
use crate::walk::{CodeWalk, DataWalk, Grain};
use crate::zipf::Zipf;

/// Called with the references done and in all; may stop the work.
pub type ServersProgress<'a> = &'a mut dyn FnMut(u64, u64) -> ControlFlow<()>;

/// Writes the trace of statistics, whose `origin` names their file in errors. Interrupted, it
/// leaves no trace.
///
/// # Errors
/// When no trace can have these statistics, or it cannot be written.
pub fn write(
    statistics: &Statistics,
    origin: &str,
    path: &Path,
    progress: ServersProgress<'_>,
) -> Result<Option<Summary>, ServersError> {
    let plan = Plan::new(statistics, origin)?;
    let tables: Vec<GroupTables> = (statistics.groups.iter().zip(&plan.groups))
        .map(|(group, areas)| GroupTables::new(statistics, group, areas))
        .collect();
    let rules = Rules::new(origin);
    let mut seeds = Rng::new(statistics.trace.seed);
    let mut processes = Vec::new();
    for (number, tables) in tables.iter().enumerate() {
        let maker = Maker { rules: &rules, statistics, plan: &plan, number, tables };
        for index in 0..plan.groups[number].processes {
            processes.push(maker.process(index, Rng::new(seeds.next_u64()))?);
        }
    }
    let columns = Columns { pid: true, flags: true, ..Columns::default() };
    let options = WriterOptions { columns, ..WriterOptions::default() };
    let mut writer = TraceWriter::create(path, options)?;
    match turns(&mut writer, statistics, &plan, &mut processes, progress) {
        Ok(ControlFlow::Continue(())) => Ok(Some(writer.finish(metadata(statistics, &plan))?)),
        Ok(ControlFlow::Break(())) => {
            writer.abort()?;
            Ok(None)
        }
        Err(error) => {
            writer.abort()?;
            Err(error)
        }
    }
}

fn turns(
    writer: &mut TraceWriter,
    statistics: &Statistics,
    plan: &Plan,
    processes: &mut [ServerProcess<'_>],
    progress: ServersProgress<'_>,
) -> Result<ControlFlow<()>, ServersError> {
    for event in mappings(plan) {
        writer.event(event)?;
    }
    let references: Vec<u64> = plan
        .groups
        .iter()
        .flat_map(|group| (0..group.processes).map(|i| part(group.references, i, group.processes)))
        .collect();
    let rounds = plan.references.div_ceil(statistics.trace.turn_references * plan.processes);
    let mut turn: Vec<Access> = Vec::new();
    let mut done = 0;
    for round in 0..rounds {
        for (process, &of_process) in processes.iter_mut().zip(&references) {
            turn.clear();
            turn.extend((0..part(of_process, round, rounds)).map(|_| process.next()));
            writer.push_all(&turn)?;
            done += turn.len() as u64;
        }
        if progress(done, plan.references).is_break() {
            return Ok(ControlFlow::Break(()));
        }
    }
    Ok(ControlFlow::Continue(()))
}

/// The popularity of the blocks of a mode.
struct ModeTables {
    code: Zipf,
    data: Zipf,
    objects: Option<Zipf>,
}

/// The popularity of a group's blocks, which is that of each of its processes.
struct GroupTables {
    user: ModeTables,
    kernel: Option<ModeTables>,
}

impl GroupTables {
    fn new(statistics: &Statistics, group: &Group, plan: &GroupPlan) -> Self {
        let locality = group.own.locality.unwrap_or(statistics.locality);
        let tables = |code: u64, private: &[Area], shared: u64, sessions: Sessions| ModeTables {
            code: Zipf::new(ranks(code), locality.code_zipf),
            data: Zipf::new(
                ranks(private.iter().map(|area| area.blocks).min().unwrap_or(1)),
                locality.data_zipf,
            ),
            objects: (shared > 0)
                .then(|| Zipf::new(ranks(shared.div_ceil(sessions.object_blocks)), sessions.zipf)),
        };
        let sessions = user_sessions(statistics, group);
        let user =
            tables(group.code_blocks, &plan.private_areas, plan.shared_area.blocks, sessions);
        let sessions = kernel_sessions(statistics, group);
        let kernel = (group.kernel > 0.0).then(|| {
            let shared = group.kernel_shared_blocks;
            tables(statistics.kernel.code_blocks, &plan.kernel_areas, shared, sessions)
        });
        Self { user, kernel }
    }
}

fn ranks(blocks: u64) -> u32 {
    u32::try_from(blocks).expect("the rules limit blocks")
}

fn user_sessions(statistics: &Statistics, group: &Group) -> Sessions {
    group.own.sessions.unwrap_or(statistics.sessions)
}

fn kernel_sessions(statistics: &Statistics, group: &Group) -> Sessions {
    statistics.kernel.sessions.unwrap_or_else(|| user_sessions(statistics, group))
}

/// Makes the processes of a group.
struct Maker<'a> {
    rules: &'a Rules<'a>,
    statistics: &'a Statistics,
    plan: &'a Plan,
    number: usize,
    tables: &'a GroupTables,
}

/// What differs between the modes.
struct ModeSetting<'a> {
    tables: &'a ModeTables,
    code: Area,
    private: Area,
    shared: Area,
    /// Shares of all references of the process.
    of_code: f64,
    of_private: f64,
    of_shared: f64,
    sessions: Sessions,
    flags: Flags,
}

impl<'a> Maker<'a> {
    fn group(&self) -> &'a Group {
        &self.statistics.groups[self.number]
    }

    fn process(&self, member: u64, mut rng: Rng) -> Result<ServerProcess<'a>, ServersError> {
        let (group, plan) = (self.group(), &self.plan.groups[self.number]);
        let references = part(plan.references, member, plan.processes) as f64;
        let shares = MemoryShares::of(group);
        let user = ModeSetting {
            tables: &self.tables.user,
            code: plan.code_area,
            private: plan.private_areas[index(member)],
            shared: plan.shared_area,
            of_code: shares.user_code,
            of_private: shares.user_private,
            of_shared: shares.user_shared,
            sessions: user_sessions(self.statistics, group),
            flags: Flags(0),
        };
        let user = self.mode(&user, member, references)?;
        let kernel = match &self.tables.kernel {
            None => None,
            Some(tables) => {
                let KernelAreas { code, shared } = self.plan.kernel;
                let setting = ModeSetting {
                    tables,
                    code,
                    private: plan.kernel_areas[index(member)],
                    shared: Area { blocks: group.kernel_shared_blocks, ..shared },
                    of_code: shares.kernel_code,
                    of_private: shares.kernel_private,
                    of_shared: shares.kernel_shared,
                    sessions: kernel_sessions(self.statistics, group),
                    flags: Flags::KERNEL,
                };
                let mode = self.mode(&setting, member, references)?;
                Some(InKernel { mode, calls: self.calls() })
            }
        };
        let thread = plan.first_process + member;
        let cycle = self.statistics.kernel.call_references * self.calls().user_for_kernel;
        Ok(ServerProcess {
            identity: Identity {
                thread: u16::try_from(thread).expect("the rules limit processes"),
                pid: pid(thread),
                word_bytes: u8::try_from(self.statistics.trace.word_bytes)
                    .expect("the rules limit words"),
            },
            until_call: offset(cycle, &mut rng),
            rng,
            mix: mix(group),
            user,
            kernel,
            in_kernel: false,
        })
    }

    fn calls(&self) -> Calls {
        let kernel = self.group().kernel;
        let goes_on = Odds::of_mean(self.statistics.kernel.call_references.max(1.0));
        let user_for_kernel = if kernel > 0.0 { (100.0 - kernel) / kernel } else { 0.0 };
        Calls { goes_on, user_for_kernel }
    }

    fn mode(
        &self,
        setting: &ModeSetting<'a>,
        member: u64,
        references: f64,
    ) -> Result<ModeWalks<'a>, ServersError> {
        let group = self.group();
        let locality = group.own.locality.unwrap_or(self.statistics.locality);
        let grain = self.grain();
        let member = Member { index: member, of: group.processes };
        let data = setting.of_private + setting.of_shared;
        let is_shared =
            if data > 0.0 { Odds::new(setting.of_shared / data) } else { Odds::new(0.0) };
        Ok(ModeWalks {
            code: self.code(setting, locality, member, references)?,
            data: self.data(setting, locality, references)?,
            shared: match &setting.tables.objects {
                None => None,
                Some(objects) => {
                    let total = 2 * setting.shared.blocks.div_ceil(member.of);
                    let expected = setting.of_shared * references;
                    let visits = data_visits(total, expected).ok_or_else(|| {
                        self.too_few("shared_blocks", group.shared_blocks, expected, total)
                    })?;
                    let (area, sessions) = (setting.shared, setting.sessions);
                    Some(SessionWalk::new(grain, area, objects, sessions, visits, member))
                }
            },
            is_shared,
            flags: setting.flags,
        })
    }

    fn code(
        &self,
        setting: &ModeSetting<'a>,
        locality: WalkLocality,
        member: Member,
        references: f64,
    ) -> Result<CodeWalk<'a>, ServersError> {
        let (blocks, grain) = (setting.code.blocks, self.grain());
        // Together the processes of a group visit all of the code, each a part of it.
        let total = part(blocks, member.index, member.of);
        let expected = setting.of_code * references;
        let mut visits = code_visits(total, expected, grain.words(), locality.loop_blocks)
            .ok_or_else(|| self.too_few("code_blocks", blocks, expected, total))?;
        visits.first = (0..member.index).map(|i| part(blocks, i, member.of)).sum();
        Ok(CodeWalk::new(grain, setting.code, &setting.tables.code, locality, visits))
    }

    fn data(
        &self,
        setting: &ModeSetting<'a>,
        locality: WalkLocality,
        references: f64,
    ) -> Result<DataWalk<'a>, ServersError> {
        let (blocks, expected) = (setting.private.blocks, setting.of_private * references);
        let visits = data_visits(blocks, expected).ok_or_else(|| {
            let key = "distinct_blocks";
            self.too_few(key, self.plan.groups[self.number].distinct_blocks, expected, blocks)
        })?;
        Ok(DataWalk::new(self.grain(), setting.private, &setting.tables.data, locality, visits))
    }

    fn too_few(&self, key: &str, value: u64, expected: f64, blocks: u64) -> ServersError {
        let problem = format!(
            "a process makes about {expected:.0} references to such memory, too few to touch its \
             part of {blocks} blocks for certain"
        );
        let remedy = "raise trace.references, or lower the number of blocks";
        self.rules.impossible(at(self.group(), key), value, problem, remedy)
    }

    fn grain(&self) -> Grain {
        let trace = &self.statistics.trace;
        Grain { block_bytes: trace.block_bytes, word_bytes: trace.word_bytes }
    }
}

fn mix(group: &Group) -> KindOdds {
    let of = |part: f64, whole: f64| Odds::new(if whole > 0.0 { part / whole } else { 0.0 });
    KindOdds {
        is_fetch: Odds::new(group.code / 100.0),
        writes_private: of(group.data_write - group.shared_write, group.data - group.shared_access),
        writes_shared: of(group.shared_write, group.shared_access),
    }
}

/// Number of the process of a thread: 0 would mean that there are no processes.
fn pid(thread: u64) -> u32 {
    u32::try_from(thread + 1).expect("the rules limit processes")
}

/// The memory that processes of a group share, as the mappings of each.
fn mappings(plan: &Plan) -> Vec<Event> {
    let mut events = Vec::new();
    for group in &plan.groups {
        for thread in group.first_process..group.first_process + group.processes {
            let thread = u16::try_from(thread).expect("the rules limit processes");
            for (area, what) in [(group.code_area, "code"), (group.shared_area, "shared data")] {
                let (addr, size) = (area.start, area.blocks * plan.block_bytes);
                if size > 0 {
                    let object = format!("{what} of {}", group.name);
                    let what = EventKind::Map { addr, size, shared: true, object };
                    events.push(Event { thread, what });
                }
            }
        }
    }
    events
}

fn metadata(statistics: &Statistics, plan: &Plan) -> Metadata {
    let mut ranges = Vec::new();
    let mut add = |area: Area, name: String| {
        if area.blocks > 0 {
            let bytes = area.blocks * plan.block_bytes;
            ranges.push(AddressRange::new(RangeKind::Static, area.start, bytes, &name));
        }
    };
    add(plan.kernel.code, "code of the kernel".to_owned());
    add(plan.kernel.shared, "shared data of the kernel".to_owned());
    for group in &plan.groups {
        add(group.code_area, format!("code of {}", group.name));
        add(group.shared_area, format!("shared data of {}", group.name));
        for (number, &area) in (group.first_process..).zip(&group.private_areas) {
            add(area, format!("data of {} {}", group.name, pid(number)));
        }
        for (number, &area) in (group.first_process..).zip(&group.kernel_areas) {
            add(area, format!("kernel data for {} {}", group.name, pid(number)));
        }
    }
    ranges.sort_by_key(|range| range.start);
    let processes = plan
        .groups
        .iter()
        .flat_map(|group| {
            (group.first_process..group.first_process + group.processes)
                .map(|thread| Process { pid: pid(thread), names: vec![group.name.clone()] })
        })
        .collect();
    Metadata {
        program: format!("synthetic servers {}", statistics.name),
        method: "synthetic servers".to_owned(),
        order: format!("turns of about {} references", statistics.trace.turn_references),
        word_size: u32::try_from(statistics.trace.word_bytes).expect("the rules limit words"),
        ranges,
        processes,
        provenance: vec![format!(
            "synthetic servers {} seed={} references={}; statistics from {}",
            statistics.name, statistics.trace.seed, statistics.trace.references, statistics.source
        )],
        ..Metadata::default()
    }
}
