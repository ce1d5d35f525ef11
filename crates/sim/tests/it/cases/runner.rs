//! Runs every case on every engine that can, and checks the case's expectations and the laws
//! between engines.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};

use crate::cases::corpus::Case;
use crate::cases::engine::Engine;
use crate::cases::law::Law;
use crate::cases::matching;

#[derive(Default)]
pub struct Summary {
    pub cases: usize,
    /// Cases that ran and expectations that were compared, by engine.
    ran: BTreeMap<&'static str, (usize, usize)>,
    /// Cases that did not run, by engine and reason.
    skipped: BTreeMap<(String, String), Vec<String>>,
    /// Cases that a law was checked for, and those it does not apply to, by reason.
    laws: BTreeMap<&'static str, (usize, BTreeMap<&'static str, usize>)>,
    pub faults: Vec<String>,
}

/// Runs a corpus. Each worker takes the next case; engines have pools of threads of their own.
pub fn run(cases: &[Case], engines: &'static [Engine], laws: &'static [Law]) -> Summary {
    let next = AtomicUsize::new(0);
    let work = || {
        let take = || cases.get(next.fetch_add(1, Ordering::Relaxed));
        let done = std::iter::from_fn(take).map(|case| one(case, engines, laws));
        done.fold(Summary::default(), |mut all, summary| {
            all.add(summary);
            all
        })
    };
    let workers = std::thread::available_parallelism().map_or(1, usize::from).min(cases.len());
    let mut all = Summary::default();
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..workers).map(|_| scope.spawn(work)).collect();
        for worker in workers {
            all.add(worker.join().expect("a case does not panic"));
        }
    });
    all.faults.sort();
    all.skipped.values_mut().for_each(|names| names.sort());
    all
}

fn one(case: &Case, engines: &'static [Engine], laws: &'static [Law]) -> Summary {
    let mut summary = Summary { cases: 1, ..Summary::default() };
    let known = |name: &String| engines.iter().any(|engine| engine.name == *name);
    let named = case.skip.keys().chain(case.expectations.iter().map(|e| &e.engine));
    let unknown: Vec<&String> = named.filter(|name| !known(name)).collect();
    for name in unknown {
        let names: Vec<&str> = engines.iter().map(|engine| engine.name).collect();
        summary.fault(case, name, &format!("no such engine; there are {}", names.join(", ")));
    }
    let mut can = Vec::new();
    for engine in engines {
        match case.skip.get(engine.name).cloned().or_else(|| (engine.cannot)(case)) {
            Some(reason) => summary.skips(case, engine, reason),
            None => {
                can.push(engine.name);
                let compared = summary.runs(case, engine);
                summary.ran.insert(engine.name, (1, compared));
            }
        }
    }
    if can.is_empty() {
        summary.fault(case, "all engines", "none of them runs the case");
    }
    for law in laws.iter().filter(|law| law.engines.iter().all(|name| can.contains(name))) {
        let counted = summary.laws.entry(law.name).or_default();
        if let Some(reason) = (law.silent)(case) {
            *counted.1.entry(reason).or_default() += 1;
            continue;
        }
        counted.0 += 1;
        if let Err(problem) = (law.check)(case) {
            summary.fault(case, law.name, &problem);
        }
    }
    summary
}

impl Summary {
    fn fault(&mut self, case: &Case, what: &str, problem: &str) {
        self.faults.push(format!("{}: case {}: {what}: {problem}", case.file, case.name));
    }

    fn skips(&mut self, case: &Case, engine: &Engine, reason: String) {
        if case.expectations.iter().any(|e| e.engine == engine.name) {
            let problem = format!("the case expects something of it, but it is skipped: {reason}");
            self.fault(case, engine.name, &problem);
        }
        self.ran.entry(engine.name).or_default();
        let skipped = self.skipped.entry((engine.name.to_owned(), reason)).or_default();
        skipped.push(case.name.clone());
    }

    fn runs(&mut self, case: &Case, engine: &Engine) -> usize {
        self.outcomes(case, engine, &json!({}));
        let own = |e: &&crate::cases::corpus::Expectation| e.engine == engine.name;
        let mut compared = 0;
        for expectation in case.expectations.iter().filter(own) {
            compared += 1;
            let outcomes = self.outcomes(case, engine, &expectation.with);
            for outcome in &outcomes {
                for fault in matching::faults(&expectation.gives, outcome) {
                    self.fault(case, engine.name, &format!("{} {fault}", expectation.with));
                }
            }
        }
        compared
    }

    /// The outcomes of one configuration, which must be the same for any division into chunks.
    fn outcomes(&mut self, case: &Case, engine: &Engine, with: &Value) -> Vec<Value> {
        let whole = (engine.run)(case, &case.trace, with);
        let in_pieces = (engine.run)(case, &case.in_pieces, with);
        match (whole, in_pieces) {
            (Ok(whole), Ok(in_pieces)) => {
                if whole.is_empty() {
                    self.fault(case, engine.name, &format!("{with} has no outcome"));
                }
                if whole != in_pieces {
                    let problem = format!("{with} depends on how the trace is cut into chunks");
                    self.fault(case, engine.name, &problem);
                }
                whole
            }
            (Err(problem), _) | (_, Err(problem)) => {
                self.fault(case, engine.name, &format!("{with} {problem}"));
                Vec::new()
            }
        }
    }

    fn add(&mut self, other: Self) {
        self.cases += other.cases;
        for (engine, (ran, compared)) in other.ran {
            let sum = self.ran.entry(engine).or_default();
            (sum.0, sum.1) = (sum.0 + ran, sum.1 + compared);
        }
        for (key, names) in other.skipped {
            self.skipped.entry(key).or_default().extend(names);
        }
        for (law, (checked, silent)) in other.laws {
            let sum = self.laws.entry(law).or_default();
            sum.0 += checked;
            for (reason, count) in silent {
                *sum.1.entry(reason).or_default() += count;
            }
        }
        self.faults.extend(other.faults);
    }
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{} cases", self.cases)?;
        for (engine, (ran, compared)) in &self.ran {
            writeln!(f, "{engine}: ran {ran}, compared {compared} expectations")?;
            for ((_, reason), names) in self.skipped.iter().filter(|((e, _), _)| e == engine) {
                writeln!(f, "    skipped {} ({reason}): {}", names.len(), names.join(", "))?;
            }
        }
        for (law, (checked, silent)) in &self.laws {
            writeln!(f, "law: {law}: {checked} cases")?;
            for (reason, count) in silent {
                writeln!(f, "    says nothing of {count}: {reason}")?;
            }
        }
        Ok(())
    }
}
