//! Which protocols are explained: those of a bus, or those with a directory.

use homenode_directory::DirectoryProtocol;
use homenode_snoop::{ProtocolError, ProtocolSpec};

use crate::error::{SimError, config_error};

/// Protocols for one kind of machine: walks are compared on the same machine.
pub(super) enum NamedProtocols {
    /// For processors that share a bus.
    Bus(Vec<ProtocolSpec>),
    /// For nodes with a directory.
    Directory(Vec<DirectoryProtocol>),
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
            (None, Some(_)) => Ok(Self::Directory(directory)),
        }
    }

    /// The protocols without their parameters.
    pub(super) fn names(&self) -> Vec<&'static str> {
        match self {
            Self::Bus(all) => all.iter().map(|one| one.entry.name).collect(),
            Self::Directory(all) => all.iter().map(|one| one.entry.name).collect(),
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
