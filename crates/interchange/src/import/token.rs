//! Words and numbers of a line, with their columns.

use homenode_base::{AccessKind, Flags};

use super::parser::BadLine;
use super::threads::ThreadNumbers;

/// A word and the column of its first byte, counted from 1.
#[derive(Clone, Copy, Debug)]
pub(super) struct Token<'a> {
    pub(super) text: &'a str,
    pub(super) column: usize,
}

#[derive(Clone)]
pub(super) struct Tokens<'a> {
    line: &'a str,
    at: usize,
}

impl<'a> Tokens<'a> {
    pub(super) const fn new(line: &'a str) -> Self {
        Self { line, at: 0 }
    }

    pub(super) fn need(&mut self, what: &str) -> Result<Token<'a>, BadLine> {
        let column = self.line.len() + 1;
        self.next().ok_or_else(|| BadLine {
            column,
            expected: what.to_owned(),
            found: "the end of the line".into(),
        })
    }

    /// Everything after the blank that ended the last word.
    pub(super) fn rest(&self) -> Token<'a> {
        let start = (self.at + 1).min(self.line.len());
        Token { text: self.line.get(start..).unwrap_or(""), column: start + 1 }
    }

    pub(super) fn end(&mut self) -> Result<(), BadLine> {
        self.next().map_or(Ok(()), |word| Err(word.bad("the end of the line")))
    }
}

impl<'a> Iterator for Tokens<'a> {
    type Item = Token<'a>;

    fn next(&mut self) -> Option<Token<'a>> {
        let bytes = self.line.as_bytes();
        let blank = |byte: &u8| matches!(byte, b' ' | b'\t');
        let start = self.at + bytes[self.at..].iter().position(|byte| !blank(byte))?;
        let length = bytes[start..].iter().position(blank).unwrap_or(bytes.len() - start);
        self.at = start + length;
        Some(Token { text: &self.line[start..self.at], column: start + 1 })
    }
}

/// Errors show at most this many bytes of a word.
const SHOWN_BYTES: usize = 40;

impl<'a> Token<'a> {
    /// The error that `expected` is missing here.
    pub(super) fn bad(&self, expected: &str) -> BadLine {
        let cut = self.text.char_indices().map(|(i, _)| i).find(|&i| i >= SHOWN_BYTES);
        let found = match cut {
            Some(cut) => format!("{:?}...", &self.text[..cut]),
            None => format!("{:?}", self.text),
        };
        BadLine { column: self.column, expected: expected.to_owned(), found }
    }

    /// The part from byte `from` on.
    pub(super) fn skip(&self, from: usize) -> Self {
        Self { text: &self.text[from..], column: self.column + from }
    }

    pub(super) fn split(&self, mark: char) -> Option<(&'a str, Self)> {
        let at = self.text.find(mark)?;
        Some((&self.text[..at], Self { text: &self.text[at + 1..], column: self.column + at + 1 }))
    }

    pub(super) fn before(&self, mark: char) -> Self {
        Self { text: self.text.split(mark).next().unwrap_or(""), column: self.column }
    }

    pub(super) fn number(&self, what: &str) -> Result<u64, BadLine> {
        if self.text.starts_with("0x") || self.text.starts_with("0X") {
            self.hex(what)
        } else {
            self.decimal(what)
        }
    }

    pub(super) fn decimal<T: TryFrom<u64>>(&self, what: &str) -> Result<T, BadLine> {
        let digits = !self.text.is_empty() && self.text.bytes().all(|byte| byte.is_ascii_digit());
        let value = if digits { self.text.parse::<u64>().ok() } else { None };
        value.and_then(|value| T::try_from(value).ok()).ok_or_else(|| self.bad(what))
    }

    /// A hexadecimal number, with or without `0x`.
    pub(super) fn hex(&self, what: &str) -> Result<u64, BadLine> {
        let digits = self.text.strip_prefix("0x").or_else(|| self.text.strip_prefix("0X"));
        let digits = digits.unwrap_or(self.text);
        // from_str_radix would accept a sign.
        if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Err(self.bad(what));
        }
        u64::from_str_radix(digits, 16).map_err(|_| self.bad(what))
    }

    /// The number that a thread has in the trace.
    pub(super) fn thread(&self, threads: &mut ThreadNumbers) -> Result<u16, BadLine> {
        let what = "the number of a thread";
        threads.number(self.decimal(what)?).ok_or_else(|| self.bad("at most 65535 threads"))
    }

    pub(super) fn size(&self) -> Result<u8, BadLine> {
        let what = "a size from 1 to 64 bytes";
        let size = self.decimal(what)?;
        if (1..=64).contains(&size) { Ok(size) } else { Err(self.bad(what)) }
    }

    /// The kind of a reference: a letter, a word or its code.
    pub(super) fn kind(&self) -> Result<AccessKind, BadLine> {
        Ok(match self.text {
            "R" | "r" | "0" | "read" => AccessKind::Read,
            "W" | "w" | "1" | "write" => AccessKind::Write,
            "A" | "a" | "2" | "atomic" => AccessKind::Atomic,
            "I" | "i" | "3" | "fetch" => AccessKind::Fetch,
            _ => return Err(self.bad("R, W, A or I")),
        })
    }

    pub(super) fn flags(&self) -> Result<Flags, BadLine> {
        let what =
            "flags (private, sync, kernel, transfer, joined by commas) or a number from 0 to 15";
        if self.text.starts_with(|c: char| c.is_ascii_digit()) {
            let bits = self.decimal(what)?;
            return if bits & !Flags::ALL.0 == 0 { Ok(Flags(bits)) } else { Err(self.bad(what)) };
        }
        self.text.split([',', '+']).try_fold(Flags(0), |flags, name| {
            Ok(flags.union(match name {
                "private" => Flags::PRIVATE,
                "sync" => Flags::SYNC,
                "kernel" => Flags::KERNEL,
                "transfer" => Flags::TRANSFER,
                _ => return Err(self.bad(what)),
            }))
        })
    }
}
