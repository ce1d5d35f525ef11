//! The statistics that come with the program.

use std::path::Path;

use crate::error::ServersError;
use crate::statistics::Statistics;

/// A file embedded in the program.
#[derive(Clone, Copy, Debug)]
pub struct StatisticsPreset {
    /// Name on the command line.
    pub name: &'static str,
    /// The TOML file.
    pub text: &'static str,
}

/// The preset of a name, whose file has that name in `presets/`.
macro_rules! preset {
    ($name:literal) => {
        StatisticsPreset { name: $name, text: include_str!(concat!("../presets/", $name, ".toml")) }
    };
}

/// All of them. A new one is a file in `presets/` and an entry here.
pub const TABLE: &[StatisticsPreset] =
    &[preset!("foglia-ec"), preset!("foglia-db"), preset!("foglia-web")];

/// The statistics of a name in the table, or of a file, with some values changed
/// ([`Statistics::parse_with`]).
///
/// # Errors
/// When there are none, or the file is not valid.
pub fn find(name: &str, changes: &[(String, String)]) -> Result<Statistics, ServersError> {
    if let Some(preset) = TABLE.iter().find(|preset| preset.name == name) {
        return Statistics::parse_with(preset.text, preset.name, changes);
    }
    let path = Path::new(name);
    if path.extension().is_none() && !path.exists() {
        let known: Vec<&str> = TABLE.iter().map(|preset| preset.name).collect();
        return Err(ServersError::Unknown { name: name.to_owned(), known: known.join(", ") });
    }
    Statistics::read(path, changes)
}
