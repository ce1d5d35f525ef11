//! Words that mark unfinished work, and paths that a fresh clone does not have.

use crate::source::{Finding, SourceFile};

/// (word, remedy). Matched case-insensitively, in code only.
const BANNED: &[(&str, &str)] = &[
    ("todo", "finish it or file an issue"),
    ("fixme", "finish it or file an issue"),
    ("xxx", "say what is meant"),
    ("notimplementederror", "implement it or raise a typed error"),
    ("for now", "say what is true and why"),
    ("simplified", "say what is left out and why, in the docs"),
    ("placeholder", "give it its content"),
    ("dummy", "name what it stands for"),
];

/// Paths of a developer's machine do not belong in the project, in any file. Split into pieces, so
/// that this file does not contain them.
const FOREIGN: &[&str] =
    &[concat!("../", "shared"), concat!("/", "work/"), concat!("/", ".library")];

const CODE: &[&str] = &["rs", "py", "c", "h", "cpp"];

/// No words that mark unfinished work; no paths outside the repository.
pub fn check(file: &SourceFile) -> Vec<Finding> {
    let Some(text) = &file.text else { return Vec::new() };
    // The files of these rules must contain the forbidden words.
    if file.path.starts_with("crates/xtask/src/tidy/") {
        return Vec::new();
    }
    let mut findings = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let lower = line.to_lowercase();
        if file.has_extension(CODE) {
            for (word, instead) in BANNED {
                if contains_word(&lower, word) {
                    findings.push(file.finding(index + 1, format!("`{word}`: {instead}")));
                }
            }
        }
        for path in FOREIGN {
            if lower.contains(path) {
                let message = format!("`{path}` is not part of a fresh clone");
                findings.push(file.finding(index + 1, message));
            }
        }
    }
    findings
}

/// Whether `word` is in `line` with no letter or digit at its ends.
fn contains_word(line: &str, word: &str) -> bool {
    line.match_indices(word).any(|(start, _)| {
        let before = line[..start].chars().next_back();
        let after = line[start + word.len()..].chars().next();
        let joins = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
        !joins(before) && !joins(after)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::file;

    #[test]
    fn finds_marks_of_unfinished_work() {
        assert_eq!(check(&file("a.rs", "// TODO later\n")).len(), 1);
        assert_eq!(check(&file("a.py", "raise NotImplementedError\n")).len(), 1);
        assert_eq!(check(&file("a.c", "/* good enough for now */\n")).len(), 1);
        assert_eq!(check(&file("README.md", concat!("see ../", "shared/spec\n"))).len(), 1);
    }

    #[test]
    fn leaves_longer_words_and_prose_alone() {
        assert_eq!(check(&file("a.rs", "let mastodons = methodology;\n")), []);
        assert_eq!(check(&file("a.md", "A placeholder is a thing.\n")), []);
    }
}
