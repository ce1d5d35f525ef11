//! Errors of traces, with their location.

use std::io;
use std::path::{Path, PathBuf};

/// A trace could not be read, written or imported.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TraceError {
    /// The operating system refused.
    #[error("{}: cannot {action}: {source}{}", path.display(), remedy(source.kind()))]
    Io {
        /// File.
        path: PathBuf,
        /// The failed operation, after `cannot`.
        action: &'static str,
        /// Error of the operating system.
        source: io::Error,
    },
    /// The disk is full, or a quota is exhausted.
    #[error(
        "{}: no space left{}; make room and start again{}",
        path.display(),
        if *written > 0 { format!(" after {written} bytes") } else { String::new() },
        if *kept { "; `homenode repair` rescues the complete chunks of this file" } else { "" }
    )]
    NoSpace {
        /// File.
        path: PathBuf,
        /// Bytes written before, 0 if unknown.
        written: u64,
        /// Whether the incomplete file is kept for a repair.
        kept: bool,
    },
    /// There is no trace with this name.
    #[error(
        "{}: there is no such file; check the name, or make the trace: `homenode record` runs a \
         program, `homenode import` reads other formats",
        path.display()
    )]
    Missing {
        /// The trace.
        path: PathBuf,
    },
    /// Another command is writing a trace with this name.
    #[error(
        "{}: another command is writing this trace; wait until it is done, or name another file",
        path.display()
    )]
    Busy {
        /// The trace.
        path: PathBuf,
    },
    /// The temporary name of the trace exists already, mostly left by a killed command.
    #[error(
        "{}: {} exists, perhaps left by a command that was killed; rescue its contents with \
         `homenode repair`, then remove it, or name another file",
        path.display(), partial.display()
    )]
    Abandoned {
        /// The trace.
        path: PathBuf,
        /// The existing file.
        partial: PathBuf,
    },
    /// The file has no bytes.
    #[error("{}: the file is empty; expected a homenode trace (.hnt)", path.display())]
    Empty {
        /// File.
        path: PathBuf,
    },
    /// The file is not a trace.
    #[error(
        "{}: not a homenode trace: at byte 0 expected the magic number 89 48 4e 54 0d 0a 1a 0a, \
         found {found}; `homenode import` reads other formats",
        path.display()
    )]
    Foreign {
        /// File.
        path: PathBuf,
        /// Its first bytes.
        found: String,
    },
    /// The file was written by a later homenode.
    #[error(
        "{}: at byte 8 the trace has format version {found}, newest known here is {newest}; \
         install a newer homenode to read it",
        path.display()
    )]
    FutureVersion {
        /// File.
        path: PathBuf,
        /// Version of the file.
        found: u16,
        /// Newest version this program reads.
        newest: u16,
    },
    /// The file ends too early: its writer was killed, or a copy was cut short.
    #[error(
        "{}: incomplete trace: at byte {offset} expected {expected}, found {found}; \
         `homenode repair` keeps the complete chunks",
        path.display()
    )]
    Truncated {
        /// File.
        path: PathBuf,
        /// Where the missing part should be.
        offset: u64,
        /// What should be there.
        expected: String,
        /// What is there.
        found: String,
    },
    /// The file has contents that no writer produces.
    #[error(
        "{}: damaged trace: at byte {offset} expected {expected}, found {found}; \
         `homenode repair` keeps the undamaged chunks",
        path.display()
    )]
    Damaged {
        /// File.
        path: PathBuf,
        /// Where.
        offset: u64,
        /// What should be there.
        expected: String,
        /// What is there.
        found: String,
    },
    /// A file to import has an invalid line.
    #[error("{}:{line}: column {column}: expected {expected}, found {found}", path.display())]
    Line {
        /// File.
        path: PathBuf,
        /// Line, counted from 1.
        line: u64,
        /// Column, counted from 1 in bytes.
        column: u64,
        /// What should be there.
        expected: String,
        /// What is there.
        found: String,
    },
    /// A binary file to import has an invalid record.
    #[error("{}: at byte {offset} expected {expected}, found {found}", path.display())]
    ForeignRecord {
        /// File.
        path: PathBuf,
        /// Where, counted from 0.
        offset: u64,
        /// What should be there.
        expected: String,
        /// What is there.
        found: String,
    },
    /// The writer was given an invalid reference or event.
    #[error("{}: record {record}: expected {expected}, found {found}", path.display())]
    Record {
        /// File that is being written.
        path: PathBuf,
        /// Number of the reference or event, counted from 0.
        record: u64,
        /// The valid values.
        expected: String,
        /// The given value.
        found: String,
    },
    /// An unknown format name.
    #[error("unknown format {name:?}; known: {known}")]
    UnknownFormat {
        /// The name.
        name: String,
        /// The known names.
        known: String,
    },
    /// The user interrupted.
    #[error("{}: interrupted; nothing was written", path.display())]
    Cancelled {
        /// File that was being worked on.
        path: PathBuf,
    },
}

