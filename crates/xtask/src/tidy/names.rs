//! Names of files and folders, and files that may not be in the tree.

use crate::source::{Finding, SourceFile};

/// Names without meaning, which attract unrelated code.
const EMPTY_NAMES: &[&str] =
    &["util", "utils", "common", "helper", "helpers", "misc", "priv", "unsupported"];
const STALE_SUFFIXES: &[&str] = &["_v0", "_old", "_new", "_backup"];
const PLANS: &[&str] = &["TODO.md", "ROADMAP.md", "PLAN.md"];
const SIZE_MAX: u64 = 1 << 20;

/// No grab-bag names, no leftovers, no large or misplaced binary files.
pub fn check(file: &SourceFile) -> Vec<Finding> {
    let mut findings = Vec::new();
    let parts: Vec<&str> = file.path.split('/').collect();
    for part in &parts {
        let stem = part.split('.').next().unwrap_or(part);
        if EMPTY_NAMES.contains(&stem) {
            findings.push(file.finding(0, format!("`{part}` does not say what lives there")));
        }
        if STALE_SUFFIXES.iter().any(|suffix| stem.ends_with(suffix)) {
            findings.push(file.finding(0, format!("`{part}` looks like a leftover copy")));
        }
    }
    if parts.last().is_some_and(|name| PLANS.contains(name)) {
        findings.push(file.finding(0, "plans belong in the issue tracker"));
    }
    if file.size_bytes > SIZE_MAX {
        findings.push(file.finding(0, format!("{} bytes; 1 MiB at most", file.size_bytes)));
    }
    let binary_allowed = file.path.starts_with("testdata/")
        || file.path.starts_with("fuzz/seeds/")
        || (file.path.starts_with("reproduction/") && file.has_extension(&["hnt"]))
        || file.has_extension(&["png"]);
    if file.text.is_none() && !binary_allowed {
        findings.push(file.finding(0, "binary files belong in testdata/"));
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::file;

    #[test]
    fn finds_grab_bags_leftovers_plans_and_binaries() {
        assert_eq!(check(&file("crates/a/src/utils.rs", "")).len(), 1);
        assert_eq!(check(&file("crates/helpers/a.rs", "")).len(), 1);
        assert_eq!(check(&file("a/policy_old.rs", "")).len(), 1);
        assert_eq!(check(&file("ROADMAP.md", "")).len(), 1);
        let binary = |path: &str| SourceFile { path: path.into(), size_bytes: 4, text: None };
        assert_eq!(check(&binary("crates/a.bin")).len(), 1);
        assert_eq!(check(&binary("testdata/formats/v1.hnt")), []);
        let large = SourceFile { path: "a.csv".into(), size_bytes: 1 << 21, text: None };
        assert_eq!(check(&large).len(), 2);
    }
}
