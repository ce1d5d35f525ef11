//! Dependencies between our crates point one way (ARCHITECTURE.md).

use crate::source::{Finding, SourceFile};

/// For each crate, its permitted dependencies on other crates of the workspace.
const ALLOWED: &[(&str, &[&str])] = &[
    ("base", &[]),
    ("trace", &["base"]),
    ("transform", &["base", "trace"]),
    ("interchange", &["base", "trace"]),
    ("machine", &["base"]),
    ("placement", &["base", "trace", "machine"]),
    ("optimal", &["base", "trace", "machine", "placement"]),
    ("analysis", &["base", "trace", "machine", "placement"]),
    ("advise", &["base", "trace", "placement", "analysis"]),
    ("servers", &["base", "trace"]),
    ("tlb", &["base", "trace"]),
    ("pmap", &["base", "placement"]),
    ("cache", &["base", "trace", "machine"]),
    ("protocol", &[]),
    ("clock", &["base", "trace", "machine"]),
    ("snoop", &["base", "trace", "machine", "cache", "clock", "protocol"]),
    ("multicore", &["base", "trace", "machine", "cache", "clock", "snoop"]),
    ("directory", &["base", "trace", "machine", "cache", "clock", "protocol"]),
    (
        "sim",
        &[
            "base",
            "trace",
            "transform",
            "machine",
            "placement",
            "optimal",
            "analysis",
            "advise",
            "tlb",
            "pmap",
            "clock",
            "protocol",
            "snoop",
            "multicore",
            "directory",
        ],
    ),
    ("symbol", &[]),
    ("assembly", &[]),
    ("capture", &["base", "trace", "symbol"]),
    (
        "python",
        &[
            "base",
            "trace",
            "transform",
            "interchange",
            "machine",
            "placement",
            "sim",
            "analysis",
            "servers",
            "assembly",
            "capture",
        ],
    ),
    ("xtask", &[]),
];

/// `crates/<name>/Cargo.toml` names only crates that its layer may use.
pub fn check(file: &SourceFile) -> Vec<Finding> {
    let Some(name) = file.path.strip_prefix("crates/").and_then(|p| p.strip_suffix("/Cargo.toml"))
    else {
        return Vec::new();
    };
    let Some((_, allowed)) = ALLOWED.iter().find(|(crate_name, _)| *crate_name == name) else {
        return vec![
            file.finding(0, "this crate is not listed in crates/xtask/src/tidy/layering.rs"),
        ];
    };
    let text = file.text.as_deref().unwrap_or_default();
    let mut findings = Vec::new();
    let mut section = "";
    for (index, line) in text.lines().enumerate() {
        if line.starts_with('[') {
            section = line;
        }
        let Some(dependency) = line.strip_prefix("homenode-") else { continue };
        let dependency = dependency.split(['.', ' ', '=']).next().unwrap_or_default();
        if section == "[dependencies]" && !allowed.contains(&dependency) {
            let message = format!("`{name}` must not depend on `{dependency}`");
            findings.push(file.finding(index + 1, message));
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::file;

    #[test]
    fn finds_a_dependency_against_the_layers() {
        let text = "[dependencies]\nhomenode-sim.workspace = true\n";
        assert_eq!(check(&file("crates/trace/Cargo.toml", text)).len(), 1);
        assert_eq!(check(&file("crates/python/Cargo.toml", text)), []);
        assert_eq!(check(&file("crates/unknown/Cargo.toml", text)).len(), 1);
    }

    #[test]
    fn tests_may_use_any_crate() {
        let text = "[dev-dependencies]\nhomenode-sim.workspace = true\n";
        assert_eq!(check(&file("crates/trace/Cargo.toml", text)), []);
    }
}
