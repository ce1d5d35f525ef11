//! The text of an assembly file.

use std::borrow::Cow;
use std::io::{self, BufRead};

use crate::statement::without_long_comments;

/// What a comment of gcc's has when it says something of use; all others are dropped when the file
/// is read, because they are nine tenths of it.
const FACTS: [&[u8]; 5] = [b"%sfp", b"UNSPEC", b"[-1 ", b"*/", b"/*"];

/// Those about an atomic access or a fence.
const ORDER: [&[u8]; 2] = [b"[-1 ", b"UNSPEC_MEMORY_BLOCKAGE"];

/// An assembly file.
#[derive(Clone, Debug)]
pub struct Assembly {
    text: String,
    /// Whether characters stand for bytes, because the file is not in UTF-8.
    is_latin: bool,
}

impl Assembly {
    /// Reads a file.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn read(mut source: impl BufRead) -> io::Result<Self> {
        let (mut kept, mut line) = (Vec::new(), Vec::new());
        let mut comments = Comments::default();
        while source.read_until(b'\n', &mut line)? != 0 {
            if !line.starts_with(b"#") || is_place(&line) {
                kept.extend_from_slice(&line);
                comments.forget();
            } else {
                comments.keep(&line, &mut kept);
            }
            line.clear();
        }
        let (text, is_latin) = match String::from_utf8(kept) {
            Ok(text) => (text, false),
            Err(error) => (error.as_bytes().iter().map(|&byte| char::from(byte)).collect(), true),
        };
        let text = match without_long_comments(&text) {
            Cow::Owned(shorter) => shorter,
            Cow::Borrowed(_) => text,
        };
        Ok(Self { text, is_latin })
    }

    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// The bytes of a part of the text.
    pub(crate) fn encoded<'a>(&self, text: &'a str) -> Cow<'a, [u8]> {
        if self.is_latin {
            text.chars().map(|c| u8::try_from(u32::from(c)).unwrap_or(b'?')).collect()
        } else {
            text.as_bytes().into()
        }
    }

    /// Whether a compiler wrote the file: it begins by naming the source, after at most two other
    /// directives.
    #[must_use]
    pub fn is_of_a_compiler(&self) -> bool {
        let is_name = |line: &str| {
            let rest = line.trim_start().strip_prefix(".file");
            rest.is_some_and(|rest| rest.trim_start().starts_with('"'))
        };
        self.text.lines().filter(|line| !line.trim().is_empty()).take(3).any(is_name)
    }
}

/// Comments since the last instruction, of which those with facts are kept.
#[derive(Default)]
struct Comments {
    /// The first line about an instruction, which has gcc's number of it.
    first: Vec<u8>,
    /// The last line, if it was dropped.
    previous: Vec<u8>,
    /// Whether the instruction orders accesses, or may be ordered.
    is_ordered: bool,
}

impl Comments {
    fn forget(&mut self) {
        self.first.clear();
        self.previous.clear();
        self.is_ordered = false;
    }

    fn keep(&mut self, line: &[u8], kept: &mut Vec<u8>) {
        if line.starts_with(b"#(") {
            self.forget();
            self.first.extend_from_slice(line);
        }
        if has(line, &FACTS) {
            // An access and its fence are matched by their numbers and places in the source.
            if !self.is_ordered && has(line, &ORDER) && !line.starts_with(b"#(") {
                kept.append(&mut self.first);
            }
            self.is_ordered |= has(line, &ORDER);
            // The line before an atomic update has its order.
            kept.append(&mut self.previous);
            kept.extend_from_slice(line);
        } else if self.is_ordered && has(line, &[b"\":"]) {
            kept.extend_from_slice(line);
        } else if !line.starts_with(b"#(") {
            self.previous.clear();
            self.previous.extend_from_slice(line);
        }
    }
}

/// Whether a comment names a place in a source, for the messages of the assembler.
fn is_place(line: &[u8]) -> bool {
    matches!(line, [b'#', b' ', b'0'..=b'9', ..])
}

fn has(line: &[u8], words: &[&[u8]]) -> bool {
    let may_begin = |byte: u8| matches!(byte, b'%' | b'U' | b'[' | b'*' | b'/' | b'"');
    line.iter()
        .enumerate()
        .any(|(at, &byte)| may_begin(byte) && words.iter().any(|word| line[at..].starts_with(word)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_comments_with_facts_are_kept() {
        let text =
            "# 3 \"a.c\" 1\n#(insn 5\n#  (const_int 0)\n#  ] UNSPECV_XCHG\n#APP\n\tnop # x\n";
        let read = Assembly::read(text.as_bytes()).unwrap();
        let wanted = "# 3 \"a.c\" 1\n#  (const_int 0)\n#  ] UNSPECV_XCHG\n\tnop # x\n";
        assert_eq!(read.text(), wanted);
    }

    #[test]
    fn an_atomic_access_keeps_its_number_and_place() {
        let text = "#(insn 12 8 13 2 (set (reg:SI 1 dx)\n#  (mem/v:SI x [-1  S4]))\n#   (nil)\n\
                    #  (use x)) \"a.c\":5:9 81 {*mov}\n\tnop\n#(insn 13 12 9 2 (set (reg:SI 0 ax)\n\
                    #  (mem:SI x [1  S4])) \"a.c\":6:9 81 {*mov}\n\tnop\n";
        let wanted = "#(insn 12 8 13 2 (set (reg:SI 1 dx)\n#  (mem/v:SI x [-1  S4]))\n\
                      #  (use x)) \"a.c\":5:9 81 {*mov}\n\tnop\n\tnop\n";
        assert_eq!(Assembly::read(text.as_bytes()).unwrap().text(), wanted);
    }

    #[test]
    fn bytes_that_are_no_text_are_kept() {
        let bytes = b"\t.string \"\xe9\xff\"\n";
        let read = Assembly::read(&bytes[..]).unwrap();
        assert_eq!(&*read.encoded(read.text()), bytes);
    }

    #[test]
    fn a_compiler_names_its_source_first() {
        let of_a_compiler =
            |text: &str| Assembly::read(text.as_bytes()).unwrap().is_of_a_compiler();
        assert!(of_a_compiler("\t.text\n\t.file\t\"a.c\"\n") && !of_a_compiler("f:\n\tret\n"));
    }
}
