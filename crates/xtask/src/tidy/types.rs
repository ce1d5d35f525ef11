//! One name, one type, so that a name means the same in every crate.

use std::collections::BTreeMap;

use crate::source::{Finding, SourceFile};

/// Names that mean the same thing in every folder that has them.
const IDIOMS: &[&str] = &[
    // The row of a folder's `TABLE`.
    "Entry",
];

/// Names that are local to a file, such as the state of a protocol's table or a policy's automaton.
/// Allowed only if no other file sees them.
const PRIVATE_IDIOMS: &[&str] = &["State"];

/// A declaration of a type, and whether other files can name it.
struct Declaration<'a> {
    name: &'a str,
    is_public: bool,
}

/// The file with the idioms; its presence means that the whole repository is checked.
const OWN_PATH: &str = "crates/xtask/src/tidy/types.rs";

/// Every struct, enum, trait, union and type alias of `crates/*/src` is declared once. Associated
/// types do not count. Idioms must be declared several times.
pub fn check(files: &[SourceFile]) -> Vec<Finding> {
    let mut places: BTreeMap<&str, Vec<(&SourceFile, usize)>> = BTreeMap::new();
    let mut idioms: BTreeMap<&str, usize> = BTreeMap::new();
    for file in files {
        let Some(text) = file.text.as_deref().filter(|_| is_source(&file.path)) else { continue };
        let lines: Vec<&str> = text.lines().collect();
        for (index, line) in lines.iter().enumerate() {
            let Some(declaration) = declaration(line) else { continue };
            let is_idiom = IDIOMS.contains(&declaration.name)
                || PRIVATE_IDIOMS.contains(&declaration.name) && !declaration.is_public;
            if is_associated(&lines, index) {
                continue;
            }
            if is_idiom {
                *idioms.entry(declaration.name).or_default() += 1;
            } else {
                places.entry(declaration.name).or_default().push((file, index + 1));
            }
        }
    }
    places.retain(|_, places| places.len() > 1);
    let repeated = places.iter().flat_map(|(name, places)| repeated(name, places));
    repeated.chain(stale(files, &idioms)).collect()
}

/// Idioms that occur at most once and must be removed from the list.
fn stale(files: &[SourceFile], idioms: &BTreeMap<&str, usize>) -> Vec<Finding> {
    let Some(own) = files.iter().find(|file| file.path == OWN_PATH) else { return Vec::new() };
    let finding = |name: &&str| {
        let problem = "fewer than two types have this name: remove it from the list of idioms";
        own.finding(0, format!("`{name}`: {problem}"))
    };
    let is_stale = |name: &&&str| idioms.get(**name).is_none_or(|&count| count < 2);
    IDIOMS.iter().chain(PRIVATE_IDIOMS).filter(is_stale).map(finding).collect()
}

/// A finding at each place except the first, which it names.
fn repeated(name: &str, places: &[(&SourceFile, usize)]) -> Vec<Finding> {
    let Some(((first, line), rest)) = places.split_first() else { return Vec::new() };
    let message = format!(
        "a second type `{name}`, after {}:{line}; give it a more specific name",
        first.path
    );
    rest.iter().map(|(file, line)| file.finding(*line, message.as_str())).collect()
}

fn is_source(path: &str) -> bool {
    let mut folders = path.split('/');
    path.ends_with(".rs") && folders.next() == Some("crates") && folders.nth(1) == Some("src")
}

/// The type that a line declares, if it does; macro variables do not count.
fn declaration(line: &str) -> Option<Declaration<'_>> {
    let line = line.trim_start();
    let (is_public, line) = match line.strip_prefix("pub") {
        Some(rest) if rest.starts_with('(') => (true, rest.split_once(") ")?.1),
        Some(rest) => (true, rest.strip_prefix(' ')?),
        None => (false, line),
    };
    let line = line.strip_prefix("unsafe ").unwrap_or(line);
    let (keyword, rest) = line.split_once(' ')?;
    if !["struct", "enum", "trait", "union", "type"].contains(&keyword) {
        return None;
    }
    let name = rest.split(|c: char| !c.is_alphanumeric() && c != '_').next()?;
    name.starts_with(char::is_uppercase).then_some(Declaration { name, is_public })
}

/// Whether the line is in an `impl` or a `trait`: rustfmt indents its body, so the nearest line
/// above with less indentation begins it, apart from bounds and braces.
fn is_associated(lines: &[&str], index: usize) -> bool {
    let indent = |line: &str| line.len() - line.trim_start().len();
    let own = indent(lines[index]);
    let mut above = lines[..index].iter().rev().filter(|line| indent(line) < own);
    let head = above.find(|line| {
        let line = line.trim();
        line.starts_with(char::is_alphabetic) && line != "where"
    });
    head.is_some_and(|line| {
        let line = line.trim_start().trim_start_matches("pub ").trim_start_matches("unsafe ");
        line.starts_with("impl") || line.starts_with("trait ")
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::file;

    #[test]
    fn finds_the_second_type_of_a_name() {
        let one = file("crates/a/src/lib.rs", "/// One.\npub struct Meter {\n    a: u8,\n}\n");
        let two = file("crates/b/src/x.rs", "mod tests {\n    pub(crate) enum Meter<'a> {}\n}\n");
        let three = file("crates/c/src/x.rs", "type Meter = u8;\n");
        let findings = check(&[one, two, three]);
        let places: Vec<_> = findings.iter().map(|f| (f.path.as_str(), f.line)).collect();
        assert_eq!(places, [("crates/b/src/x.rs", 2), ("crates/c/src/x.rs", 1)]);
        assert!(findings[0].message.contains("crates/a/src/lib.rs:2"));
    }

    #[test]
    fn leaves_associated_types_tests_and_idioms_alone() {
        let bounded = "impl<T> Iterator for A<T>\nwhere\n    T: B,\n{\n    type Item = u8;\n}\n";
        let plain = "pub trait C {\n    /// One.\n    type Item;\n}\n";
        let idioms = "pub struct Entry;\nenum State {}\n";
        let files = [
            file("crates/a/src/lib.rs", &format!("{bounded}{idioms}struct Meter;\n")),
            file("crates/b/src/lib.rs", &format!("{plain}{idioms}")),
            file("crates/a/tests/a.rs", "struct Meter;\n"),
        ];
        assert_eq!(check(&files), []);
    }

    #[test]
    fn an_idiom_that_no_longer_occurs_is_a_finding() {
        let table = "pub struct Entry;\nenum State {}\n";
        let mut files = vec![
            file(OWN_PATH, ""),
            file("crates/a/src/lib.rs", table),
            file("crates/b/src/lib.rs", table),
        ];
        assert_eq!(check(&files), []);
        files[2] = file("crates/b/src/lib.rs", "pub struct Entry;\n");
        let findings = check(&files);
        assert_eq!(findings.len(), 1);
        assert_eq!(findings[0].path, OWN_PATH);
        assert!(findings[0].message.starts_with("`State`"));
    }

    #[test]
    fn a_public_state_is_no_idiom() {
        let files = [
            file("crates/a/src/lib.rs", "pub struct State;\n"),
            file("crates/b/src/lib.rs", "pub(super) struct State;\n"),
        ];
        assert_eq!(check(&files).len(), 1);
    }
}
