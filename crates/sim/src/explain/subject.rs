//! The subject of a walk: an example, references as the user writes them, or those of a trace.

use homenode_base::Access;
use homenode_machine::CacheShape;
use homenode_snoop::Example;
use homenode_snoop::walk::{TOUR, WrittenStep, written_steps};
use serde::Serialize;

use super::config::ExplainConfig;
use super::outcome::TraceExcerpt;
use super::references::BlockFilter;
use crate::caches::resized;
use crate::error::{SimResult, config_error};
use crate::pass::{Progress, TraceSource, processors};

const GIVEN: &str = "given";

/// Examples: one for each protocol, then one to compare protocols.
#[must_use]
pub fn explain_examples() -> Vec<&'static Example> {
    let bus = homenode_snoop::TABLE.iter().map(|entry| &entry.example);
    let directory = homenode_directory::TABLE.iter().map(|entry| &entry.example);
    bus.chain(directory).chain(std::iter::once(&TOUR)).collect()
}

/// An example to walk through.
#[derive(Clone, Debug, Serialize)]
pub struct WalkedExample {
    /// Name on the command line; `given` for references written by the user.
    pub name: String,
    /// What it shows, as a title.
    pub summary: String,
    /// Its description.
    pub about: String,
    /// The protocol that it illustrates, if it is for a single one.
    pub protocol: Option<&'static str>,
}

pub(super) enum ExplainSubject {
    /// The steps of an example, and the number of processors that they require.
    Example(WalkedExample, Vec<WrittenStep>, u16),
    Trace,
}

impl ExplainSubject {
    pub(super) fn of(
        config: &ExplainConfig,
        protocols: &[&str],
        has_trace: bool,
    ) -> SimResult<Self> {
        match (has_trace, &config.example) {
            (true, Some(_)) => {
                Err(config_error("an example and a trace are given: leave one out".to_owned()))
            }
            (true, None) => Ok(Self::Trace),
            (false, None) => Ok(Self::example(own_example(protocols), config)),
            (false, Some(text)) => {
                let examples = explain_examples();
                match examples.iter().find(|example| example.name == text) {
                    Some(example) => Ok(Self::example(example, config)),
                    // References have blanks, and names do not.
                    None if text.contains(' ') => Self::written(text, config.processors),
                    None => {
                        let known: Vec<&str> = examples.iter().map(|found| found.name).collect();
                        Err(config_error(format!(
                            "unknown example {text:?}: expected one of {}, or references as in \
                             \"0 W a0; 1 R a0\"",
                            known.join(", ")
                        )))
                    }
                }
            }
        }
    }

    fn example(example: &Example, config: &ExplainConfig) -> Self {
        let shown = WalkedExample {
            name: example.name.to_owned(),
            summary: example.summary.to_owned(),
            about: example.about.to_owned(),
            protocol: example.protocol,
        };
        let processors = config.processors.unwrap_or_else(|| example.processors());
        Self::Example(shown, example.steps(), processors)
    }

    /// Parses references written by the user. Each must be by an existing processor.
    fn written(text: &str, processors: Option<u16>) -> SimResult<Self> {
        let steps =
            written_steps(text).map_err(|error| config_error(format!("--example: {error}")))?;
        let needed = steps.iter().map(|step| step.thread() + 1).max().unwrap_or(1);
        let there = processors.unwrap_or(needed);
        let beyond = steps.iter().position(|step| step.thread() >= there);
        if let Some(number) = beyond.filter(|_| there > 0) {
            return Err(config_error(format!(
                "--example: reference {} is by processor {}, but with --processors {there} they \
                 are 0 to {}",
                number + 1,
                steps[number].thread(),
                there - 1
            )));
        }
        let shown = WalkedExample {
            name: GIVEN.to_owned(),
            summary: "References as they were given".to_owned(),
            about: format!("{}.", text.trim()),
            protocol: None,
        };
        Ok(Self::Example(shown, steps, there))
    }

