//! Markdown files have one title and no dead links to files of the repository.

use crate::source::{Finding, SourceFile};

/// Exactly one `# ` heading, on the first line.
pub fn check(file: &SourceFile) -> Vec<Finding> {
    let (Some(text), true) = (&file.text, file.has_extension(&["md"])) else { return Vec::new() };
    let mut in_code = false;
    let mut titles = Vec::new();
    for (index, line) in text.lines().enumerate() {
        if line.starts_with("```") {
            in_code = !in_code;
        }
        if !in_code && line.starts_with("# ") {
            titles.push(index + 1);
        }
    }
    match titles.as_slice() {
        [1] => Vec::new(),
        [] => vec![file.finding(1, "no title: the first line begins with `# `")],
        [first, ..] => vec![file.finding(*first, "expected one title, on the first line")],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::file;

    #[test]
    fn wants_exactly_one_title_on_the_first_line() {
        assert_eq!(check(&file("a.md", "# Title\n\n```\n# comment\n```\n")), []);
        assert_eq!(check(&file("a.md", "text\n")).len(), 1);
        assert_eq!(check(&file("a.md", "# One\n# Two\n")).len(), 1);
        assert_eq!(check(&file("a.rs", "text\n")), []);
    }
}
