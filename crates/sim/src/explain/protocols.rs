//! The protocols to explain: those on a bus, or those with a directory.

use homenode_directory::{CoherenceTable, DirectoryProtocol};
use homenode_snoop::{ProtocolError, ProtocolSpec};

use super::config::ExplainConfig;
use crate::error::{SimResult, config_error};

/// Protocols for one kind of machine, because walks are compared on one machine.
pub(super) enum NamedProtocols {
    Bus(Vec<ProtocolSpec>),
    Directory(Vec<DirectoryProtocol>),
    Pages(Vec<DirectoryProtocol>),
    /// Protocols on nodes with controllers, whose directory is a list of copies.
    Lists(Vec<DirectoryProtocol>),
}

impl NamedProtocols {
    /// Parses protocols and checks that they are for one kind of machine.
    pub(super) fn parse(texts: &[String]) -> SimResult<Self> {
        let (mut bus, mut directory) = (Vec::new(), Vec::new());
        for text in texts {
            if is_for_bus(text)? {
                bus.push(ProtocolSpec::parse(text)?);
            } else {
                directory.push(DirectoryProtocol::parse(text)?);
            }
        }
        match (bus.first(), directory.first()) {
            (None, None) => Err(config_error("no protocol is given: name at least one")),
            (Some(one), Some(other)) => Err(config_error(format!(
                "{} is a protocol of a bus and {} one with a directory: explain them separately",
                one.text, other.text
            ))),
            (Some(_), None) => Ok(Self::Bus(bus)),
            (None, Some(_)) => Self::by_unit(directory),
        }
    }

    fn by_unit(all: Vec<DirectoryProtocol>) -> SimResult<Self> {
        let has = |one: &DirectoryProtocol| match one.table() {
            CoherenceTable::Blocks(_) => "keeps blocks coherent",
            CoherenceTable::Pages(_) => "keeps pages coherent",
            CoherenceTable::Linked(_) => "has lists of copies",
        };
        let Some(first) = all.first() else { return Ok(Self::Directory(all)) };
        if let Some(other) = all.iter().find(|one| has(one) != has(first)) {
            return Err(config_error(format!(
                "{} {} and {} {}: explain them separately",
                first.text,
                has(first),
                other.text,
                has(other)
            )));
        }
        Ok(match first.table() {
            CoherenceTable::Blocks(_) => Self::Directory(all),
            CoherenceTable::Pages(_) => Self::Pages(all),
            CoherenceTable::Linked(_) => Self::Lists(all),
        })
    }

    pub(super) fn check_controllers(&self, config: &ExplainConfig) -> SimResult<()> {
        let given = [("--proxies", &config.proxies), ("--buffers", &config.buffers)];
        match given.iter().find_map(|(flag, text)| text.as_ref().map(|text| (flag, text))) {
            Some((flag, text)) if !matches!(self, Self::Lists(_)) => Err(config_error(format!(
                "{flag} {text}: only nodes with controllers have this, which sdd is for"
            ))),
            Some(_) | None => Ok(()),
        }
    }

    pub(super) fn names(&self) -> Vec<&'static str> {
        match self {
            Self::Bus(all) => all.iter().map(|one| one.entry.name).collect(),
            Self::Directory(all) | Self::Pages(all) | Self::Lists(all) => {
                all.iter().map(|one| one.entry.name).collect()
            }
        }
    }
}

/// Whether a protocol is one of a bus. The error lists the protocols of both kinds.
fn is_for_bus(text: &str) -> Result<bool, ProtocolError> {
    let name = text.split_once(':').map_or(text, |(name, _)| name);
    let on_bus: Vec<&str> = homenode_snoop::TABLE.iter().map(|entry| entry.name).collect();
    let others: Vec<&str> = homenode_directory::TABLE.iter().map(|entry| entry.name).collect();
    if on_bus.contains(&name) {
        return Ok(true);
    }
    if others.contains(&name) {
        return Ok(false);
    }
    let known = [on_bus, others].concat().join(", ");
    Err(ProtocolError::Unknown { what: "protocol", name: name.to_owned(), known })
}
