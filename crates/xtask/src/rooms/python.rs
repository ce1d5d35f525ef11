//! The rooms of the Python package, from the imports of its modules.

use std::collections::BTreeSet;

use super::graph::Graph;
use crate::source::{Finding, SourceFile};

const PACKAGE: &str = "python/homenode/";

/// Modules directly in the package: its entry points, and modules that every room may use.
const ROOT: &[&str] =
    &["__init__", "__main__", "catalogue", "errors", "files", "reproduction", "sanitize"];

/// Modules and folders directly in the package, and their imports of each other. Imports for types
/// only do not count; the package's own `__init__` imports lazily.
pub fn rooms(files: &[SourceFile]) -> Graph {
    let (mut rooms, mut uses) = (BTreeSet::new(), BTreeSet::new());
    for file in files {
        let Some(path) = file.path.strip_prefix(PACKAGE).and_then(|p| p.strip_suffix(".py")) else {
            continue;
        };
        let room = path.split('/').next().unwrap_or_default();
        if room.starts_with("__") {
            continue;
        }
        rooms.insert(room.to_owned());
        let imported = imports(file.text.as_deref().unwrap_or_default());
        uses.extend(imported.into_iter().map(|used| (room.to_owned(), used)));
    }
    Graph::new(rooms, &uses)
}

/// Modules directly in the package that belong in a room, and names of [`ROOT`] without a module.
pub fn root(files: &[SourceFile]) -> Vec<Finding> {
    let module = |file: &SourceFile| {
        let name = file.path.strip_prefix(PACKAGE)?.strip_suffix(".py")?;
        (!name.contains('/')).then(|| name.to_owned())
    };
    let present: BTreeSet<String> = files.iter().filter_map(module).collect();
    let belongs = |file: &SourceFile| {
        let name = module(file).filter(|name| !ROOT.contains(&name.as_str()))?;
        let problem = format!("`{name}` is not used by every room: move it into a room");
        Some(file.finding(0, problem))
    };
    let gone = |name: &&&str| !present.is_empty() && !present.contains(**name);
    let stale = |name: &&str| Finding {
        path: format!("{PACKAGE}{name}.py"),
        line: 0,
        message: "is gone: crates/xtask/src/rooms/python.rs still lists it".to_owned(),
    };
    files.iter().filter_map(belongs).chain(ROOT.iter().filter(gone).map(stale)).collect()
}

/// The rooms that a module imports.
fn imports(text: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut for_types = None;
    // Names in parentheses over several lines.
    let mut is_open = false;
    for line in text.lines() {
        let code = line.trim_start();
        let indent = line.len() - code.len();
        if is_open {
            let name = code.split([' ', ',', ')']).next().unwrap_or_default();
            found.extend((!name.is_empty()).then(|| name.to_owned()));
            is_open = !code.contains(')');
            continue;
        }
        if for_types.is_some_and(|outer| indent > outer) || code.is_empty() {
            continue;
        }
        for_types = code.starts_with("if TYPE_CHECKING").then_some(indent);
        let segment =
            |path: &str| path.split(['.', ' ', ',']).next().unwrap_or_default().to_owned();
        if let Some(path) = code.strip_prefix("from homenode.") {
            found.insert(segment(path));
        } else if let Some(path) = code.strip_prefix("import homenode.") {
            found.insert(segment(path));
        } else if code == "from homenode import (" {
            is_open = true;
        } else if let Some(names) = code.strip_prefix("from homenode import ") {
            let names = names.trim_matches(['(', ')']).split(',');
            found.extend(names.map(|name| segment(name.trim())));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::file;

    #[test]
    fn imports_for_types_do_not_count() {
        let text = "from homenode.trace.open import Trace\nfrom homenode import _core, rows\n\
                    from homenode import (\n    views,\n    tables as t,\n)\n\
                    if TYPE_CHECKING:\n    from homenode.report import Page\n\n\
                    def f():\n    import homenode.plot.lines\n";
        let found: Vec<String> = imports(text).into_iter().collect();
        assert_eq!(found, ["_core", "plot", "rows", "tables", "trace", "views"]);
    }

    #[test]
    fn the_root_holds_only_modules_that_every_room_uses() {
        let at_root = |name: &str| file(&format!("{PACKAGE}{name}.py"), "");
        let mut files: Vec<SourceFile> = ROOT.iter().map(|name| at_root(name)).collect();
        files.push(file("python/homenode/trace/reader.py", ""));
        assert_eq!(root(&files), []);
        files[0] = at_root("plots");
        let found: Vec<String> = root(&files).into_iter().map(|finding| finding.path).collect();
        assert_eq!(found, ["python/homenode/plots.py", "python/homenode/__init__.py"]);
        assert_eq!(root(&[]), []);
    }

    /// If imports were not parsed, no cycle would be found: these arrows must exist.
    #[test]
    fn the_arrows_of_the_package_are_seen() {
        let root = crate::repository_root();
        if !root.join(".git").exists() {
            return; // A source archive without history has no list of files.
        }
        let graph = rooms(&crate::source::tracked_files(&root).unwrap());
        let at = |name: &str| graph.names.iter().position(|room| room == name).unwrap();
        for (user, used) in [
            ("engines", "options"),
            ("engines", "results"),
            ("engines", "trace"),
            ("demo", "engines"),
        ] {
            assert!(graph.arrows.contains(&(at(user), at(used))), "{user} uses {used}");
        }
    }
}
