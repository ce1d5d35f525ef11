//! The table of engines: what machines of a kind are simulated with.
//!
//! A kind of machine is a row of [`homenode_machine::KINDS`], and has one engine. An engine is a
//! crate that simulates, an entry that connects it to configurations and traces, listed here, and a
//! page of the documentation.

use homenode_machine::Machine;

use crate::engine::Engine;
use crate::error::{SimResult, config_error};
use crate::{bus, directory, placement};

/// Every engine, in the order of the documentation.
pub const ENGINES: &[Engine] = &[placement::ENGINE, bus::ENGINE, directory::ENGINE];

/// The engine of these machines.
///
/// # Errors
/// When a machine is unknown, its description is invalid, or the machines have several engines.
pub fn engine_of<S: AsRef<str>>(machines: &[S]) -> SimResult<&'static Engine> {
    let mut found: Option<&'static Engine> = None;
    for machine in machines {
        let kind = Machine::parse(machine.as_ref())?.kind();
        let engine = ENGINES.iter().find(|engine| engine.kinds.contains(&kind));
        let engine = engine.expect("every kind of machine has an engine");
        match found {
            Some(other) if other.name != engine.name => {
                return Err(config_error(format!(
                    "{} and {} cannot be combined in one run: simulate one kind at a time",
                    other.machines, engine.machines
                )));
            }
            Some(_) | None => found = Some(engine),
        }
    }
    found.ok_or_else(|| config_error("no machine is given: name at least one with --machine"))
}

/// The engine with this name.
///
/// # Errors
/// When there is none.
pub fn engine_named(name: &str) -> SimResult<&'static Engine> {
    let known = ENGINES.iter().find(|engine| engine.name == name);
    known.ok_or_else(|| config_error(format!("there is no engine {name}")))
}