fn remedy(kind: io::ErrorKind) -> &'static str {
    let remedies = [
        (io::ErrorKind::NotFound, "; check the name and that the folder exists"),
        (io::ErrorKind::PermissionDenied, "; choose a place that you may read and write"),
        (io::ErrorKind::ReadOnlyFilesystem, "; choose a place that you may read and write"),
        (io::ErrorKind::IsADirectory, "; name a file, not a folder"),
        (io::ErrorKind::NotADirectory, "; check the folder part of the name"),
    ];
    remedies.into_iter().find(|&(of, _)| of == kind).map_or("", |(_, remedy)| remedy)
}

impl TraceError {
    /// File of the error, if it has one.
    #[must_use]
    pub fn path(&self) -> Option<&Path> {
        match self {
            Self::Io { path, .. }
            | Self::NoSpace { path, .. }
            | Self::Missing { path }
            | Self::Busy { path }
            | Self::Abandoned { path, .. }
            | Self::Empty { path }
            | Self::Foreign { path, .. }
            | Self::FutureVersion { path, .. }
            | Self::Truncated { path, .. }
            | Self::Damaged { path, .. }
            | Self::Line { path, .. }
            | Self::ForeignRecord { path, .. }
            | Self::Record { path, .. }
            | Self::Cancelled { path } => Some(path),
            Self::UnknownFormat { .. } => None,
        }
    }

    /// Byte offset in the file, if the error has one.
    #[must_use]
    pub fn offset(&self) -> Option<u64> {
        match self {
            Self::Truncated { offset, .. }
            | Self::Damaged { offset, .. }
            | Self::ForeignRecord { offset, .. } => Some(*offset),
            Self::NoSpace { written, .. } => Some(*written),
            Self::Foreign { .. } | Self::Empty { .. } => Some(0),
            Self::FutureVersion { .. } => Some(8),
            Self::Io { .. }
            | Self::Missing { .. }
            | Self::Busy { .. }
            | Self::Abandoned { .. }
            | Self::Line { .. }
            | Self::Record { .. }
            | Self::UnknownFormat { .. }
            | Self::Cancelled { .. } => None,
        }
    }

    /// Line number counted from 1, if the error is about a text file.
    #[must_use]
    pub fn line(&self) -> Option<u64> {
        if let Self::Line { line, .. } = self { Some(*line) } else { None }
    }

    /// An error of the operating system on `path`; `action` follows `cannot`.
    #[must_use]
    pub fn io(path: &Path, action: &'static str, source: io::Error) -> Self {
        Self::Io { path: path.to_owned(), action, source }
    }

    /// An error of the operating system after `written` bytes, with a variant of its own for a full
    /// disk; `kept` if a repair can use the incomplete file.
    #[must_use]
    pub fn write(path: &Path, written: u64, kept: bool, source: io::Error) -> Self {
        let full = [io::ErrorKind::StorageFull, io::ErrorKind::QuotaExceeded];
        if full.contains(&source.kind()) {
            Self::NoSpace { path: path.to_owned(), written, kept }
        } else {
            Self::io(path, "write", source)
        }
    }
}
