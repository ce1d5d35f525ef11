//! Rules for statistics: values that no trace can have are errors that say what to change.

use std::fmt::Display;

use crate::error::ServersError;
use crate::statistics::{Group, Kernel, Sessions, Statistics, TraceShape, WalkLocality};

/// Threads of a trace.
const PROCESSES_MAX: u64 = 65_534;
/// References of a trace, so that counts are exact as doubles.
const REFERENCES_MAX: u64 = 1 << 40;
/// Blocks of one kind: their popularity is kept in a table.
const BLOCKS_MAX: u64 = 1 << 24;
const BLOCK_BYTES_MAX: u64 = 4096;
const WORD_BYTES_MAX: u64 = 64;
const TURN_MAX: u64 = 1 << 20;
const LENGTH_MAX: f64 = 1e9;
const EXPONENT_MAX: f64 = 4.0;
/// Tolerance of sums of printed percentages, which are rounded to two digits.
const ROUNDING: f64 = 0.05;
/// Tolerance of differences of the same percentages.
const EXACT: f64 = 1e-9;

/// Checks of one file.
pub(crate) struct Rules<'a> {
    origin: &'a str,
}

type Checked = Result<(), ServersError>;

impl<'a> Rules<'a> {
    /// Checks whose errors name this file.
    pub(crate) fn new(origin: &'a str) -> Self {
        Self { origin }
    }

    /// All rules that need no plan of the trace.
    pub(crate) fn check(&self, statistics: &Statistics) -> Checked {
        let Statistics { trace, kernel, locality, sessions, groups, .. } = statistics;
        self.trace(trace)?;
        self.locality("", locality)?;
        self.sessions("", sessions)?;
        self.groups(groups, trace)?;
        for group in groups {
            self.group(group)?;
            self.group_in_kernel(group, kernel)?;
        }
        self.kernel(kernel, groups)
    }

    /// The error of a value.
    pub(crate) fn impossible(
        &self,
        key: impl Display,
        value: impl Display,
        problem: impl Into<String>,
        remedy: impl Into<String>,
    ) -> ServersError {
        ServersError::Impossible {
            origin: self.origin.to_owned(),
            key: key.to_string(),
            value: value.to_string(),
            problem: problem.into(),
            remedy: remedy.into(),
        }
    }

    fn trace(&self, shape: &TraceShape) -> Checked {
        self.whole("trace.references", shape.references, 1, REFERENCES_MAX)?;
        self.whole("trace.turn_references", shape.turn_references, 1, TURN_MAX)?;
        self.power_of_two("trace.word_bytes", shape.word_bytes, 1, WORD_BYTES_MAX)?;
        self.power_of_two("trace.block_bytes", shape.block_bytes, shape.word_bytes, BLOCK_BYTES_MAX)
    }

    fn locality(&self, of: &str, locality: &WalkLocality) -> Checked {
        let key = |name: &str| format!("{of}locality.{name}");
        self.number(key("loop_blocks"), locality.loop_blocks, 1.0, LENGTH_MAX)?;
        self.number(key("loop_rounds"), locality.loop_rounds, 1.0, LENGTH_MAX)?;
        self.number(key("run_words"), locality.run_words, 1.0, LENGTH_MAX)?;
        self.number(key("code_zipf"), locality.code_zipf, 0.0, EXPONENT_MAX)?;
        self.number(key("data_zipf"), locality.data_zipf, 0.0, EXPONENT_MAX)?;
        self.whole(key("cluster_blocks"), locality.cluster_blocks, 1, BLOCKS_MAX)
    }

    fn sessions(&self, of: &str, sessions: &Sessions) -> Checked {
        let key = |name: &str| format!("{of}sessions.{name}");
        self.whole(key("object_blocks"), sessions.object_blocks, 1, BLOCKS_MAX)?;
        self.number(key("accesses"), sessions.accesses, 1.0, LENGTH_MAX)?;
        self.number(key("zipf"), sessions.zipf, 0.0, EXPONENT_MAX)?;
        self.percentage(key("own_words"), sessions.own_words)
    }

    fn groups(&self, groups: &[Group], trace: &TraceShape) -> Checked {
        if groups.is_empty() {
            let problem = "there are no processes";
            return Err(self.impossible("group", "[]", problem, "add a [[group]]"));
        }
        let mut processes = 0_u64;
        for (number, group) in groups.iter().enumerate() {
            if group.name.is_empty() || groups[..number].iter().any(|g| g.name == group.name) {
                let problem = "a group needs a name that no other one has";
                let name = format!("{:?}", group.name);
                return Err(self.impossible("group.name", name, problem, "choose another name"));
            }
            self.whole(at(group, "processes"), group.processes, 1, PROCESSES_MAX)?;
            processes += group.processes;
        }
        self.whole("processes of all groups", processes, 1, PROCESSES_MAX)?;
        if trace.references < processes {
            let problem = format!("there are {processes} processes");
            let remedy = "raise it to one reference for each process at least";
            return Err(self.impossible("trace.references", trace.references, problem, remedy));
        }
        self.shares_of_groups(groups)
    }

