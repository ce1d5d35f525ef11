//! The text of an instruction's memory operand.

use crate::statement::{Syntax, unquoted, without_comment};

/// Marks of the linker's tables of addresses and offsets, and of what it may replace by others.
const GLOBAL_TABLES: [&str; 5] = ["@GOT", "@gottpoff", "@indntpoff", "@tls", "@TLS"];

/// A memory operand as it is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct MemoryOperand<'a> {
    /// `%fs` or `%gs`, if the address is relative to one.
    pub(crate) segment: Option<&'a str>,
    /// The displacement, which may be empty.
    pub(crate) displacement: &'a str,
    /// Registers and scale in parentheses, or nothing. In Intel syntax they are in the
    /// displacement.
    pub(crate) registers: &'a str,
    pub(crate) syntax: Syntax,
}

impl<'a> MemoryOperand<'a> {
    /// Of a statement, the operand that is neither a register nor a constant.
    pub(crate) fn find(statement: &'a str, syntax: Syntax) -> Option<Self> {
        let parse = match syntax {
            Syntax::Att => Self::parse,
            Syntax::Intel => Self::parse_intel,
            Syntax::Unread => return None,
        };
        operands(statement).into_iter().find_map(parse)
    }

    fn parse_intel(operand: &'a str) -> Option<Self> {
        let text = operand.trim();
        let text = text.find('{').map_or(text, |at| text[..at].trim_end());
        // A call has brackets around everything.
        let text = match text.strip_prefix('[').and_then(|inner| inner.strip_suffix(']')) {
            Some(inner) if after_size(inner).is_some() => inner.trim(),
            _ => text,
        };
        let sized = after_size(text);
        let text = sized.unwrap_or(text);
        let segment = [("fs:", "%fs"), ("gs:", "%gs")].into_iter().find_map(|(name, register)| {
            text.get(..3).filter(|start| start.eq_ignore_ascii_case(name)).map(|_| register)
        });
        if sized.is_none() && segment.is_none() && !text.contains('[') {
            return None;
        }
        let displacement = if segment.is_some() { &text[3..] } else { text };
        Some(Self { segment, displacement, registers: "", syntax: Syntax::Intel })
    }

    fn parse(operand: &'a str) -> Option<Self> {
        let text = operand.trim().trim_start_matches('*').trim();
        // Rounding, masks and broadcasts of vectors.
        let text = text.find('{').map_or(text, |at| text[..at].trim_end());
        let (segment, rest) = match text.split_once(':') {
            Some((segment, rest)) if segment.starts_with('%') => (Some(segment), rest),
            _ => (None, text),
        };
        if rest.is_empty() || rest.starts_with(['%', '$']) {
            return None;
        }
        // An expression may begin with a parenthesis; registers are in the last one.
        let open = rest.rfind('(').filter(|&at| rest[at..].contains('%'));
        let (displacement, registers) = open.map_or((rest, ""), |at| rest.split_at(at));
        Some(Self { segment, displacement: displacement.trim(), registers, syntax: Syntax::Att })
    }

    /// Whether the data are the compiler's own: literals and tables of addresses.
    pub(crate) fn is_of_the_compiler(&self) -> bool {
        let is_part = |c: char| c.is_alphanumeric() || matches!(c, '.' | '_' | '$' | '@');
        let mut names = self.displacement.split(|c| !is_part(c));
        match self.syntax {
            Syntax::Intel => names.any(is_own),
            Syntax::Att | Syntax::Unread => names.find(|name| !name.is_empty()).is_some_and(is_own),
        }
    }
}

/// What follows the size of an operand, as in `dword ptr [rax]`.
fn after_size(operand: &str) -> Option<&str> {
    let (_, rest) = operand.split_once(char::is_whitespace)?;
    let rest = rest.trim_start();
    let is_mark = rest.get(..4)?.eq_ignore_ascii_case("ptr ");
    is_mark.then(|| rest[4..].trim_start())
}

/// Whether a symbol is the compiler's.
fn is_own(name: &str) -> bool {
    let Some(local) = name.strip_prefix(".L") else {
        return GLOBAL_TABLES.iter().any(|table| name.contains(table));
    };
    let digits = |text: &str| text.starts_with(|c: char| c.is_ascii_digit());
    digits(local)
        || ["C", "CPI", "JTI"].iter().any(|start| local.strip_prefix(start).is_some_and(digits))
}

