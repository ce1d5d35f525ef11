//! The house rules that no compiler checks. `cargo test` runs them, so they cannot rot.
//!
//! A rule is a pure function from a file's path and text to findings; each has a test with one text
//! that breaks it and one that does not.

mod layering;
mod lines;
mod markdown;
mod modules;
mod names;
mod rust_functions;
mod words;

use std::fmt;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result};

/// One broken rule at one place.
#[derive(Debug, PartialEq, Eq)]
pub struct Finding {
    /// Path relative to the repository's root.
    pub path: String,
    /// Line counted from 1, or 0 for the file as a whole.
    pub line: usize,
    /// What is wrong and what to do.
    pub message: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.path, self.line, self.message)
    }
}

/// A tracked file with its text; `None` where it is not UTF-8.
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

/// A rule over one file.
type Rule = fn(&SourceFile) -> Vec<Finding>;

/// Every rule over single files, in the order of their findings.
const RULES: &[Rule] = &[
    lines::check,
    names::check,
    words::check,
    markdown::check,
    rust_functions::check,
    layering::check,
];

/// Checks every tracked file below `root`, prints what is wrong, and says whether all is well.
pub fn run(root: &Path) -> Result<bool> {
    let files = tracked_files(root)?;
    let findings = check_all(&files);
    for finding in &findings {
        println!("{finding}");
    }
    println!("tidy: {} files, {} findings", files.len(), findings.len());
    Ok(findings.is_empty())
}

fn check_all(files: &[SourceFile]) -> Vec<Finding> {
    let mut findings: Vec<Finding> =
        files.iter().flat_map(|file| RULES.iter().flat_map(|rule| rule(file))).collect();
    findings.extend(modules::check(files));
    findings
}

/// Files git tracks or would track, so that a new file is checked before its first commit.
fn tracked_files(root: &Path) -> Result<Vec<SourceFile>> {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_repository_is_tidy() {
        let root = crate::repository_root();
        if !root.join(".git").exists() {
            return; // A source archive without history: nothing lists the files.
        }
        let findings = check_all(&tracked_files(&root).unwrap());
        let report: Vec<String> = findings.iter().map(ToString::to_string).collect();
        assert!(report.is_empty(), "\n{}", report.join("\n"));
    }
}
