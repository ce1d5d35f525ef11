//! The options of each study, as JSON schemas.
//!
//! An option is declared once, as a field of a configuration: its type and doc comment give its
//! values and meaning, its serde attribute gives its default. The command line, the Python
//! signatures and the documentation are generated from the schemas. Attributes of a field give what
//! a schema cannot express:
//!
//! * `x-flag`: the flag if it differs from the field's name; `null` if the command line has none.
//! * `x-value`: the syntax of the value, if the type does not determine it.
//! * `x-metavar`: the name of the value in the command line's help.
//! * `x-default`: the default in words, if it is not a single value.
//! * `x-command-line-default`: the default on the command line, if that differs.
//! * `x-argument`: the Python function has it as an argument of its own.
//! * `x-only-order`: the order of references that it requires.
//! * `x-options-of`: the field's own fields are the options of another study.
//! * `x-internal`: only for programs, not on the command line.
//!
//! The configurations that have an option determine the kinds of machine it applies to.

use serde_json::Value;

use crate::advise::AdviceConfig;
use crate::bus::BusPoint;
use crate::engines::ENGINES;
use crate::explain::ExplainConfig;
use crate::lines::LineConfig;
use crate::live::RunConfig;
use crate::optimal::OptimalConfig;
use crate::picture::PictureConfig;
use crate::pmap::PmapConfig;
use crate::schema::schema;
use crate::sharing::SharingConfig;
use crate::tlb::{McprCorrection, TlbConfig};

#[derive(Clone, Copy, Debug)]
struct StudyOptions {
    name: &'static str,
    schema: fn() -> Value,
}

/// All studies with options, besides the simulations of [`ENGINES`].
const STUDIES: &[StudyOptions] = &[
    StudyOptions { name: "bus-point", schema: schema::<BusPoint> },
    StudyOptions { name: "run", schema: schema::<RunConfig> },
    StudyOptions { name: "optimal", schema: schema::<OptimalConfig> },
    StudyOptions { name: "sharing", schema: schema::<SharingConfig> },
    StudyOptions { name: "lines", schema: schema::<LineConfig> },
    StudyOptions { name: "advise", schema: schema::<AdviceConfig> },
    StudyOptions { name: "tlb", schema: schema::<TlbConfig> },
    StudyOptions { name: "tlb-correction", schema: schema::<McprCorrection> },
    StudyOptions { name: "pmap", schema: schema::<PmapConfig> },
    StudyOptions { name: "picture", schema: schema::<PictureConfig> },
    StudyOptions { name: "explain", schema: schema::<ExplainConfig> },
];

/// The names of all that has options: the engines, and studies.
#[must_use]
pub fn study_names() -> Vec<&'static str> {
    let engines = ENGINES.iter().map(|engine| engine.name);
    engines.chain(STUDIES.iter().map(|study| study.name)).collect()
}

/// The JSON schema of the options of an engine or a study.
#[must_use]
pub fn study_schema(name: &str) -> Option<Value> {
    let engine = ENGINES.iter().find(|engine| engine.name == name);
    let study = || STUDIES.iter().find(|study| study.name == name).map(|study| (study.schema)());
    engine.map(|engine| (engine.schema)()).or_else(study)
}
