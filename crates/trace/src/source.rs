//! The bytes of a trace: memory, or a file that any thread reads at any offset.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use crate::error::TraceError;

#[derive(Debug)]
pub(crate) struct ByteSource {
    bytes: Bytes,
    length: u64,
    path: PathBuf,
}

#[derive(Debug)]
enum Bytes {
    File(File),
    Memory(Vec<u8>),
}

impl ByteSource {
    pub(crate) fn open(path: &Path) -> Result<Self, TraceError> {
        let open = |e: io::Error| {
            if e.kind() == io::ErrorKind::NotFound {
                return TraceError::Missing { path: path.to_owned() };
            }
            TraceError::io(path, "open the file", e)
        };
        // Checked before opening, as opening a pipe blocks until it has a writer.
        if !std::fs::metadata(path).map_err(open)?.is_file() {
            let error = io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file");
            return Err(TraceError::io(path, "read the trace", error));
        }
        Self::opened(File::open(path).map_err(open)?, path)
    }

    pub(crate) fn opened(file: File, path: &Path) -> Result<Self, TraceError> {
        let meta = file.metadata().map_err(|e| TraceError::io(path, "examine the file", e))?;
        Ok(Self { bytes: Bytes::File(file), length: meta.len(), path: path.to_owned() })
    }

    pub(crate) fn memory(bytes: Vec<u8>, name: &Path) -> Self {
        let length = bytes.len() as u64;
        Self { bytes: Bytes::Memory(bytes), length, path: name.to_owned() }
    }

    pub(crate) const fn length(&self) -> u64 {
        self.length
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Appends `count` bytes from `offset` to `out`; allocates nothing beyond the file's end.
    pub(crate) fn read(
        &self,
        offset: u64,
        count: usize,
        out: &mut Vec<u8>,
    ) -> Result<(), TraceError> {
        let end = offset.checked_add(count as u64);
        if end.is_none_or(|end| end > self.length) {
            return Err(TraceError::Truncated {
                path: self.path.clone(),
                offset: self.length,
                expected: format!("{count} bytes from byte {offset}"),
                found: format!("the end of the file after {} bytes", self.length),
            });
        }
        let start = out.len();
        out.resize(start + count, 0);
        let result = match &self.bytes {
            Bytes::File(file) => file.read_exact_at(&mut out[start..], offset),
            Bytes::Memory(bytes) => {
                let from = usize::try_from(offset).unwrap_or(usize::MAX);
                out[start..].copy_from_slice(&bytes[from..from + count]);
                Ok(())
            }
        };
        result.map_err(|e| {
            if e.kind() != io::ErrorKind::UnexpectedEof {
                return TraceError::io(&self.path, "read", e);
            }
            TraceError::Truncated {
                path: self.path.clone(),
                offset,
                expected: format!("{count} bytes, as when the file was opened"),
                found: "a file that has become shorter".to_owned(),
            }
        })
    }

    pub(crate) fn array<const N: usize>(&self, offset: u64) -> Result<[u8; N], TraceError> {
        let mut out = Vec::with_capacity(N);
        self.read(offset, N, &mut out)?;
        let mut array = [0; N];
        array.copy_from_slice(&out);
        Ok(array)
    }
}
