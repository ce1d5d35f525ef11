//! Recompresses a trace with more effort: the same references, events and metadata in fewer bytes.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::bytes::DecodeFault;
use crate::error::TraceError;
use crate::model::{Batch, Want};
use crate::partial::{create_partial, is_being_written};
use crate::progress::TraceProgress;
use crate::reader::{TraceReader, damage_at_start};
use crate::writer::{Summary, TraceWriter, WriterOptions};

/// Default level of zstd. Higher ones take many times as long and save a few percent.
pub const COMPACT_LEVEL: i32 = 12;

/// The result of [`compact`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CompactReport {
    /// Path of the trace.
    pub path: PathBuf,
    /// References and fetches.
    pub rows: u64,
    /// Data references.
    pub references: u64,
    /// Events.
    pub events: u64,
    /// Size of the file before, in bytes.
    pub bytes_before: u64,
    /// Size of the file now, in bytes.
    pub bytes: u64,
    /// Whether the file was written. In place, a trace that would not become smaller is left
    /// unchanged.
    pub written: bool,
    /// Content checksum in hexadecimal, which does not change.
    pub checksum: String,
}

/// Rewrites the trace at `path` with this level of zstd (1 to 22), to `out` or in place.
///
/// The new trace has a temporary name until it is complete, on disk, and verified against the
/// checksum of the old one; then it is renamed. So there is always one complete trace. A trace
/// compacted in place keeps its permissions, and is left unchanged if it would not become smaller.
///
/// Cost: decoding and encoding of all references; memory for one chunk of each trace.
///
/// # Errors
/// When the trace cannot be read or is damaged, the new one cannot be written, or `progress` (in
/// rows) cancels.
pub fn compact(
    path: &Path,
    out: Option<&Path>,
    level: i32,
    progress: &mut TraceProgress<'_>,
) -> Result<CompactReport, TraceError> {
    let trace = TraceReader::open(path)?;
    // For a symbolic link, its target is replaced.
    let resolved = std::fs::canonicalize(path).map_err(|e| TraceError::io(path, "find", e))?;
    let target = out.unwrap_or(&resolved);
    if std::fs::metadata(target).is_ok_and(|there| !there.is_file()) {
        let e = io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file");
        return Err(TraceError::io(target, "create a trace with this name", e));
    }
    let partial = compacting_path(target);
    if partial.symlink_metadata().is_ok_and(|left| left.is_file()) && !is_being_written(&partial) {
        // Left by a killed command. Unlike a recording, it can be made again.
        std::fs::remove_file(&partial).map_err(|e| {
            TraceError::io(&partial, "remove the file that an earlier command left", e)
        })?;
    }
    let file = create_partial(&partial, target)?;
    let done = write_again(&trace, &file, target, level, progress).and_then(|summary| {
        let smaller = out.is_some() || summary.bytes < trace.bytes();
        if smaller {
            move_into_place(&file, &partial, target, out.is_none().then_some(&resolved))?;
        }
        Ok((summary, smaller))
    });
    if !done.as_ref().is_ok_and(|(_, written)| *written) {
        // The error that led here matters more than an error of the removal.
        let _ = std::fs::remove_file(&partial);
    }
    let (summary, written) = done?;
    Ok(CompactReport {
        path: out.unwrap_or(path).to_owned(),
        rows: summary.rows,
        references: summary.references,
        events: summary.events,
        bytes_before: trace.bytes(),
        bytes: if written { summary.bytes } else { trace.bytes() },
        written,
        checksum: summary.checksum,
    })
}

fn compacting_path(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".compacting");
    PathBuf::from(name)
}

fn write_again(
    trace: &TraceReader,
    file: &File,
    name: &Path,
    level: i32,
    progress: &mut TraceProgress<'_>,
) -> Result<Summary, TraceError> {
    let options = WriterOptions { columns: trace.columns(), chunk_rows: trace.chunk_rows(), level };
    let mut writer = TraceWriter::new(file, name, options)?;
    let mut batch = Batch::default();
    let mut rows = 0;
    for index in 0..trace.chunks().len() {
        trace.read_chunk(index, Want::ALL, &mut batch)?;
        writer.push_batch(&batch)?;
        rows += batch.len() as u64;
        if progress(rows, Some(trace.rows())).is_break() {
            return Err(TraceError::Cancelled { path: trace.path().to_owned() });
        }
    }
    let summary = writer.finish(trace.metadata().clone())?;
    if summary.checksum == trace.checksum() {
        return Ok(summary);
    }
    let expected = format!("content with checksum {}", trace.checksum());
    Err(damage_at_start(trace, DecodeFault::new(0, expected, summary.checksum)))
}

/// Renames the complete file once it is on disk, with the permissions of `like`.
fn move_into_place(
    file: &File,
    partial: &Path,
    target: &Path,
    like: Option<&PathBuf>,
) -> Result<(), TraceError> {
    let write = |e| TraceError::write(target, 0, false, e);
    if let Some(like) = like {
        let permissions = std::fs::metadata(like).map_err(write)?.permissions();
        file.set_permissions(permissions).map_err(write)?;
    }
    file.sync_all().map_err(write)?;
    std::fs::rename(partial, target)
        .map_err(|e| TraceError::io(target, "rename the complete trace to this name", e))
}