    fn shares_of_groups(&self, groups: &[Group]) -> Checked {
        let stated: Vec<f64> = groups.iter().filter_map(|group| group.references).collect();
        if stated.is_empty() {
            return Ok(());
        }
        if let Some(group) = groups.iter().find(|group| group.references.is_none()) {
            let problem = "missing, though other groups state their percentage of the references";
            let remedy = "state it for all groups, or for none";
            return Err(self.impossible(at(group, "references"), "none", problem, remedy));
        }
        for group in groups {
            let share = group.references.unwrap_or_default();
            self.percentage(at(group, "references"), share)?;
            if share == 0.0 {
                let problem = "its processes would make no references";
                let remedy = "give it a share, or leave the group out";
                return Err(self.impossible(at(group, "references"), share, problem, remedy));
            }
        }
        let sum: f64 = stated.iter().sum();
        if (sum - 100.0).abs() > ROUNDING {
            let problem = "the groups' percentages of the references do not add up to 100";
            let remedy = "correct the groups' references, or leave all of them out";
            return Err(self.impossible("sum of the groups' references", sum, problem, remedy));
        }
        Ok(())
    }

    fn group(&self, group: &Group) -> Checked {
        let of = format!("group {:?}: ", group.name);
        if let Some(locality) = &group.own.locality {
            self.locality(&format!("{of}own."), locality)?;
        }
        if let Some(sessions) = &group.own.sessions {
            self.sessions(&format!("{of}own."), sessions)?;
        }
        for (key, value) in [
            ("code", group.code),
            ("data", group.data),
            ("data_write", group.data_write),
            ("shared_access", group.shared_access),
            ("shared_write", group.shared_write),
            ("kernel", group.kernel),
            ("kernel_shared_access", group.kernel_shared_access),
        ] {
            self.percentage(at(group, key), value)?;
        }
        for (key, value) in
            [("distinct_blocks", group.distinct_blocks), ("code_blocks", group.code_blocks)]
        {
            self.whole(at(group, key), value, 1, BLOCKS_MAX)?;
        }
        if (group.code + group.data - 100.0).abs() > ROUNDING {
            let problem = format!("with data = {} it does not add up to 100", group.data);
            let remedy = "correct code or data";
            return Err(self.impossible(at(group, "code"), group.code, problem, remedy));
        }
        self.parts(group)?;
        self.shared(group)
    }

    /// That parts are not larger than the whole.
    fn parts(&self, group: &Group) -> Checked {
        for (part, small, whole, large) in [
            ("data_write", group.data_write, "data", group.data),
            ("shared_access", group.shared_access, "data", group.data),
            ("shared_write", group.shared_write, "shared_access", group.shared_access),
            ("shared_write", group.shared_write, "data_write", group.data_write),
        ] {
            if small > large + EXACT {
                let problem = format!("more than {whole} = {large}, of which it is a part");
                let remedy = format!("lower {part} or raise {whole}");
                return Err(self.impossible(at(group, part), small, problem, remedy));
            }
        }
        let (private, written) =
            (group.data - group.shared_access, group.data_write - group.shared_write);
        if written > private + EXACT {
            let problem = format!(
                "{written:.2} of it are to private data, which has {private:.2} of the references"
            );
            let remedy = "lower data_write or shared_access";
            return Err(self.impossible(
                at(group, "data_write"),
                group.data_write,
                problem,
                remedy,
            ));
        }
        for (key, value) in
            [("shared_blocks", group.shared_blocks), ("code_blocks", group.code_blocks)]
        {
            if value > group.distinct_blocks {
                let problem = format!("more than distinct_blocks = {}", group.distinct_blocks);
                let remedy = format!("lower {key} or raise distinct_blocks");
                return Err(self.impossible(at(group, key), value, problem, remedy));
            }
        }
        Ok(())
    }

    fn shared(&self, group: &Group) -> Checked {
        let (blocks, access) = (group.shared_blocks, group.shared_access);
        if (blocks == 0) != (access == 0.0) {
            let problem = format!("with shared_blocks = {blocks}");
            let remedy = "state both, or neither";
            return Err(self.impossible(at(group, "shared_access"), access, problem, remedy));
        }
        if blocks > 0 && group.processes < 2 {
            let problem = "one process shares no blocks within its group";
            let remedy = "set it to 0, or state the group with which it shares as one group";
            return Err(self.impossible(at(group, "shared_blocks"), blocks, problem, remedy));
        }
        Ok(())
    }

