//! The lines of an assembly file, and their statements.

use std::borrow::Cow;

/// A part of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Piece<'a> {
    /// An instruction, or a prefix of the next one.
    Instruction(&'a str),
    /// A label, with its colon.
    Label(&'a str),
    /// A directive, a comment, nothing, or text that is not assembled where it stands.
    Other(&'a str),
}

impl<'a> Piece<'a> {
    pub(crate) fn text(&self) -> &'a str {
        match self {
            Self::Instruction(text) | Self::Label(text) | Self::Other(text) => text,
        }
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Line<'a> {
    pub(crate) pieces: Vec<Piece<'a>>,
}

impl<'a> Line<'a> {
    /// The instructions of the line.
    pub(crate) fn instructions(&self) -> impl Iterator<Item = &'a str> {
        self.pieces.iter().filter_map(|piece| match piece {
            Piece::Instruction(text) => Some(*text),
            Piece::Label(_) | Piece::Other(_) => None,
        })
    }
}

/// All lines of a text. The body of a macro or a repetition is assembled several times, so it gets
/// no labels; neither do instructions in another syntax.
pub(crate) fn lines(text: &str) -> impl Iterator<Item = Line<'_>> {
    let mut depth = 0usize;
    let mut executable = true;
    let mut intel = false;
    let mut earlier = vec![];
    text.lines().map(move |line| {
        let mut pieces = Vec::new();
        for statement in statements(line) {
            let word = statement.split_whitespace().next().unwrap_or("");
            match word {
                ".macro" | ".rept" | ".irp" | ".irpc" => depth += 1,
                ".endm" | ".endr" => depth = depth.saturating_sub(1),
                ".pushsection" => {
                    earlier.push(executable);
                    executable = is_executable(statement);
                }
                ".popsection" | ".previous" => executable = earlier.pop().unwrap_or(true),
                ".section" => {
                    earlier.truncate(8);
                    earlier.push(executable);
                    executable = is_executable(statement);
                }
                ".text" => executable = true,
                ".data" | ".bss" => executable = false,
                ".intel_syntax" => intel = true,
                ".att_syntax" => intel = false,
                _ => {}
            }
            pieces.push(piece(statement, depth == 0 && executable && !intel));
        }
        Line { pieces }
    })
}

/// Whether a section's instructions get hooks. homenode.h puts functions that are not to be
/// recorded into one of their own.
fn is_executable(section: &str) -> bool {
    let flags = section.split('"').nth(1);
    flags.map_or(section.contains(".text"), |flags| flags.contains('x'))
        && !section.contains(".homenode_unrecorded")
}

fn piece(statement: &str, assembled: bool) -> Piece<'_> {
    let text = without_comment(statement).trim();
    if text.is_empty()
        || text.starts_with('/')
        || text.starts_with('.') && !text.ends_with(':')
        || !assembled
    {
        return Piece::Other(statement);
    }
    if text.ends_with(':') {
        return Piece::Label(statement);
    }
    // An assignment of a symbol.
    if text.contains('=') && !text.contains(['(', '%', '$']) {
        return Piece::Other(statement);
    }
    Piece::Instruction(statement)
}

/// The statements of a line: labels end with their colon, others at a semicolon; neither counts in
/// a string, and a comment belongs to the statement before it.
fn statements(line: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut start = 0;
    let mut blank = true;
    for (at, c) in unquoted(line) {
        match c {
            '#' => break,
            '/' if line[at..].starts_with("//") || line[start..at].trim().is_empty() => break,
            ';' => {
                found.push(&line[start..at]);
                start = at + 1;
                blank = true;
            }
            ':' if blank && !line[start..at].trim().is_empty() => {
                found.push(&line[start..=at]);
                start = at + 1;
            }
            c if c.is_whitespace() => blank &= line[start..at].trim().is_empty(),
            _ => {}
        }
    }
    found.push(&line[start..]);
    found
}

