//! Crates from their manifests, and the modules of a crate from their paths.

use std::collections::{BTreeMap, BTreeSet};

use super::graph::Graph;
use crate::source::SourceFile;

/// All crates, and their dependencies on each other, except those of tests only.
pub fn crates(files: &[SourceFile]) -> Graph {
    let (mut rooms, mut uses) = (BTreeSet::new(), BTreeSet::new());
    for file in files {
        let path = file.path.strip_prefix("crates/").and_then(|p| p.strip_suffix("/Cargo.toml"));
        let (Some(name), Some(text)) = (path, &file.text) else { continue };
        rooms.insert(name.to_owned());
        let manifest: toml::Table = text.parse().unwrap_or_default();
        let dependencies = manifest.get("dependencies").and_then(toml::Value::as_table);
        for used in dependencies.into_iter().flat_map(toml::Table::keys) {
            if let Some(used) = used.strip_prefix("homenode-") {
                uses.insert((name.to_owned(), used.to_owned()));
            }
        }
    }
    Graph::new(rooms, &uses)
}

/// The modules directly in a crate's `src`, and their uses of each other; and the folders among
/// them.
pub fn modules(files: &[SourceFile], name: &str) -> (Graph, Vec<String>) {
    let prefix = format!("crates/{name}/src/");
    let own: Vec<(Vec<String>, &str)> = files
        .iter()
        .filter_map(|file| {
            let path = file.path.strip_prefix(&prefix)?.strip_suffix(".rs")?;
            let mut module: Vec<String> = path.split('/').map(str::to_owned).collect();
            if module.last().is_some_and(|last| last == "mod") {
                module.pop();
            }
            Some((module, file.text.as_deref()?))
        })
        .filter(|(module, _)| !matches!(module[0].as_str(), "lib" | "main"))
        .collect();
    let rooms: BTreeSet<String> = own.iter().map(|(module, _)| module[0].clone()).collect();
    let root = files.iter().find(|file| file.path == format!("{prefix}lib.rs"));
    let exports = exports(root.and_then(|file| file.text.as_deref()).unwrap_or_default());
    let mut uses = BTreeSet::new();
    for (module, text) in &own {
        for used in named(text, module) {
            let used = exports.get(&used).cloned().unwrap_or(used);
            uses.insert((module[0].clone(), used));
        }
    }
    let folders = own.iter().filter(|(module, _)| module.len() > 1);
    let folders: BTreeSet<String> = folders.map(|(module, _)| module[0].clone()).collect();
    (Graph::new(rooms, &uses), folders.into_iter().collect())
}

/// The re-exports of a crate's root: a name, and its module.
fn exports(text: &str) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    for statement in without_comments(text).split(';') {
        let Some((_, path)) = statement.split_once("use ") else { continue };
        let Some((module, names)) = path.trim().split_once("::") else { continue };
        for name in names.split(|c: char| !(c.is_alphanumeric() || c == '_')) {
            found.insert(name.to_owned(), module.to_owned());
        }
    }
    found
}

/// The first segment after the crate's root of every path in a module, except in tests.
fn named(text: &str, module: &[String]) -> BTreeSet<String> {
    let code = without_comments(text.split("#[cfg(test)]").next().unwrap_or_default());
    let mut found = BTreeSet::new();
    for (at, _) in code.match_indices("crate::") {
        found.extend(first_segments(&code[at + "crate::".len()..]));
    }
    let above = "super::".repeat(module.len());
    for (at, _) in code.match_indices(&above) {
        found.extend(first_segments(&code[at + above.len()..]));
    }
    found
}

/// The names that a path can begin with: one, or those in braces.
fn first_segments(path: &str) -> Vec<String> {
    let word = |text: &str| -> String {
        text.trim_start().chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect()
    };
    let Some(list) = path.strip_prefix('{') else { return vec![word(path)] };
    let mut depth = 0;
    let mut names = vec![word(list)];
    for (at, sign) in list.char_indices() {
        match sign {
            '{' => depth += 1,
            '}' if depth == 0 => break,
            '}' => depth -= 1,
            ',' if depth == 0 => names.push(word(&list[at + 1..])),
            _ => {}
        }
    }
    names
}

fn without_comments(text: &str) -> String {
    text.lines().filter(|line| !line.trim_start().starts_with("//")).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::file;

    #[test]
    fn crates_use_the_dependencies_of_their_manifests() {
        let files = [
            file("crates/base/Cargo.toml", "[package]\n"),
            file("crates/sim/Cargo.toml", "[dependencies]\nhomenode-base.workspace = true\n"),
            file("crates/trace/Cargo.toml", "[dev-dependencies]\nhomenode-sim.workspace = true\n"),
        ];
        let graph = crates(&files);
        assert_eq!(graph.names, ["base", "sim", "trace"]);
        assert_eq!(graph.arrows, BTreeSet::from([(1, 0)]));
    }

    #[test]
    fn modules_use_every_path_that_they_name() {
        let files = [
            file(
                "crates/a/src/lib.rs",
                "mod b;\nmod c;\nmod d;\npub use d::{One, Two as Three};\n",
            ),
            file("crates/a/src/b/mod.rs", "use crate::{c::X, One};\n// crate::e::No\n"),
            file("crates/a/src/b/deep.rs", "use super::super::d::Y;\nuse super::f;\n"),
            file("crates/a/src/c.rs", "fn f() { super::d::g() }\n#[cfg(test)]\nuse crate::b;\n"),
            file("crates/a/src/d.rs", "use crate::b::Z;\n"),
        ];
        let (graph, folders) = modules(&files, "a");
        assert_eq!(graph.names, ["b", "c", "d"]);
        assert_eq!(graph.arrows, BTreeSet::from([(0, 1), (0, 2), (1, 2), (2, 0)]));
        assert_eq!(folders, ["b"]);
    }
}
