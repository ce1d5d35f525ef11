//! Functions of a trace by names as users write them.

use std::collections::BTreeSet;

use homenode_trace::SourceLine;

const SHOWN: usize = 6;

/// Program counters, in order, of the references of all functions with a name: the demangled one,
/// that without parameters and return type, or that without the arguments of templates, too.
///
/// # Errors
/// When there is none, with similar names.
pub(super) fn counters(name: &str, lines: &[SourceLine]) -> Result<Vec<u64>, String> {
    let named = |line: &&SourceLine| {
        let bare = without_parameters(&line.function);
        line.function == name || bare == name || without_templates(bare) == name
    };
    let counters: BTreeSet<u64> = lines.iter().filter(named).map(|line| line.pc).collect();
    if counters.is_empty() {
        return Err(missing(name, lines));
    }
    Ok(counters.into_iter().collect())
}

fn missing(name: &str, lines: &[SourceLine]) -> String {
    let names: BTreeSet<&str> = lines.iter().map(|line| line.function.as_str()).collect();
    let names = names.into_iter().filter(|name| !name.is_empty());
    let mut near: Vec<(usize, String)> = names
        .map(|function| {
            let plain = without_templates(without_parameters(function));
            (distance(&name.to_lowercase(), &plain.to_lowercase()), plain)
        })
        .collect();
    near.sort();
    near.dedup();
    near.truncate(SHOWN);
    let near: Vec<String> = near.into_iter().map(|(_, name)| name).collect();
    match near.as_slice() {
        [] => {
            "the trace names no functions; give first-thread, first-barrier or time:P%".to_owned()
        }
        near => format!("no reference is in such a function; near in name are {}", near.join(", ")),
    }
}

/// The name of a function without its parameters, what follows them, and the type it returns.
fn without_parameters(name: &str) -> &str {
    let name = name.split(" [clone").next().unwrap_or(name).trim_end();
    let end = parameters(name).unwrap_or(name.len());
    let name = &name[..end];
    // The name of an operator may have spaces and angle brackets.
    let (head, _) = name.split_at(name.find("operator").unwrap_or(name.len()));
    let mut depth = 0_usize;
    let mut start = 0;
    for (at, character) in head.char_indices() {
        match character {
            '<' | '(' | '{' | '[' => depth += 1,
            '>' | ')' | '}' | ']' => depth = depth.saturating_sub(1),
            ' ' if depth == 0 => start = at + 1,
            _ => {}
        }
    }
    &name[start..]
}

fn parameters(name: &str) -> Option<usize> {
    let last = name.rfind(')')?;
    // Only qualifiers follow it; after `(anonymous namespace)` the name continues.
    if name[last..].contains("::") {
        return None;
    }
    let mut depth = 0_usize;
    for (at, character) in name[..=last].char_indices().rev() {
        match character {
            ')' => depth += 1,
            '(' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some(at).filter(|&at| at > 0 && !name[..at].ends_with("operator"));
        }
    }
    None
}

fn without_templates(name: &str) -> String {
    let (head, operator) = name.split_at(name.find("operator").unwrap_or(name.len()));
    let mut depth = 0_usize;
    let mut plain = String::new();
    for character in head.chars() {
        match character {
            '<' => depth += 1,
            '>' => depth = depth.saturating_sub(1),
            other if depth == 0 => plain.push(other),
            _ => {}
        }
    }
    plain + operator
}

/// Distance of a name from the wanted one: 0 if one contains the other, else the number of
/// characters to insert, delete or replace in the last part of the name.
fn distance(wanted: &str, name: &str) -> usize {
    let short = wanted.len().min(name.len());
    if short > 2 && (name.contains(wanted) || wanted.contains(name)) {
        return 0;
    }
    let last = |name: &str| name.rsplit("::").next().unwrap_or(name).chars().collect::<Vec<_>>();
    let (wanted, name) = (last(wanted), last(name));
    let mut row: Vec<usize> = (0..=name.len()).collect();
    for (i, a) in wanted.iter().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], i + 1);
        for (j, b) in name.iter().enumerate() {
            let cost = diagonal + usize::from(a != b);
            diagonal = row[j + 1];
            row[j + 1] = cost.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[name.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(names: &[&str]) -> Vec<SourceLine> {
        let line = |(at, name): (usize, &&str)| SourceLine {
            pc: 10 * (at as u64 + 1),
            function: (*name).to_owned(),
            file: String::new(),
            line: 0,
        };
        names.iter().enumerate().map(line).collect()
    }

    #[test]
    fn names_lose_parameters_return_types_and_template_arguments() {
        for (name, bare, plain) in [
            ("fill", "fill", "fill"),
            (
                "shop::Table<long>::sum(int, int) const",
                "shop::Table<long>::sum",
                "shop::Table::sum",
            ),
            ("void sort<int>(int*, int (*)(int)) [clone .part.0]", "sort<int>", "sort"),
            ("(anonymous namespace)::work(int)", "(anonymous namespace)::work", "same"),
            ("(anonymous namespace)::work", "(anonymous namespace)::work", "same"),
            ("operator()", "operator()", "same"),
            (
                "main::{lambda(int)#1}::operator()(int) const",
                "main::{lambda(int)#1}::operator()",
                "same",
            ),
            ("std::ostream& operator<< <int>(std::ostream&, int)", "operator<< <int>", "same"),
        ] {
            let found = without_parameters(name);
            assert_eq!(found, bare);
            assert_eq!(without_templates(found), if plain == "same" { bare } else { plain });
        }
    }

    #[test]
    fn all_overloads_have_the_name() {
        let lines = lines(&["a::f(int)", "g", "void a::f<int>(long)", "a::f(int)"]);
        assert_eq!(counters("a::f", &lines).unwrap(), [10, 30, 40]);
        assert_eq!(counters("a::f(int)", &lines).unwrap(), [10, 40]);
        assert_eq!(counters("g", &lines).unwrap(), [20]);
    }

    #[test]
    fn similar_names_are_listed_first() {
        let found = counters("a::fil", &lines(&["main", "b::wait(int)", "b::fill()"])).unwrap_err();
        assert!(found.ends_with("near in name are b::fill, b::wait, main"), "{found}");
        let found = counters("fill", &lines(&["", ""])).unwrap_err();
        assert!(found.contains("names no functions"), "{found}");
    }
}
