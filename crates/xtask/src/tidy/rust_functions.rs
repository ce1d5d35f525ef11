//! Functions fit on a screen.

use crate::source::{Finding, SourceFile};

const FUNCTION_LINES_MAX: usize = 70;

/// No Rust function over 70 lines, from its `fn` line to its closing brace.
///
/// rustfmt puts the closing brace of an item at the item's own indentation, so the end is the
/// first later line that is exactly that indentation and a brace.
pub fn check(file: &SourceFile) -> Vec<Finding> {
    let (Some(text), true) = (&file.text, file.has_extension(&["rs"])) else { return Vec::new() };
    let lines: Vec<&str> = text.lines().collect();
    let mut findings = Vec::new();
    for (start, line) in lines.iter().enumerate() {
        let indent = line.len() - line.trim_start().len();
        if !is_function_head(line.trim_start()) {
            continue;
        }
        let closing = format!("{}}}", " ".repeat(indent));
        let Some(body) = lines[start..].iter().position(|l| *l == closing) else { continue };
        if body + 1 > FUNCTION_LINES_MAX {
            let message = format!("function of {} lines; {FUNCTION_LINES_MAX} at most", body + 1);
            findings.push(file.finding(start + 1, message));
        }
    }
    findings
}

/// Whether the line begins a function with a body that does not end on the same line.
fn is_function_head(line: &str) -> bool {
    let mut words = line.split_whitespace();
    let qualifiers =
        ["pub", "pub(crate)", "pub(super)", "const", "unsafe", "async", "extern", "\"C\""];
    let first = words.find(|word| !qualifiers.contains(word));
    first == Some("fn") && !line.ends_with('}') && !line.ends_with(';')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::file;

    #[test]
    fn finds_a_long_function_and_only_that() {
        let long = format!("pub fn long() {{\n{}}}\n", "    work();\n".repeat(69));
        let short = "    const fn short(\n        a: u8,\n    ) {\n        a\n    }\n";
        assert_eq!(check(&file("a.rs", &format!("{short}{long}"))).len(), 1);
        assert_eq!(check(&file("a.rs", short)), []);
    }
}