    pub(super) fn processors(
        &self,
        config: &ExplainConfig,
        trace: Option<&dyn TraceSource>,
    ) -> SimResult<u16> {
        match (self, trace) {
            (Self::Example(_, _, needed), _) => Ok(*needed),
            (Self::Trace, Some(trace)) => processors(config.processors, trace),
            (Self::Trace, None) => Ok(config.processors.unwrap_or(1)),
        }
    }

    /// Each processor's cache, given the machine's. An example has a cache of its own, which keeps
    /// its number of frames if the block size is changed.
    pub(super) fn cache(&self, config: &ExplainConfig, machine: CacheShape) -> CacheShape {
        let (own, size_bytes) = match self {
            Self::Example(..) => {
                let own = Example::CACHE;
                let block = config.block_size.unwrap_or(own.block_size_bytes);
                (own, own.size_bytes / own.block_size_bytes * block)
            }
            Self::Trace => (machine, machine.size_bytes),
        };
        let block_size = Some(config.block_size.unwrap_or(own.block_size_bytes));
        let own = CacheShape { size_bytes, ..own };
        resized(own, config.cache_size, config.associativity, block_size)
    }

    pub(super) fn steps(
        self,
        filter: impl FnOnce() -> SimResult<BlockFilter>,
        trace: Option<&dyn TraceSource>,
        progress: Progress<'_>,
    ) -> SimResult<WalkedSteps> {
        match (self, trace) {
            (Self::Example(example, steps, _), _) => {
                Ok(WalkedSteps { example: Some(example), trace: None, steps })
            }
            (Self::Trace, Some(trace)) => {
                let (steps, part) = filter()?.of(trace, progress)?;
                Ok(WalkedSteps { example: None, trace: Some(part), steps })
            }
            (Self::Trace, None) => {
                Ok(WalkedSteps { example: None, trace: None, steps: Vec::new() })
            }
        }
    }
}

pub(super) struct WalkedSteps {
    pub(super) example: Option<WalkedExample>,
    pub(super) trace: Option<TraceExcerpt>,
    pub(super) steps: Vec<WrittenStep>,
}

impl WalkedSteps {
    pub(super) fn references(&self) -> Vec<Access> {
        self.steps.iter().filter_map(WrittenStep::access).copied().collect()
    }

    /// Rejects overlapping references, if the protocol has no clock that can show them.
    pub(super) fn check_complete(&self, protocol: &str) -> SimResult<()> {
        let overlaps = |step: &WrittenStep| matches!(step, WrittenStep::Begins(_));
        match self.steps.iter().position(overlaps) {
            None => Ok(()),
            Some(number) => Err(config_error(format!(
                "--example: step {} overlaps the next one (&); under {protocol}, as under all \
                 protocols but sdd, each step completes first",
                number + 1
            ))),
        }
    }

    /// Rejects acquires and releases, if the protocol does nothing at these.
    pub(super) fn check_references(&self, protocol: &str) -> SimResult<()> {
        match (self.steps.iter().position(|step| step.access().is_none()), &self.example) {
            (None, _) => Ok(()),
            (Some(_), Some(example)) if example.name != GIVEN => Err(config_error(format!(
                "--example {}: it has acquires and releases, at which {protocol} does nothing",
                example.name
            ))),
            (Some(number), _) => Err(config_error(format!(
                "--example: step {} is an acquire or a release, at which {protocol} does nothing; \
                 leave acq and rel out",
                number + 1
            ))),
        }
    }
}

/// The example for some protocols: the own one of a single protocol, or that for a comparison.
fn own_example(protocols: &[&str]) -> &'static Example {
    let own = |example: &&Example| {
        example.protocol.is_some_and(|own| protocols.iter().all(|name| *name == own))
    };
    explain_examples().into_iter().find(own).unwrap_or(&TOUR)
}
