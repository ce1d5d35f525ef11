//! Wording of advice: lists of threads, sizes, names in code.

use homenode_analysis::{Object, ObjectKind};
use homenode_base::ProcId;

use crate::objects::DataObject;
use crate::survey::UseSurvey;

/// `thread 3`, `threads 0-7`, `threads 0, 2-4`, or their number if the list would be long;
/// processors instead of threads if several threads run on one.
#[must_use]
pub fn users(survey: &UseSurvey, list: &[ProcId]) -> String {
    listed(user(survey), list)
}

/// What users are: threads, or processors where several threads run on one.
#[must_use]
pub fn user(survey: &UseSurvey) -> &'static str {
    if survey.has_threads_of_their_own() { "thread" } else { "processor" }
}

fn listed(noun: &str, list: &[ProcId]) -> String {
    let mut ranges: Vec<(ProcId, ProcId)> = Vec::new();
    for &user in list {
        match ranges.last_mut() {
            Some((_, last)) if *last + 1 == user => *last = user,
            Some(_) | None => ranges.push((user, user)),
        }
    }
    if ranges.len() > 4 {
        return format!("{} {noun}s", list.len());
    }
    let one = |&(first, last): &(ProcId, ProcId)| {
        if first == last { first.to_string() } else { format!("{first}-{last}") }
    };
    let several = if list.len() == 1 { "" } else { "s" };
    format!("{noun}{several} {}", ranges.iter().map(one).collect::<Vec<_>>().join(", "))
}

pub(crate) fn code_name(object: &DataObject) -> String {
    match &object.identity {
        Some(Object { kind: ObjectKind::Static, name, .. }) if !name.is_empty() => name.clone(),
        Some(_) | None => "x".to_owned(),
    }
}

pub(crate) fn is_heap(object: &DataObject) -> bool {
    object.identity.as_ref().is_some_and(|object| object.kind == ObjectKind::Heap)
}

/// The word for the parts of an object that has several.
pub(crate) fn pieces(object: &DataObject) -> &'static str {
    if is_heap(object) { "heap blocks" } else { "pieces" }
}

/// Bytes from one to another of an object: `8-11`, or `8`.
pub(crate) fn byte_range(first: u64, last: u64) -> String {
    if first == last { first.to_string() } else { format!("{first}-{last}") }
}

/// A size in words: `64-byte`, `4 KB`.
pub(crate) fn size(bytes: u64) -> String {
    match bytes {
        1 => "1 byte".to_owned(),
        0..1024 => format!("{bytes} bytes"),
        _ if bytes.is_multiple_of(1 << 20) => format!("{} MB", bytes >> 20),
        _ if bytes.is_multiple_of(1 << 10) => format!("{} KB", bytes >> 10),
        _ => format!("{bytes} bytes"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn users_are_listed_as_people_do() {
        assert_eq!(listed("thread", &[3]), "thread 3");
        assert_eq!(listed("thread", &[0, 1, 2, 7]), "threads 0-2, 7");
        assert_eq!(listed("processor", &[0, 2, 4, 6, 8]), "5 processors");
    }
}
