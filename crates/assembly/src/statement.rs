//! The lines of an assembly file, and their statements.

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
/// no labels.
pub(crate) fn lines(text: &str) -> impl Iterator<Item = Line<'_>> {
    let mut depth = 0usize;
    let mut executable = true;
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
                _ => {}
            }
            pieces.push(piece(statement, depth == 0 && executable));
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
    let text = statement.split('#').next().unwrap_or("").trim();
    if text.is_empty() || text.starts_with('.') && !text.ends_with(':') || !assembled {
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
    let mut quoted = false;
    let mut escaped = false;
    let mut blank = true;
    for (at, c) in line.char_indices() {
        if quoted {
            quoted = escaped || c != '"';
            escaped = !escaped && c == '\\';
            continue;
        }
        match c {
            '"' => quoted = true,
            '#' => break,
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
    fn data_and_macros_have_no_instructions() {
        let text =
            ".data\n\tnop\n.text\n\tret\n\t.section .rodata.x,\"a\"\n\tnop\n\t.previous\n\tret";
        assert_eq!(instructions(text), ["ret", "ret"]);
        let macros = ".macro m\n\tnop\n.endm\n\tm\n.rept 2\n\tnop\n.endr\n";
        let elsewhere = ".pushsection .x,\"aw\"\n\tnop\n.popsection\n\tret";
        assert_eq!(instructions(&format!("{macros}{elsewhere}")), ["m", "ret"]);
    }
}
