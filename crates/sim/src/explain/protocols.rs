//! Which protocols are explained: those of a bus, or those with a directory.

use homenode_directory::{CoherenceTable, DirectoryProtocol};
use homenode_snoop::{ProtocolError, ProtocolSpec};

use crate::error::{SimError, config_error};

/// Protocols for one kind of machine: walks are compared on the same machine.
pub(super) enum NamedProtocols {
    /// For processors that share a bus.
    Bus(Vec<ProtocolSpec>),
    /// For nodes with a directory of blocks.
    Directory(Vec<DirectoryProtocol>),
    /// For nodes whose operating systems keep pages coherent.
    Pages(Vec<DirectoryProtocol>),
}

impl NamedProtocols {
    /// Reads what a user wrote.
    pub(super) fn parse(texts: &[String]) -> Result<Self, SimError> {
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
                "{} is a protocol of a bus and {} one with a directory: explain them one by one",
                one.text, other.text
            ))),
            (Some(_), None) => Ok(Self::Bus(bus)),
            (None, Some(_)) => Self::by_unit(directory),
        }
    }

    /// Protocols with a directory, by what they keep coherent.
    fn by_unit(all: Vec<DirectoryProtocol>) -> Result<Self, SimError> {
        let with_lists = |one: &&DirectoryProtocol| matches!(one.table(), CoherenceTable::Lists(_));
        if let Some(one) = all.iter().find(with_lists) {
            let name = one.entry.name;
            return Err(config_error(format!(
                "{name} cannot be walked through; its tables are in docs/protocols.md, and \
                 homenode check-protocol {name} explores them"
            )));
        }
        let is_of_pages =
            |one: &&DirectoryProtocol| matches!(one.table(), CoherenceTable::Pages(_));
        let of_pages = all.iter().find(is_of_pages);
        let of_blocks = all.iter().find(|one| !is_of_pages(one));
        match (of_blocks, of_pages) {
            (Some(one), Some(other)) => Err(config_error(format!(
                "{} keeps blocks coherent and {} pages: explain them one by one",
                one.text, other.text
            ))),
            (_, None) => Ok(Self::Directory(all)),
            (None, Some(_)) => Ok(Self::Pages(all)),
        }
    }

    /// The protocols without their parameters.
    pub(super) fn names(&self) -> Vec<&'static str> {
        match self {
            Self::Bus(all) => all.iter().map(|one| one.entry.name).collect(),
            Self::Directory(all) | Self::Pages(all) => {
                all.iter().map(|one| one.entry.name).collect()
            }
        }
    }
}

/// Whether a protocol is for a bus and not for a directory. The error lists the protocols of all.
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
