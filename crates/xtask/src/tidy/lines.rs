//! File and line lengths, and stray white space.

use crate::source::{Finding, SourceFile};

const FILE_LINES_MAX: usize = 500;
const LINE_COLUMNS_MAX: usize = 100;
const CODE: &[&str] = &["rs", "py", "c", "h", "cpp"];
const TEXT: &[&str] = &["rs", "py", "c", "h", "cpp", "toml", "md", "html", "css", "js", "csv"];

/// No code file over 500 lines, no code line over 100 columns, no trailing white space.
pub fn check(file: &SourceFile) -> Vec<Finding> {
    let Some(text) = &file.text else { return Vec::new() };
    let mut findings = Vec::new();
    if file.has_extension(CODE) {
        let lines_count = text.lines().count();
        if lines_count > FILE_LINES_MAX {
            let message = format!("{lines_count} lines; split it, {FILE_LINES_MAX} at most");
            findings.push(file.finding(0, message));
        }
    }
    for (index, line) in text.lines().enumerate() {
        let columns = line.chars().count();
        if file.has_extension(CODE) && columns > LINE_COLUMNS_MAX {
            let message = format!("{columns} columns; {LINE_COLUMNS_MAX} at most");
            findings.push(file.finding(index + 1, message));
        }
        if file.has_extension(TEXT) && line.ends_with([' ', '\t']) {
            findings.push(file.finding(index + 1, "white space at the end of the line"));
        }
    }
    if file.has_extension(TEXT) && !text.is_empty() && !text.ends_with('\n') {
        findings.push(file.finding(0, "the file does not end with a newline"));
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::file;

    #[test]
    fn finds_long_files_long_lines_and_trailing_space() {
        let long = "x\n".repeat(501);
        assert_eq!(check(&file("a.rs", &long)).len(), 1);
        assert_eq!(check(&file("a.c", &format!("{}\n", "y".repeat(101)))).len(), 1);
        assert_eq!(check(&file("a.md", "text \n")).len(), 1);
        assert_eq!(check(&file("a.py", "no end")).len(), 1);
    }

    #[test]
    fn accepts_what_fits() {
        assert_eq!(check(&file("a.rs", &"x\n".repeat(500))), []);
        assert_eq!(check(&file("a.md", &format!("{}\n", "y".repeat(300)))), []);
    }
}
