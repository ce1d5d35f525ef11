//! Instructions that access memory and get no hook.

use std::fmt::Write as _;

/// Section of an object with what was left out. It is not loaded; linkers append those of all
/// objects to each other.
const SECTION: &str = ".homenode.left_out";

/// Why an instruction gets no hook.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reason {
    /// It is in a macro or repetition of the assembler.
    Macro,
    /// What it accesses is not known.
    Unknown,
    /// It is relative to a segment register whose base is not known.
    Segment,
    /// The file is not of a compiler, so hooks might change what it does.
    ByHand,
    /// The assembler refuses the file with hooks.
    Refused,
}

impl Reason {
    const ALL: [Self; 5] = [Self::Macro, Self::Unknown, Self::Segment, Self::ByHand, Self::Refused];

    /// As it is written into the section.
    fn word(self) -> &'static str {
        match self {
            Self::Macro => "macro",
            Self::Unknown => "unknown",
            Self::Segment => "segment",
            Self::ByHand => "hand-written",
            Self::Refused => "refused",
        }
    }
}

/// How many instructions were left out, by reason.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct LeftOut {
    counts: [u32; Reason::ALL.len()],
}

impl LeftOut {
    pub(crate) fn add(&mut self, reason: Reason, count: u32) {
        let index = Reason::ALL.iter().position(|&each| each == reason);
        if let Some(total) = index.and_then(|index| self.counts.get_mut(index)) {
            *total = total.saturating_add(count);
        }
    }

    /// The section, as text for the assembler: a string for each reason, as in `12 macro a.c`.
    pub(crate) fn section(&self, file: &str) -> String {
        let mut out = String::new();
        for (reason, count) in Reason::ALL.iter().zip(self.counts) {
            if count == 0 {
                continue;
            }
            if out.is_empty() {
                let _ = writeln!(out, "\t.section\t{SECTION},\"\",@progbits");
            }
            let _ = writeln!(out, "\t.asciz\t\"{count} {} {file}\"", reason.word());
        }
        out
    }
}

/// The source's name, as the compiler or the preprocessor wrote it.
pub(crate) fn source(text: &str) -> &str {
    let named = text.lines().take(16).find_map(|line| {
        let line = line.trim();
        let name = line.strip_prefix(".file")?.trim_start().strip_prefix('"')?;
        name.strip_suffix('"')
    });
    let place = || {
        let line = text.lines().take(16).find(|line| line.starts_with("# "))?;
        line.split('"').nth(1)
    };
    named.or_else(place).unwrap_or("")
}
