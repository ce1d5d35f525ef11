//! The rooms of the Python package by what its modules import.

use std::collections::BTreeSet;

use super::graph::Graph;
use crate::source::SourceFile;

const PACKAGE: &str = "python/homenode/";

/// Modules and folders that lie directly in the package, and which of them imports which. What is
/// imported for types only does not count; the package's own `__init__` imports when asked.
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

/// The rooms that a module imports.
fn imports(text: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut for_types = None;
    for line in text.lines() {
        let code = line.trim_start();
        let indent = line.len() - code.len();
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

    #[test]
    fn imports_for_types_do_not_count() {
        let text = "from homenode.trace.open import Trace\nfrom homenode import _core, rows\n\
                    if TYPE_CHECKING:\n    from homenode.report import Page\n\n\
                    def f():\n    import homenode.plot.lines\n";
        let found: Vec<String> = imports(text).into_iter().collect();
        assert_eq!(found, ["_core", "plot", "rows", "trace"]);
    }
}
