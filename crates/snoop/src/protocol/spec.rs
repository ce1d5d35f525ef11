//! Protocols as users write them: `mesi`, `pscr:private_kernel=yes`.

use homenode_protocol::{ListedProtocol, ProtocolError, ProtocolParameter, ProtocolSetting};

use super::{Entry, TABLE};
use crate::table::ProtocolTable;

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
        let setting = ProtocolSetting::parse(text, TABLE)?;
        let private_kernel = setting.is_on("private_kernel");
        Ok(Self { text: text.to_owned(), entry: setting.protocol, private_kernel })
    }

    /// The protocol's table.
    #[must_use]
    pub fn table(&self) -> ProtocolTable {
        (self.entry.build)()
    }
}

impl ListedProtocol for Entry {
    fn listing(&self) -> (&'static str, &'static [ProtocolParameter]) {
        (self.name, self.params)
    }
}