/// The operands of a statement, without mnemonic, prefixes and comment.
fn operands(statement: &str) -> Vec<&str> {
    let mut rest = without_comment(statement).trim();
    let mut mnemonic = true;
    while mnemonic {
        let (word, after) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
        rest = after.trim_start();
        mnemonic = is_prefix(word) && !rest.is_empty();
    }
    let mut found = Vec::new();
    let (mut depth, mut start) = (0usize, 0);
    for (at, c) in unquoted(rest) {
        match c {
            '(' | '{' | '[' => depth += 1,
            ')' | '}' | ']' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                found.push(&rest[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    found.push(&rest[start..]);
    found
}

fn is_prefix(word: &str) -> bool {
    matches!(
        word,
        "lock"
            | "rep"
            | "repe"
            | "repz"
            | "repne"
            | "repnz"
            | "notrack"
            | "bnd"
            | "data16"
            | "cs"
            | "ds"
            | "es"
            | "ss"
            | "fs"
            | "gs"
            | "xacquire"
            | "xrelease"
            | "addr32"
            | "rex64"
            | "rex.W"
            | "{vex}"
            | "{evex}"
            | "{vex3}"
            | "{disp32}"
            | "{disp8}"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Option<(Option<&str>, &str, &str)> {
        MemoryOperand::find(text, Syntax::Att).map(|m| (m.segment, m.displacement, m.registers))
    }

    #[test]
    fn operands_are_found_in_every_form() {
        assert_eq!(found("\tmovl\t8(%rax,%rcx,4), %edx"), Some((None, "8", "(%rax,%rcx,4)")));
        assert_eq!(found("\tmovl\t$1, flag(%rip)\t# 17"), Some((None, "flag", "(%rip)")));
        assert_eq!(found("lock addq $3, big+8(%rip)"), Some((None, "big+8", "(%rip)")));
        assert_eq!(found("movq %fs:x@tpoff, %rax"), Some((Some("%fs"), "x@tpoff", "")));
        assert_eq!(found("call *16(%rax)"), Some((None, "16", "(%rax)")));
        assert_eq!(found("movl tab(,%rax,4), %eax"), Some((None, "tab", "(,%rax,4)")));
        assert_eq!(found("movl %eax, %ebx"), None);
        assert_eq!(found("movl -(4+8)(%rsp), %ebx"), Some((None, "-(4+8)", "(%rsp)")));
        assert_eq!(found("vaddps (%rax){1to8}, %ymm0, %ymm1"), Some((None, "", "(%rax)")));
    }

    #[test]
    fn literals_and_tables_of_the_compiler_are_told_from_data() {
        let own = |text: &str| MemoryOperand::find(text, Syntax::Att).unwrap().is_of_the_compiler();
        assert!(own("mulsd .LC0(%rip), %xmm0") && own("mulsd .LCPI3_0(%rip), %xmm0"));
        assert!(own("jmp *.L4(,%rax,8)") && own("movq stdout@GOTPCREL(%rip), %rax"));
        assert!(own("addq x@gottpoff(%rip), %rax"));
        assert!(!own("movzbl .L.str(%rip), %eax") && !own("movl .Lswitch.table.f(,%rax,4), %eax"));
        assert!(!own("movl x(%rip), %eax"));
    }

    #[test]
    fn operands_in_intel_syntax_are_found() {
        let found = |text| MemoryOperand::find(text, Syntax::Intel);
        let text = |text| found(text).map(|m| (m.segment, m.displacement));
        assert_eq!(text("mov eax, dword ptr [rcx+4]"), Some((None, "[rcx+4]")));
        assert_eq!(text("mov\tDWORD PTR g[0+rax*4], 5"), Some((None, "g[0+rax*4]")));
        assert_eq!(text("call\t[QWORD PTR 16[rax]]"), Some((None, "16[rax]")));
        assert_eq!(text("mov rax, QWORD PTR fs:40"), Some((Some("%fs"), "40")));
        assert_eq!(text("mov eax, [rsp]"), Some((None, "[rsp]")));
        assert_eq!(text("mov eax, OFFSET FLAT:x"), None);
        let own = |text| found(text).unwrap().is_of_the_compiler();
        assert!(own("mulsd xmm0, QWORD PTR .LC0[rip]") && own("mov rax, [rip + .LCPI3_0]"));
        assert!(own("mov rax, QWORD PTR x@GOTPCREL[rip]") && !own("mov rax, [rip + x]"));
    }
}
