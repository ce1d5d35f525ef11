//! What of a program accesses memory and has no hook, in words.

use std::collections::BTreeMap;

use homenode_symbol::Unhooked;

/// Limit of the sources that are named for each reason.
const FILES_NAMED: usize = 3;

/// For each reason how many instructions there are, and in which sources most of them.
pub fn described<'a>(all: impl Iterator<Item = &'a Unhooked>) -> Vec<String> {
    let mut reasons: BTreeMap<&str, BTreeMap<&str, u64>> = BTreeMap::new();
    for one in all {
        let files = reasons.entry(reason(&one.reason)).or_default();
        let count = files.entry(&one.file).or_default();
        *count = count.saturating_add(one.instructions);
    }
    reasons.into_iter().map(|(reason, files)| text(reason, &files)).collect()
}

fn text(reason: &str, files: &BTreeMap<&str, u64>) -> String {
    let total = files.values().fold(0u64, |sum, &count| sum.saturating_add(count));
    let mut largest: Vec<(&str, u64)> = files.iter().map(|(&file, &count)| (file, count)).collect();
    largest.sort_by_key(|&(file, count)| (std::cmp::Reverse(count), file));
    let more = largest.len().saturating_sub(FILES_NAMED);
    largest.truncate(FILES_NAMED);
    let named: Vec<&str> = largest.into_iter().map(|(file, _)| file).collect();
    let more = if more == 0 { String::new() } else { format!(" and {more} more") };
    let noun = if total == 1 { "instruction" } else { "instructions" };
    format!("{total} {noun} {reason} ({}{more})", named.join(", "))
}

/// The words for what the compiler wrapper wrote.
fn reason(word: &str) -> &str {
    match word {
        "macro" => "in macros of the assembler",
        "unknown" => "whose access is not known",
        "segment" => "relative to %gs",
        "hand-written" => "in hand-written assembly",
        "refused" => "in files that the assembler refuses with hooks",
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_have_totals_and_the_files_with_most() {
        let one = |reason: &str, file: &str, instructions| Unhooked {
            reason: reason.to_owned(),
            file: file.to_owned(),
            instructions,
        };
        let all = [
            one("macro", "a.c", 1),
            one("hand-written", "a.S", 3),
            one("hand-written", "b.S", 7),
            one("hand-written", "c.S", 5),
            one("hand-written", "d.S", u64::MAX),
        ];
        let max = u64::MAX;
        assert_eq!(
            described(all.iter()),
            [
                format!("{max} instructions in hand-written assembly (d.S, b.S, c.S and 1 more)"),
                "1 instruction in macros of the assembler (a.c)".to_owned(),
            ]
        );
    }
}