/// A statement without its comment.
pub(crate) fn without_comment(statement: &str) -> &str {
    let comment = unquoted(statement)
        .find(|&(at, c)| c == '#' || c == '/' && statement[at..].starts_with("//"));
    comment.map_or(statement, |(at, _)| &statement[..at])
}

/// The characters that are neither in a string nor constants, with their places.
pub(crate) fn unquoted(text: &str) -> impl Iterator<Item = (usize, char)> {
    let mut characters = text.char_indices().peekable();
    let mut quoted = false;
    std::iter::from_fn(move || {
        loop {
            let (at, c) = characters.next()?;
            match c {
                '"' => quoted = !quoted,
                '\\' if quoted => drop(characters.next()),
                _ if quoted => {}
                // A constant, which need not have a second quote.
                '\'' => {
                    if characters.next().is_some_and(|(_, c)| c == '\\') {
                        characters.next();
                    }
                    characters.next_if(|&(_, c)| c == '\'');
                }
                _ => return Some((at, c)),
            }
        }
    })
}

/// The text with blanks in place of comments that may extend over lines.
pub(crate) fn without_long_comments(text: &str) -> Cow<'_, str> {
    if !text.contains("/*") {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut within = false;
    for line in text.lines() {
        let mut rest = line;
        loop {
            let mark = if within {
                rest.find("*/")
            } else {
                unquoted(rest)
                    .take_while(|&(_, c)| c != '#')
                    .map(|(at, _)| at)
                    .find(|&at| rest[at..].starts_with("/*"))
            };
            out.push_str(if within { " " } else { &rest[..mark.unwrap_or(rest.len())] });
            let Some(at) = mark else { break };
            rest = &rest[at + 2..];
            within = !within;
        }
        out.push('\n');
    }
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn instructions(text: &str) -> Vec<&str> {
        lines(text)
            .flat_map(|line| line.instructions().collect::<Vec<_>>())
            .map(str::trim)
            .collect()
    }

    #[test]
    fn statements_of_inline_assembly_are_told_apart() {
        assert_eq!(
            instructions("\tlock; incl (%rax); 1:\tjmp 1b # a; b"),
            ["lock", "incl (%rax)", "jmp 1b # a; b"]
        );
        assert_eq!(instructions("f: ret\n.L2:\n\t.string \"a;b:\"\n\tx = 3\n"), ["ret"]);
        assert_eq!(instructions("\trep stosq\t# 10\t[c=0 l=3]"), ["rep stosq\t# 10\t[c=0 l=3]"]);
    }

    #[test]
    fn comments_and_constants_hide_nothing() {
        assert_eq!(
            instructions("\tcmpb $'#', %al; cmpb $'\"', %al\n cmpb $'\\'', %al; ret // a; b\n// c"),
            ["cmpb $'#', %al", "cmpb $'\"', %al", "cmpb $'\\'', %al", "ret // a; b"]
        );
        let text = without_long_comments("a /* b; \n c */ d /* e */ f\n.string \"/*\"\n# /* g\nh");
        assert_eq!(text, "a  \n  d   f\n.string \"/*\"\n# /* g\nh\n");
        assert_eq!(
            instructions(".intel_syntax noprefix\n\tmov eax, 1\n.att_syntax\n ret"),
            ["ret"]
        );
    }

    #[test]
    fn data_and_macros_have_no_instructions() {
        let text =
            ".data\n\tnop\n.text\n\tret\n\t.section .rodata.x,\"a\"\n\tnop\n\t.previous\n\tret";
        assert_eq!(instructions(text), ["ret", "ret"]);
        let macros = ".macro m\n\tnop\n.endm\n\tm\n.rept 2\n\tnop\n.endr\n";
        let elsewhere = ".pushsection .x,\"aw\"\n\tnop\n.popsection\n\tret";
        assert_eq!(instructions(&format!("{macros}{elsewhere}")), ["m", "ret"]);
    }
}
