//! The house rules that no compiler checks. `cargo test` runs them.
//!
//! A rule is a pure function from a file's path and text to findings; each has a test with one text
//! that violates it and one that does not.

mod layering;
mod lines;
mod markdown;
mod modules;
mod names;
mod types;
mod words;

use std::path::Path;

use anyhow::Result;

use crate::source::{Finding, SourceFile, tracked_files};

type Rule = fn(&SourceFile) -> Vec<Finding>;

/// All rules for single files, in the order of their findings.
const RULES: &[Rule] =
    &[lines::check, names::check, words::check, markdown::check, layering::check];

/// Checks every tracked file below `root`, prints the findings, and returns whether there are none.
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
    findings.extend(types::check(files));
    findings.extend(crate::rooms::check(files));
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_repository_is_tidy() {
        let root = crate::repository_root();
        if !root.join(".git").exists() {
            return; // A source archive without history has no list of files.
        }
        let findings = check_all(&tracked_files(&root).unwrap());
        let report: Vec<String> = findings.iter().map(ToString::to_string).collect();
        assert!(report.is_empty(), "\n{}", report.join("\n"));
    }
}
