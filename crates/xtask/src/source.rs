//! The files of the repository, and findings in them.

use std::fmt;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result};

/// One violated rule at one place.
#[derive(Debug, PartialEq, Eq)]
pub struct Finding {
    /// Path relative to the repository's root.
    pub path: String,
    /// Line counted from 1, or 0 for the file as a whole.
    pub line: usize,
    /// The problem and its remedy.
    pub message: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.path, self.line, self.message)
    }
}

/// A tracked file with its text, if it is UTF-8.
pub struct SourceFile {
    /// Path relative to the repository's root, with `/`.
    pub path: String,
    /// Size in bytes.
    pub size_bytes: u64,
    /// The text, or `None` for a binary file.
    pub text: Option<String>,
}

impl SourceFile {
    /// A finding in this file.
    pub fn finding(&self, line: usize, message: impl Into<String>) -> Finding {
        Finding { path: self.path.clone(), line, message: message.into() }
    }

    /// Whether the path ends in one of these extensions.
    pub fn has_extension(&self, extensions: &[&str]) -> bool {
        Path::new(&self.path)
            .extension()
            .and_then(|e| e.to_str())
            .is_some_and(|e| extensions.contains(&e))
    }
}

/// Files that git tracks or would track, so that a new file is checked before its first commit.
pub fn tracked_files(root: &Path) -> Result<Vec<SourceFile>> {
    let output = Command::new("git")
        .args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"])
        .current_dir(root)
        .output()
        .context("running git ls-files; tidy needs git")?;
    let listing = String::from_utf8(output.stdout).context("git printed a path not in UTF-8")?;
    let mut files = Vec::new();
    for path in listing.split('\0').filter(|p| !p.is_empty()) {
        let full = root.join(path);
        if !full.is_file() {
            continue;
        }
        let bytes = std::fs::read(&full).with_context(|| format!("reading {path}"))?;
        files.push(SourceFile {
            path: path.to_owned(),
            size_bytes: bytes.len() as u64,
            text: String::from_utf8(bytes).ok(),
        });
    }
    files.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(files)
}

#[cfg(test)]
pub(crate) fn file(path: &str, text: &str) -> SourceFile {
    SourceFile { path: path.to_owned(), size_bytes: text.len() as u64, text: Some(text.to_owned()) }
}
