//! The lines of an assembly file, and their statements.

use std::borrow::Cow;

/// How operands are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Syntax {
    /// AT&T, registers with a percent sign.
    Att,
    /// Intel, registers without.
    Intel,
    /// One of them the other way round, which is not read.
    Unread,
}

/// What a part of a line is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// An instruction, or a prefix of the next one.
    Instruction(Syntax),
    /// The use of a macro.
    Macro,
    /// The beginning of a repetition.
    Repeat,
    /// The end of a repetition.
    RepeatEnd,
    /// A label, with its colon.
    Label,
    /// Something for debuggers only, which the code does not depend on.
    Debugging,
    /// A directive, a comment, nothing, or text that is not assembled where it stands.
    Other,
}

/// A part of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Piece<'a> {
    pub(crate) kind: Kind,
    pub(crate) text: &'a str,
}

impl Piece<'_> {
    /// Whether it is code that gets a number: an instruction, or what stands for several.
    pub(crate) fn is_code(&self) -> bool {
        matches!(self.kind, Kind::Instruction(_) | Kind::Macro | Kind::Repeat)
    }

    /// Whether it is a comment of a line, and not the place in the source for the assembler's
    /// messages.
    pub(crate) fn is_remark(&self) -> bool {
        if self.kind != Kind::Other {
            return false;
        }
        let text = self.text.trim_start();
        let is_place = || text.trim_start_matches(['#', ' ']).starts_with(char::is_numeric);
        text.starts_with('#') && !is_place()
    }
}

/// What is known at a line.
struct PieceReader<'a> {
    /// Whether clang wrote the text, for which registers in Intel syntax never have a percent sign.
    is_of_clang: bool,
    /// Names of the macros.
    macros: Vec<&'a str>,
    /// In how many bodies of macros and repetitions.
    depth: usize,
    /// Whether the outermost body is that of a repetition.
    repeats: bool,
    section: Section,
    syntax: Syntax,
    /// The sections before this one.
    earlier: Vec<Section>,
}

/// What a section has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Section {
    Code,
    Data,
    Debugging,
}

/// All parts of a text. The body of a macro or a repetition is assembled several times, so it gets
/// no labels.
pub(crate) fn pieces(text: &str) -> Vec<Piece<'_>> {
    let names = |line| str::trim_start(line).strip_prefix(".macro").map(str::trim_start);
    let first = |text: &'_ str| text.find([' ', '\t', ',']).unwrap_or(text.len());
    let macros = if text.contains(".macro") {
        text.lines()
            .flat_map(statements)
            .filter_map(names)
            .map(|name| &name[..first(name)])
            .collect()
    } else {
        Vec::new()
    };
    let mut reader = PieceReader {
        is_of_clang: text.contains("clang version "),
        macros,
        depth: 0,
        repeats: false,
        section: Section::Code,
        syntax: Syntax::Att,
        earlier: Vec::new(),
    };
    let mut found = Vec::new();
    let mut add = |text| found.push(Piece { kind: reader.kind(text), text });
    for line in text.lines() {
        if line.bytes().any(|byte| matches!(byte, b';' | b':')) {
            statements(line).into_iter().for_each(&mut add);
        } else {
            // Nearly all lines: those of debugging information alone are most of a file.
            add(line);
        }
    }
    found
}

