//! Protocols as users write them: `mesi`, `pscr:private_kernel=yes`.

use super::{Entry, TABLE};
use crate::table::Table;

/// What is wrong with a protocol.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ProtocolError {
    /// No such name.
    #[error("unknown protocol {name:?}: expected one of {known}")]
    Unknown {
        /// What was asked for.
        name: String,
        /// The names there are.
        known: String,
    },
    /// A parameter that the protocol does not have, or a value that is none.
    #[error("protocol {spec:?}: {problem}")]
    Parameter {
        /// What was asked for.
        spec: String,
        /// What is wrong and what is expected.
        problem: String,
    },
}

/// A protocol with its switches.
#[derive(Clone, Debug)]
pub struct ProtocolSpec {
    /// As the user wrote it.
    pub text: String,
    /// The protocol.
    pub entry: &'static Entry,
    /// Whether kernel structures of one process count as private.
    pub private_kernel: bool,
}

impl ProtocolSpec {
    /// Reads a protocol.
    ///
    /// # Errors
    /// When a name, a parameter or its value is unknown.
    ///
    /// ```
    /// use homenode_snoop::ProtocolSpec;
    /// assert!(ProtocolSpec::parse("pscr:private_kernel=yes")?.private_kernel);
    /// assert!(ProtocolSpec::parse("mesi:private_kernel=yes").is_err());
    /// # Ok::<(), homenode_snoop::ProtocolError>(())
    /// ```
    pub fn parse(text: &str) -> Result<Self, ProtocolError> {
        let (name, parameters) = text.split_once(':').unwrap_or((text, ""));
        let entry = TABLE.iter().find(|entry| entry.name == name).ok_or_else(|| {
            let known: Vec<&str> = TABLE.iter().map(|entry| entry.name).collect();
            ProtocolError::Unknown { name: name.to_owned(), known: known.join(", ") }
        })?;
        let fail = |problem| ProtocolError::Parameter { spec: text.to_owned(), problem };
        let mut spec = Self { text: text.to_owned(), entry, private_kernel: false };
        let mut given: Vec<&str> = Vec::new();
        for item in parameters.split(',').filter(|_| text.contains(':')) {
            let Some((key, value)) = item.split_once('=') else {
                return Err(fail(format!("expected parameter=yes or =no, found {item:?}")));
            };
            if entry.params.iter().all(|p| p.name != key) {
                let known: Vec<&str> = entry.params.iter().map(|p| p.name).collect();
                let known = if known.is_empty() { "no parameter".into() } else { known.join(", ") };
                return Err(fail(format!("it has {known}, found {key:?}")));
            }
            if given.contains(&key) {
                return Err(fail(format!("{key} is given twice")));
            }
            given.push(key);
            spec.private_kernel = match value {
                "yes" => true,
                "no" => false,
                other => return Err(fail(format!("{key} is yes or no, found {other:?}"))),
            };
        }
        Ok(spec)
    }

    /// The protocol's table.
    #[must_use]
    pub fn table(&self) -> Table {
        (self.entry.build)()
    }
}
