//! Options of nodes with controllers: proxies, the data marked for them, and buffers.

use std::ops::Range;

use homenode_analysis::Names;
use homenode_directory::ProxySetup;

use super::config::{DirectoryConfig, INFINITE};
use crate::error::{SimResult, config_error};
use crate::pass::TraceSource;

/// Largest buffer, in messages.
const BUFFER_MAX: u64 = 1 << 20;
const DATA: &str = "data=";
const NAMED_MAX: usize = 8;

/// Proxies and buffers, as the user writes them and as the engine takes them.
#[derive(Clone, Debug)]
pub(super) struct ControllerChoice {
    pub(super) proxies: (String, ProxySetup),
    pub(super) buffers: (String, Option<u64>),
}

impl ControllerChoice {
    pub(super) fn none() -> Self {
        let proxies = ("none".to_owned(), ProxySetup::default());
        Self { proxies, buffers: (INFINITE.to_owned(), None) }
    }

    pub(super) fn all(config: &DirectoryConfig, trace: &dyn TraceSource) -> SimResult<Vec<Self>> {
        let mut choices = Vec::new();
        for proxies in &config.proxies {
            let setup = proxy_setup(proxies, trace)?;
            for buffers in &config.buffers {
                let proxies = (proxies.clone(), setup.clone());
                choices.push(Self { proxies, buffers: (buffers.clone(), buffer_reads(buffers)?) });
            }
        }
        Ok(choices)
    }

    pub(super) fn refuse(config: &DirectoryConfig, machine: &str) -> SimResult<()> {
        let none = Self::none();
        for (flag, given, without) in [
            ("--proxies", &config.proxies, none.proxies.0),
            ("--buffers", &config.buffers, none.buffers.0),
        ] {
            if let Some(given) = given.iter().find(|given| **given != without) {
                return Err(config_error(format!(
                    "{flag} {given}: the nodes of {machine} have no controllers in which messages \
                     wait; say --machine alite"
                )));
            }
        }
        Ok(())
    }
}

pub(crate) fn buffer_reads(text: &str) -> SimResult<Option<u64>> {
    if text == INFINITE {
        return Ok(None);
    }
    let number = text.parse().ok().filter(|number| (1..=BUFFER_MAX).contains(number));
    number.map(Some).ok_or_else(|| {
        config_error(format!(
            "--buffers {text}: expected {INFINITE} or a number from 1 to {BUFFER_MAX}"
        ))
    })
}

/// Parses a proxy policy; names of marked data are resolved here, not in the engine.
fn proxy_setup(text: &str, trace: &dyn TraceSource) -> SimResult<ProxySetup> {
    let (name, parameters) = text.split_once(':').unwrap_or((text, ""));
    let (data, others): (Vec<&str>, Vec<&str>) =
        parameters.split(',').partition(|item| item.starts_with(DATA));
    let others = others.join(",");
    let of_engine = if others.is_empty() { name.to_owned() } else { format!("{name}:{others}") };
    let mut setup = ProxySetup::parse(&of_engine)?;
    if data.is_empty() {
        return Ok(setup);
    }
    if setup.used != homenode_directory::ProxyUse::Basic {
        return Err(config_error(format!("--proxies {text}: only basic proxies take `data`")));
    }
    let names = Names::new(trace.metadata());
    for item in data {
        for wanted in item[DATA.len()..].split('+') {
            setup.marked.extend(marked(wanted, &names, text)?);
        }
    }
    Ok(setup)
}

/// The addresses of a name, an allocation site or a range.
fn marked(wanted: &str, names: &Names<'_>, text: &str) -> SimResult<Vec<Range<u64>>> {
    if let Some(range) = address_range(wanted) {
        return Ok(vec![range]);
    }
    let means = |group: usize| names.object_of(group).label().contains(wanted);
    let found: Vec<Range<u64>> = names
        .segments()
        .iter()
        .filter(|segment| !wanted.is_empty() && means(segment.group))
        .map(|segment| segment.first..segment.last.saturating_add(1))
        .collect();
    if !found.is_empty() {
        return Ok(found);
    }
    let mut groups: Vec<usize> = names.segments().iter().map(|segment| segment.group).collect();
    groups.sort_unstable();
    groups.dedup();
    groups.sort_by_key(|&group| std::cmp::Reverse(names.bytes_of(group)));
    let known: Vec<String> =
        groups.iter().take(NAMED_MAX).map(|&group| names.object_of(group).label()).collect();
    Err(config_error(format!(
        "--proxies {text}: nothing in the trace is called {wanted:?}; the largest objects are {}",
        known.join("; ")
    )))
}

fn address_range(text: &str) -> Option<Range<u64>> {
    let (first, end) = text.split_once('-')?;
    let read = |text: &str| u64::from_str_radix(text.strip_prefix("0x")?, 16).ok();
    let range = read(first)?..read(end)?;
    (range.start < range.end).then_some(range)
}
