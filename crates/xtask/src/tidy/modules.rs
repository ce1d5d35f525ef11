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

/// Folders whose entries have the names of a publication.
const PUBLISHED_NAMES: &[&str] = &["crates/analysis/src/synthetic"];

/// In a folder whose mod.rs has a `TABLE`, every file with an `ENTRY` is listed there, and has the
/// name of its entry.
fn unlisted(table_file: &SourceFile, files: &[SourceFile]) -> Vec<Finding> {
    let Some(text) = &table_file.text else { return Vec::new() };
    let Some(folder) = table_file.path.strip_suffix("/mod.rs") else { return Vec::new() };
    if !text.contains("const TABLE") {
        return Vec::new();
    }
    let mut findings = Vec::new();
    for file in files {
        let path = file.path.strip_prefix(folder).and_then(|path| path.strip_prefix('/'));
        let Some(stem) = path.and_then(|path| path.strip_suffix(".rs")) else { continue };
        let text_of = file.text.as_deref().unwrap_or_default();
        let Some((_, entry)) = text_of.split_once("const ENTRY: Entry") else { continue };
        if !text.contains(&format!("{stem}::ENTRY")) {
            findings.push(file.finding(0, "its ENTRY is missing from the TABLE in mod.rs"));
        }
        let name = entry
            .split_once("name: ")
            .and_then(|(_, rest)| rest.strip_prefix('"')?.split('"').next());
        // The name of a module cannot begin with a digit.
        let named = name
            .is_none_or(|name| [name, &format!("m{name}")].map(module).contains(&stem.to_owned()));
        if !named && !PUBLISHED_NAMES.contains(&folder) {
            findings.push(file.finding(0, "it has another name than its ENTRY"));
        }
    }
    findings
}

/// The module of an entry with this name.
fn module(name: &str) -> String {
    name.replace(['-', '.'], "_")
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
            file(
                "crates/a/src/policy/ace.rs",
                "pub const ENTRY: Entry = Entry { name: \"ice\" };\n",
            ),
            file("crates/a/src/policy/delay.rs", "pub const ENTRY: Entry = Entry {};\n"),
        ];
        let places: Vec<_> = check(&files).into_iter().map(|found| found.path).collect();
        assert_eq!(places, ["crates/a/src/policy/ace.rs", "crates/a/src/policy/delay.rs"]);
    }
}