    fn group_in_kernel(&self, group: &Group, kernel: &Kernel) -> Checked {
        let (blocks, access) = (group.kernel_shared_blocks, group.kernel_shared_access);
        for (whole, large) in
            [("shared_blocks", group.shared_blocks), ("kernel.shared_blocks", kernel.shared_blocks)]
        {
            if blocks > large {
                let problem = format!("more than {whole} = {large}");
                let remedy = format!("lower it or raise {whole}");
                let key = at(group, "kernel_shared_blocks");
                return Err(self.impossible(key, blocks, problem, remedy));
            }
        }
        if (blocks == 0) != (access == 0.0) {
            let problem = format!("with kernel_shared_blocks = {blocks}");
            let remedy = "state both, or neither";
            return Err(self.impossible(
                at(group, "kernel_shared_access"),
                access,
                problem,
                remedy,
            ));
        }
        if (group.shared_blocks == blocks) != (group.shared_access == 0.0 || access == 100.0) {
            let problem = format!(
                "of {} shared blocks {blocks} are the kernel's (kernel_shared_blocks)",
                group.shared_blocks
            );
            let remedy = "set it to 100 if all are the kernel's, and to less otherwise";
            return Err(self.impossible(
                at(group, "kernel_shared_access"),
                access,
                problem,
                remedy,
            ));
        }
        let kernels = group.shared_access * access / 100.0;
        for (who, share, needed) in [
            ("the kernel", group.kernel, kernels),
            ("user mode", 100.0 - group.kernel, group.shared_access - kernels),
        ] {
            let data = share * group.data / 100.0;
            if needed > data + EXACT {
                let problem = format!(
                    "{who} has {data:.3} percent of references to data, and {needed:.3} to shared \
                     data"
                );
                let remedy = "change kernel, kernel_shared_access or shared_access";
                return Err(self.impossible(at(group, "kernel"), group.kernel, problem, remedy));
            }
        }
        Ok(())
    }

    fn kernel(&self, kernel: &Kernel, groups: &[Group]) -> Checked {
        if let Some(sessions) = &kernel.sessions {
            self.sessions("kernel.", sessions)?;
        }
        let users: u64 = groups.iter().filter(|g| g.kernel > 0.0).map(|g| g.processes).sum();
        let blocks = [
            ("kernel.code_blocks", kernel.code_blocks, users.min(1)),
            ("kernel.private_blocks", kernel.private_blocks, users),
            ("kernel.shared_blocks", kernel.shared_blocks, 0),
        ];
        for (key, value, least) in blocks {
            self.whole(key, value, least, BLOCKS_MAX)?;
            if users == 0 && value > 0 {
                let problem = "no group has references by the kernel";
                let remedy = "set it to 0, or kernel of a group to more than 0";
                return Err(self.impossible(key, value, problem, remedy));
            }
        }
        let most = groups.iter().map(|group| group.kernel_shared_blocks).max().unwrap_or(0);
        if kernel.shared_blocks > most {
            let problem = format!("no group has more than {most} of them");
            let remedy = "lower it or raise kernel_shared_blocks of a group";
            let key = "kernel.shared_blocks";
            return Err(self.impossible(key, kernel.shared_blocks, problem, remedy));
        }
        if users > 0 {
            self.number(
                "kernel.call_references".to_owned(),
                kernel.call_references,
                1.0,
                LENGTH_MAX,
            )?;
        }
        Ok(())
    }

    fn whole(&self, key: impl Display, value: u64, least: u64, most: u64) -> Checked {
        if (least..=most).contains(&value) {
            return Ok(());
        }
        let remedy = format!("choose a number from {least} to {most}");
        Err(self.impossible(key, value, "out of range", remedy))
    }

    fn power_of_two(&self, key: &str, value: u64, least: u64, most: u64) -> Checked {
        if value.is_power_of_two() && (least..=most).contains(&value) {
            return Ok(());
        }
        let remedy = format!("choose a power of two from {least} to {most}");
        Err(self.impossible(key, value, "not a possible size", remedy))
    }

    fn number(&self, key: String, value: f64, least: f64, most: f64) -> Checked {
        if (least..=most).contains(&value) {
            return Ok(());
        }
        let remedy = format!("choose a number from {least} to {most}");
        Err(self.impossible(key, value, "out of range", remedy))
    }

    fn percentage(&self, key: String, value: f64) -> Checked {
        if (0.0..=100.0).contains(&value) {
            return Ok(());
        }
        Err(self.impossible(key, value, "not a percentage", "choose a number from 0 to 100"))
    }
}

/// A key of a group.
pub(crate) fn at(group: &Group, key: &str) -> String {
    format!("group {:?}: {key}", group.name)
}