impl PieceReader<'_> {
    fn kind(&mut self, statement: &str) -> Kind {
        let word = statement.split_ascii_whitespace().next().unwrap_or("");
        match word {
            ".macro" | ".rept" | ".irp" | ".irpc" => return self.body(word),
            ".endm" | ".endr" => {
                self.depth = self.depth.saturating_sub(1);
                let ends = self.depth == 0 && std::mem::take(&mut self.repeats);
                return if ends { Kind::RepeatEnd } else { Kind::Other };
            }
            _ if self.depth > 0 => return Kind::Other,
            ".pushsection" => {
                self.earlier.push(self.section);
                self.section = section(statement);
            }
            ".popsection" | ".previous" => {
                self.section = self.earlier.pop().unwrap_or(Section::Code);
            }
            ".section" => {
                self.earlier.truncate(8);
                self.earlier.push(self.section);
                self.section = section(statement);
            }
            ".text" => self.section = Section::Code,
            ".data" | ".bss" => self.section = Section::Data,
            ".loc" => return Kind::Debugging,
            ".intel_syntax" | ".att_syntax" => self.syntax = self.named_syntax(statement),
            _ => {}
        }
        match self.section {
            Section::Code => {}
            Section::Data => return Kind::Other,
            Section::Debugging => return Kind::Debugging,
        }
        match kind(statement) {
            Kind::Instruction(_) if self.macros.iter().any(|m| m.eq_ignore_ascii_case(word)) => {
                Kind::Macro
            }
            Kind::Instruction(_) => Kind::Instruction(self.syntax),
            kind => kind,
        }
    }

    fn named_syntax(&self, directive: &str) -> Syntax {
        let mut words = without_comment(directive).split_whitespace();
        match (words.next(), words.next()) {
            (Some(".att_syntax"), None | Some("prefix")) => Syntax::Att,
            (Some(".intel_syntax"), Some("noprefix")) => Syntax::Intel,
            (Some(".intel_syntax"), None) if self.is_of_clang => Syntax::Intel,
            _ => Syntax::Unread,
        }
    }

    /// The beginning of a body.
    fn body(&mut self, word: &str) -> Kind {
        self.depth += 1;
        if self.depth > 1 || word == ".macro" || self.section != Section::Code {
            return Kind::Other;
        }
        self.repeats = true;
        Kind::Repeat
    }
}

/// What a section has; code gets hooks. homenode.h puts functions that are not to be recorded into
/// a section of their own.
fn section(directive: &str) -> Section {
    let flags = directive.split('"').nth(1);
    let is_code = flags.map_or(directive.contains(".text"), |flags| flags.contains('x'));
    let name = directive.split_whitespace().nth(1).unwrap_or("");
    if is_code && !directive.contains(".homenode_unrecorded") {
        Section::Code
    } else if name.starts_with(".debug_") {
        Section::Debugging
    } else {
        Section::Data
    }
}

fn kind(statement: &str) -> Kind {
    let text = without_comment(statement).trim();
    if text.is_empty() || text.starts_with('/') || text.starts_with('.') && !text.ends_with(':') {
        return Kind::Other;
    }
    if text.ends_with(':') {
        return Kind::Label;
    }
    // An assignment of a symbol.
    if text.contains('=') && !text.contains(['(', '%', '$', '[']) {
        return Kind::Other;
    }
    Kind::Instruction(Syntax::Att)
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
        pieces(text).iter().filter(|piece| piece.is_code()).map(|piece| piece.text.trim()).collect()
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
    }

    #[test]
    fn data_and_macros_have_no_instructions() {
        let text =
            ".data\n\tnop\n.text\n\tret\n\t.section .rodata.x,\"a\"\n\tnop\n\t.previous\n\tret";
        assert_eq!(instructions(text), ["ret", "ret"]);
        let macros = ".macro m\n\tnop\n.endm\n\tm\n.rept 2\n\tnop\n.endr\n";
        let elsewhere = ".pushsection .x,\"aw\"\n\tnop\n.popsection\n\tret";
        let text = format!("{macros}{elsewhere}");
        assert_eq!(instructions(&text), ["m", ".rept 2", "ret"]);
        let kinds: Vec<Kind> = pieces(&text).iter().map(|piece| piece.kind).collect();
        assert_eq!(kinds[3..7], [Kind::Macro, Kind::Repeat, Kind::Other, Kind::RepeatEnd]);
    }

    #[test]
    fn the_syntax_is_known() {
        let text = "ret\n.intel_syntax noprefix\nret\n.att_syntax prefix\nret\n.intel_syntax\nret";
        let kinds = pieces(text).into_iter().filter(Piece::is_code).map(|piece| piece.kind);
        let wanted = [Syntax::Att, Syntax::Intel, Syntax::Att, Syntax::Unread];
        assert_eq!(kinds.collect::<Vec<_>>(), wanted.map(Kind::Instruction));
        let of_clang = ".intel_syntax\nret\n.ident \"clang version 14\"";
        assert_eq!(pieces(of_clang)[1].kind, Kind::Instruction(Syntax::Intel));
    }
}
