//! Errors of object files.

use std::path::PathBuf;

/// Why a file gives no symbols.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SymbolError {
    /// The file could not be read.
    #[error("{}: cannot be read: {source}; check the path and its permissions", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The error of the operating system.
        source: std::io::Error,
    },
    /// The file was read and is not usable.
    #[error("{}: {source}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The problem with its contents.
        source: Box<SymbolError>,
    },
    /// Fewer bytes than the structure at this place needs.
    #[error("at offset {offset}: {what} needs {needed} bytes, found {found}; the file is cut off")]
    Truncated {
        /// Where the structure begins.
        offset: u64,
        /// The structure.
        what: &'static str,
        /// Bytes it needs.
        needed: u64,
        /// Bytes that are there.
        found: u64,
    },
    /// The file is of another kind.
    #[error("at offset {offset}: expected {expected}, found {found}; give a linked ELF program")]
    NotAProgram {
        /// Offset of the kind.
        offset: u64,
        /// The kind that can be read.
        expected: &'static str,
        /// The kind that was found.
        found: String,
    },
    /// A part of the file contradicts itself.
    #[error("at offset {offset}: {part}: {reason}; build the program again with `-g`")]
    Malformed {
        /// Where the part begins.
        offset: u64,
        /// The part, such as a section's name.
        part: String,
        /// The problem.
        reason: String,
    },
    /// A part claims to be larger than a file of this size can justify.
    #[error("at offset {offset}: {part} claims {claimed} bytes, at most {limit} are plausible")]
    TooLarge {
        /// Where the part begins.
        offset: u64,
        /// The part, such as a section's name.
        part: String,
        /// Bytes claimed.
        claimed: u64,
        /// Bytes accepted.
        limit: u64,
    },
    /// A file with debug information does not belong to the program.
    #[error(
        "debug information of another build: {what} {found}, the program's is {expected}; install \
         the debug package of the installed version"
    )]
    OtherBuild {
        /// What identifies a build: build identifier or checksum.
        what: &'static str,
        /// Its value in the program.
        expected: String,
        /// Its value in the file.
        found: String,
    },
}
