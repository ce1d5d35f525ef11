//! Detects files that no module includes, and unlisted files of a table's folder.

use std::collections::BTreeSet;

use crate::source::{Finding, SourceFile};

/// Every `crates/*/src/**/x.rs` is declared by a `mod x` in the module above it, and every file of
/// a folder with a `TABLE` is named in it.
pub fn check(files: &[SourceFile]) -> Vec<Finding> {
    let paths: BTreeSet<&str> = files.iter().map(|f| f.path.as_str()).collect();
    let mut findings = Vec::new();
    for file in files {
        if !file.path.starts_with("crates/") || !file.path.contains("/src/") {
            continue;
        }
        let Some((folder, name)) = file.path.rsplit_once('/') else { continue };
        let Some(stem) = name.strip_suffix(".rs") else { continue };
        if folder.ends_with("/src/bin") || (folder.ends_with("/src") && is_root(stem)) {
            continue;
        }
        let (parents, module) = parents_of(folder, stem);
        let declared = files
            .iter()
            .filter(|f| parents.contains(&f.path) && paths.contains(f.path.as_str()))
            .any(|f| f.text.as_deref().is_some_and(|text| declares(text, &module)));
        if !declared {
            findings.push(file.finding(0, format!("no `mod {module};` includes this file")));
        }
    }
    findings.extend(files.iter().flat_map(|file| unlisted(file, files)));
    findings
}

fn is_root(stem: &str) -> bool {
    stem == "lib" || stem == "main"
}

/// The files that may declare a module, and the module's name.
fn parents_of(folder: &str, stem: &str) -> (Vec<String>, String) {
    let (folder, module) = if stem == "mod" {
        let (above, name) = folder.rsplit_once('/').unwrap_or(("", folder));
        (above.to_owned(), name.to_owned())
    } else {
        (folder.to_owned(), stem.to_owned())
    };
    let mut parents: Vec<String> =
        ["lib.rs", "main.rs", "mod.rs"].iter().map(|name| format!("{folder}/{name}")).collect();
    parents.push(format!("{folder}.rs"));
    (parents, module)
}

fn declares(text: &str, module: &str) -> bool {
    text.lines().any(|line| {
        let line = line.trim();
        let rest = line.strip_suffix(';').and_then(|l| l.rsplit_once("mod "));
        rest.is_some_and(|(_, name)| name == module)
    })
}

/// In a folder whose mod.rs has a `TABLE`, every file with an `ENTRY` is listed there.
fn unlisted(table_file: &SourceFile, files: &[SourceFile]) -> Vec<Finding> {
    let Some(text) = &table_file.text else { return Vec::new() };
    let Some(folder) = table_file.path.strip_suffix("/mod.rs") else { return Vec::new() };
    if !text.contains("const TABLE") {
        return Vec::new();
    }
    let mut findings = Vec::new();
    for file in files {
        let Some(stem) = file
            .path
            .strip_prefix(folder)
            .and_then(|p| p.strip_prefix('/'))
            .and_then(|p| p.strip_suffix(".rs"))
        else {
            continue;
        };
        let has_entry = file.text.as_deref().is_some_and(|t| t.contains("pub const ENTRY"));
        if has_entry && !text.contains(&format!("{stem}::ENTRY")) {
            findings.push(file.finding(0, "its ENTRY is missing from the TABLE in mod.rs"));
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::file;

    #[test]
    fn finds_a_file_without_a_mod_declaration() {
        let files = [
            file("crates/a/src/lib.rs", "mod used;\n"),
            file("crates/a/src/used.rs", ""),
            file("crates/a/src/dead.rs", ""),
        ];
        assert_eq!(check(&files).len(), 1);
    }

    #[test]
    fn finds_an_entry_that_is_not_in_its_table() {
        let files = [
            file("crates/a/src/lib.rs", "pub mod policy;\n"),
            file(
                "crates/a/src/policy/mod.rs",
                "mod ace;\nmod delay;\npub const TABLE: &[Entry] = &[ace::ENTRY];\n",
            ),
            file("crates/a/src/policy/ace.rs", "pub const ENTRY: Entry = Entry {};\n"),
            file("crates/a/src/policy/delay.rs", "pub const ENTRY: Entry = Entry {};\n"),
        ];
        let findings = check(&files);
        assert_eq!(findings.len(), 1);
        assert_eq!(findings[0].path, "crates/a/src/policy/delay.rs");
    }
}
