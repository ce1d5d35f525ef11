//! Places in the source, and how people write them.

use homenode_trace::CallFrame;
use serde::Serialize;

/// A place in the source.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct SourceSite {
    /// Function; may be empty.
    pub function: String,
    /// File; may be empty.
    pub file: String,
    /// Line, 0 if unknown.
    pub line: u32,
    /// Program counter where nothing else is known, else 0.
    #[serde(skip_serializing_if = "is_zero")]
    pub pc: u64,
}

impl SourceSite {
    pub(crate) fn of_frame(frame: &CallFrame) -> Self {
        let CallFrame { function, file, line } = frame.clone();
        Self { function, file, line, pc: 0 }
    }

    /// The place for people: file, line and function, or what is known of them.
    #[must_use]
    pub fn label(&self) -> String {
        let function = plain_function(&self.function);
        match (self.pc, self.file.is_empty(), function.is_empty()) {
            (0, true, _) => function.to_owned(),
            (0, false, true) => format!("{}:{}", file_name(&self.file), self.line),
            (0, false, false) => format!("{}:{} ({function})", file_name(&self.file), self.line),
            (pc, ..) => format!("allocated at 0x{pc:x}"),
        }
    }
}

/// A function's name without its parameters and what it returns.
fn plain_function(name: &str) -> &str {
    let mut depth = 0_u32;
    let (mut start, mut end) = (0, name.len());
    for (at, letter) in name.char_indices() {
        match letter {
            // `operator<` and `operator()` have brackets in their names, as have lambdas.
            _ if name[start..at].ends_with("operator") => {}
            '<' | '{' | '[' => depth += 1,
            '>' | '}' | ']' => depth = depth.saturating_sub(1),
            '(' if depth == 0 && at > start => {
                end = at;
                break;
            }
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            ' ' if depth == 0 => start = at + 1,
            _ => {}
        }
    }
    if start < end { &name[start..end] } else { name }
}

fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it with a reference")]
fn is_zero(value: &u64) -> bool {
    *value == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_are_named_without_arguments() {
        let cases = [
            ("main", "main"),
            (
                "shop::Tree::insert(int, std::pair<int, (anonymous namespace)::X>)",
                "shop::Tree::insert",
            ),
            (
                "void std::vector<shop::Tally, A<B> >::push<int>(int&&)",
                "std::vector<shop::Tally, A<B> >::push<int>",
            ),
            ("main::{lambda()#1}::operator()() const", "main::{lambda()#1}::operator()"),
            ("(anonymous namespace)::fill(long)", "(anonymous namespace)::fill"),
            ("shop::Grid::operator[](unsigned long)", "shop::Grid::operator[]"),
            ("[stockfish+0x251d0]", "[stockfish+0x251d0]"),
            ("", ""),
        ];
        for (name, plain) in cases {
            assert_eq!(plain_function(name), plain);
        }
    }

    #[test]
    fn a_place_is_as_much_as_is_known() {
        let site = |function: &str, file: &str, pc| SourceSite {
            function: function.to_owned(),
            file: file.to_owned(),
            line: 41,
            pc,
        };
        assert_eq!(site("insert(int)", "/src/tree.cpp", 0).label(), "tree.cpp:41 (insert)");
        assert_eq!(site("", "/src/tree.cpp", 0).label(), "tree.cpp:41");
        assert_eq!(site("[a.so+0x10]", "", 0).label(), "[a.so+0x10]");
        assert_eq!(site("", "", 0x123).label(), "allocated at 0x123");
    }
}
