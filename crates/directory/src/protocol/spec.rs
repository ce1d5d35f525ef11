//! Protocols as users write them: `dash`, `dash:pointers=4`.

use homenode_protocol::{ListedProtocol, ProtocolError, ProtocolParameter, ProtocolSetting};

use super::{CoherenceTable, Entry, TABLE};

/// A protocol with its parameters.
#[derive(Clone, Debug)]
pub struct DirectoryProtocol {
    /// As the user wrote it.
    pub text: String,
    /// The protocol.
    pub entry: &'static Entry,
    /// Most nodes that the directory lists for a block; beyond that, a write invalidates all nodes.
    pub pointers: Option<u64>,
}

impl DirectoryProtocol {
    /// Reads a protocol.
    ///
    /// # Errors
    /// When a name, a parameter or its value is unknown.
    ///
    /// ```
    /// use homenode_directory::DirectoryProtocol;
    /// assert_eq!(DirectoryProtocol::parse("dash:pointers=4")?.pointers, Some(4));
    /// assert!(DirectoryProtocol::parse("dash:pointers=0").is_err());
    /// # Ok::<(), homenode_directory::ProtocolError>(())
    /// ```
    pub fn parse(text: &str) -> Result<Self, ProtocolError> {
        let setting = ProtocolSetting::parse(text, TABLE)?;
        let pointers = setting.value("pointers");
        Ok(Self { text: text.to_owned(), entry: setting.protocol, pointers })
    }

    /// The protocol's table.
    #[must_use]
    pub fn table(&self) -> CoherenceTable {
        (self.entry.build)()
    }
}

impl ListedProtocol for Entry {
    fn listing(&self) -> (&'static str, &'static [ProtocolParameter]) {
        (self.name, self.params)
    }
}
