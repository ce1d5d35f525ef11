//! Selection of the processes of a mix.

use std::collections::BTreeMap;

use homenode_trace::Process;

use super::survey::RecordingSurvey;
use super::switches::IDLE;

#[derive(Debug, PartialEq, Eq)]
pub(super) enum ProcessSelector {
    /// The most active processes of this name, and how many of them.
    Name(String, usize),
    Number(u32),
}

/// Reads `apache2=13,ls,124`.
pub(super) fn parse(text: &str) -> Result<Vec<ProcessSelector>, String> {
    text.split(',').map(|selector| selector.trim()).map(|selector| one(selector, text)).collect()
}

fn one(selector: &str, text: &str) -> Result<ProcessSelector, String> {
    let bad = |why: &str| {
        format!("processes={text}: {why}; expected NAME=N, NAME or PID, several with commas")
    };
    if let Ok(number) = selector.parse() {
        return if number == IDLE {
            Err(bad("process 0 are the idle processors"))
        } else {
            Ok(ProcessSelector::Number(number))
        };
    }
    let (name, count) = selector.rsplit_once('=').unwrap_or((selector, "1"));
    match count.parse() {
        Ok(count) if count > 0 && !name.is_empty() => {
            Ok(ProcessSelector::Name(name.to_owned(), count))
        }
        _ => Err(bad(&format!("{selector:?} names no processes"))),
    }
}

struct RecordedProcesses<'a> {
    processes: Vec<(Process, u64)>,
    known: &'a [Process],
}

/// The processes of a mix, one for each thread: the selected ones in the order of selection, the
/// most active one of a name first, or all in order of their numbers.
///
/// The name of a process is its last one.
pub(super) fn choose(
    wanted: Option<&[ProcessSelector]>,
    survey: &RecordingSurvey,
    known: &[Process],
) -> Result<Vec<Process>, String> {
    let present = RecordedProcesses::new(survey, known);
    let Some(wanted) = wanted else {
        return check_count(present.processes.into_iter().map(|(process, _)| process).collect());
    };
    let mut chosen: Vec<Process> = Vec::new();
    for selector in wanted {
        let (name, count) = match selector {
            ProcessSelector::Number(pid) => {
                let Some((process, _)) = present.processes.iter().find(|(p, _)| p.pid == *pid)
                else {
                    return Err(present.missing(&format!("process {pid}")));
                };
                if chosen.contains(process) {
                    return Err(format!("processes: process {pid} is named twice"));
                }
                chosen.push(process.clone());
                continue;
            }
            ProcessSelector::Name(name, count) => (name, *count),
        };
        let mut named: Vec<&(Process, u64)> = present.processes.iter().collect();
        named.retain(|(process, _)| process.names.last() == Some(name));
        let present_count = named.len();
        named.retain(|(process, _)| !chosen.contains(process));
        // The sort is stable: of equally active ones the one with the lowest number comes first.
        named.sort_by_key(|(_, references)| std::cmp::Reverse(*references));
        if named.len() < count {
            let has = format!("{count} of {name}, of which the recording has {present_count}");
            return Err(present.missing(&has));
        }
        chosen.extend(named[..count].iter().map(|(process, _)| process.clone()));
    }
    check_count(chosen)
}

fn check_count(chosen: Vec<Process>) -> Result<Vec<Process>, String> {
    match chosen.len() {
        0 => Err("the recording has no process that did anything".to_owned()),
        1..=0x8000 => Ok(chosen),
        n => Err(format!("a mix has at most 32768 processes, not {n}: name some with processes")),
    }
}

impl<'a> RecordedProcesses<'a> {
    fn new(survey: &RecordingSurvey, known: &'a [Process]) -> Self {
        let of = |(&pid, activity): (&u32, &super::survey::Activity)| {
            let named = known.iter().find(|process| process.pid == pid);
            let process = named.cloned().unwrap_or(Process { pid, names: Vec::new() });
            (process, activity.user + activity.kernel)
        };
        let active = survey.processes.iter().filter(|(pid, _)| **pid != IDLE);
        Self { processes: active.map(of).collect(), known }
    }

    fn missing(&self, what: &str) -> String {
        let mut names: BTreeMap<&str, u32> = BTreeMap::new();
        for (process, _) in &self.processes {
            let name = process.names.last().map_or("", String::as_str);
            *names.entry(name).or_default() += 1;
        }
        let unnamed = names.remove("").unwrap_or(0);
        let mut there: Vec<String> =
            names.iter().map(|(name, count)| format!("{name}={count}")).collect();
        if unnamed > 0 {
            let mut pids: Vec<String> = self
                .processes
                .iter()
                .filter(|(process, _)| process.names.is_empty())
                .map(|(process, _)| process.pid.to_string())
                .collect();
            let more = if pids.len() > 20 { ", ..." } else { "" };
            pids.truncate(20);
            there.push(format!("without a name {}{more}", pids.join(", ")));
        }
        let inactive = self.known.iter().filter(|process| {
            process.pid != IDLE && !self.processes.iter().any(|(p, _)| p.pid == process.pid)
        });
        let inactive = match inactive.count() {
            0 => String::new(),
            n => format!(" ({n} more did nothing)"),
        };
        format!("processes: there is no {what}; there are {}{inactive}", there.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_counts_and_numbers_are_distinguished() {
        let items = parse("apache2=13, ls,124,a=b=2").unwrap();
        let name = |name: &str, count| ProcessSelector::Name(name.to_owned(), count);
        let expected =
            [name("apache2", 13), name("ls", 1), ProcessSelector::Number(124), name("a=b", 2)];
        assert_eq!(items, expected);
        for bad in ["", "ls,", "ls=0", "=3", "ls=x", "0"] {
            let error = parse(bad).unwrap_err();
            assert!(error.contains("expected NAME=N, NAME or PID"), "{error}");
        }
    }
}
