//! The temporary file of an incomplete trace.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use crate::error::TraceError;

/// The temporary name of an incomplete trace: `PATH.partial`.
#[must_use]
pub fn partial_path(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".partial");
    PathBuf::from(name)
}

/// Creates a file and locks it while it is open. By the lock another writer distinguishes a trace
/// that is being written from one whose writer was killed, which may be repaired. Neither is
/// overwritten, and a link with this name is not followed.
pub(crate) fn create_partial(partial: &Path, path: &Path) -> Result<File, TraceError> {
    match OpenOptions::new().write(true).create_new(true).open(partial) {
        Ok(file) => {
            // On file systems without locks only the name protects the file.
            let _ = file.try_lock();
            Ok(file)
        }
        Err(e) if e.kind() == ErrorKind::AlreadyExists => Err(if is_being_written(partial) {
            TraceError::Busy { path: path.to_owned() }
        } else {
            TraceError::Abandoned { path: path.to_owned(), partial: partial.to_owned() }
        }),
        Err(e) => Err(TraceError::io(partial, "create the file", e)),
    }
}

/// Whether the file is locked by a writer. Only regular files are opened, as opening a pipe would
/// block.
pub(crate) fn is_being_written(partial: &Path) -> bool {
    let is_file = std::fs::symlink_metadata(partial).is_ok_and(|there| there.is_file());
    let Some(file) = is_file.then(|| File::open(partial)).and_then(Result::ok) else {
        return false;
    };
    matches!(file.try_lock(), Err(TryLockError::WouldBlock))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_existing_file_is_not_overwritten() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("t.hnt");
        let partial = partial_path(&path);
        let first = create_partial(&partial, &path).unwrap();
        let busy = create_partial(&partial, &path).unwrap_err();
        assert!(matches!(busy, TraceError::Busy { .. }), "{busy}");
        drop(first);
        std::fs::write(&partial, "rescue").unwrap();
        let abandoned = create_partial(&partial, &path).unwrap_err();
        assert!(matches!(abandoned, TraceError::Abandoned { .. }), "{abandoned}");
        assert_eq!(std::fs::read(&partial).unwrap(), b"rescue");
    }

    #[cfg(unix)]
    #[test]
    fn a_symbolic_link_is_not_followed() {
        let dir = tempfile::tempdir().unwrap();
        let (path, victim) = (dir.path().join("t.hnt"), dir.path().join("victim"));
        std::fs::write(&victim, "keep").unwrap();
        std::os::unix::fs::symlink(&victim, partial_path(&path)).unwrap();
        let error = create_partial(&partial_path(&path), &path).unwrap_err();
        assert!(matches!(error, TraceError::Abandoned { .. }), "{error}");
        assert_eq!(std::fs::read(&victim).unwrap(), b"keep");
    }
}
