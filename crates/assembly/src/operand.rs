//! The text of an instruction's memory operand.

use crate::statement::{unquoted, without_comment};

/// Marks of the linker's tables of addresses and offsets, and of what it may replace by others.
const GLOBAL_TABLES: [&str; 5] = ["@GOT", "@gottpoff", "@indntpoff", "@tls", "@TLS"];

/// A memory operand as it is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct MemoryOperand<'a> {
    /// `%fs` or `%gs`, if the address is relative to one.
    pub(crate) segment: Option<&'a str>,
    /// The displacement, which may be empty.
    pub(crate) displacement: &'a str,
    /// Registers and scale in parentheses, or nothing.
    pub(crate) registers: &'a str,
}

impl<'a> MemoryOperand<'a> {
    /// Of a statement, the operand that is neither a register nor a constant.
    pub(crate) fn find(statement: &'a str) -> Option<Self> {
        operands(statement).into_iter().find_map(Self::parse)
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
        Some(Self { segment, displacement: displacement.trim(), registers })
    }

    /// Whether the stack pointer is the base.
    pub(crate) fn is_on_stack_pointer(&self) -> bool {
        self.registers.starts_with("(%rsp")
    }

    /// Whether the data are the compiler's own: literals and tables of addresses. What is relative
    /// to `%gs` is at no address that could be known: only `%fs:0` has its own.
    pub(crate) fn is_of_the_compiler(&self) -> bool {
        if self.segment == Some("%gs") {
            return true;
        }
        let name = self.displacement.trim_start_matches(['+', '-', '(']);
        let Some(local) = name.strip_prefix(".L") else {
            return GLOBAL_TABLES.iter().any(|table| name.contains(table));
        };
        let digits = |text: &str| text.starts_with(|c: char| c.is_ascii_digit());
        digits(local)
            || ["C", "CPI", "JTI"].iter().any(|start| local.strip_prefix(start).is_some_and(digits))
    }
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
            '(' | '{' => depth += 1,
            ')' | '}' => depth = depth.saturating_sub(1),
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
        MemoryOperand::find(text).map(|m| (m.segment, m.displacement, m.registers))
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
        let own = |text: &str| MemoryOperand::find(text).unwrap().is_of_the_compiler();
        assert!(own("mulsd .LC0(%rip), %xmm0") && own("mulsd .LCPI3_0(%rip), %xmm0"));
        assert!(own("jmp *.L4(,%rax,8)") && own("movq stdout@GOTPCREL(%rip), %rax"));
        assert!(own("addq x@gottpoff(%rip), %rax"));
        assert!(!own("movzbl .L.str(%rip), %eax") && !own("movl .Lswitch.table.f(,%rax,4), %eax"));
        assert!(!own("movl x(%rip), %eax"));
    }
}
