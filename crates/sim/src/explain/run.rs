//! Explains protocols by a walk through the same references.

use super::bus::explain_bus;
use super::config::ExplainConfig;
use super::directory::{explain_directory, explain_lists, explain_pages};
use super::nodes::WalkRequest;
use super::outcome::ProtocolExplanation;
use super::protocols::NamedProtocols;
use super::subject::ExplainSubject;
use crate::error::SimResult;
use crate::pass::{Progress, TraceSource};

/// Explains protocols by the same references: those of an example, those given, or the first
/// references to a few blocks of a trace.
///
/// # Errors
/// When the configuration is invalid, the trace is damaged, or it has no such references.
pub fn explain<T: TraceSource>(
    config: &ExplainConfig,
    trace: Option<&T>,
    progress: Progress<'_>,
) -> SimResult<ProtocolExplanation> {
    let trace = trace.map(|trace| trace as &dyn TraceSource);
    let protocols = NamedProtocols::parse(&config.protocols)?;
    protocols.check_controllers(config)?;
    let subject = ExplainSubject::of(config, &protocols.names(), trace.is_some())?;
    let request = |subject| WalkRequest { config, subject, trace };
    match protocols {
        NamedProtocols::Bus(specs) => {
            let found = explain_bus(config, &specs, subject, trace, progress)?;
            Ok(ProtocolExplanation::Bus(Box::new(found)))
        }
        NamedProtocols::Directory(protocols) => {
            let found = explain_directory(&protocols, request(subject), progress)?;
            Ok(ProtocolExplanation::Directory(Box::new(found)))
        }
        NamedProtocols::Lists(protocols) => {
            let found = explain_lists(&protocols, request(subject), progress)?;
            Ok(ProtocolExplanation::Lists(Box::new(found)))
        }
        NamedProtocols::Pages(protocols) => {
            let found = explain_pages(&protocols, request(subject), progress)?;
            Ok(ProtocolExplanation::Pages(Box::new(found)))
        }
    }
}
