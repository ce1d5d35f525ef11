//! Files that describe no trace: one error, with the key, its value and what to change.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use homenode_servers::{Plan, ServersError, Statistics, find, write};
use proptest::prelude::*;

use crate::measured::references as read;
use crate::small::{Made, SMALL};

/// The error of the small workload with one line replaced in its first group, or elsewhere.
fn error(old: &str, new: &str) -> String {
    assert!(SMALL.contains(old), "{old}");
    let text = SMALL.replacen(old, new, 1);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.hnt");
    let go_on = &mut |_, _| ControlFlow::Continue(());
    let made = Statistics::parse(&text, "small.toml")
        .and_then(|statistics| write(&statistics, "small.toml", &path, go_on));
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "{new}");
    made.unwrap_err().to_string()
}

/// A line, what takes its place, and parts of the error.
const IMPOSSIBLE: &[(&str, &str, [&str; 3])] = &[
    (
        "shared_blocks = 40\nshared_access",
        "shared_blocks = 4000\nshared_access",
        ["\"web\": shared_blocks = 4000", "distinct_blocks = 1200", "lower shared_blocks"],
    ),
    ("data = 26", "data = 27", ["\"web\": code = 74", "does not add up to 100", "correct"]),
    ("data_write = 7", "data_write = 27", ["data_write = 27", "data = 26", "raise data"]),
    ("shared_write = 0.7", "shared_write = 2.5", ["= 2.5", "shared_access = 2", "lower"]),
    ("shared_access = 2", "shared_access = 0", ["shared_write = 0.7", "= 0,", "lower"]),
    ("processes = 4", "processes = 1", ["shared_blocks = 40", "one process", "set it to 0"]),
    ("references = 50", "references = 55", ["references = 105", "add up to 100", "correct"]),
    ("references = 50\n", "", ["references = none", "missing", "for all groups"]),
    ("references = 50", "references = nan", ["references = NaN", "percentage", "0 to 100"]),
    (
        "distinct_blocks = 1200",
        "distinct_blocks = 240",
        ["distinct_blocks = 240", "fewer than one private block", "raise it"],
    ),
    (
        "kernel = 30",
        "kernel = 100",
        ["code_blocks = 150", "too few to touch", "raise trace.references"],
    ),
    ("kernel = 30", "kernel = 3", ["kernel = 3", "shared data", "change kernel"]),
    (
        "kernel_shared_access = 100",
        "kernel_shared_access = 90",
        ["kernel_shared_access = 90", "40 are the kernel's", "set it to 100"],
    ),
    (
        "kernel_shared_blocks = 40",
        "kernel_shared_blocks = 41",
        ["kernel_shared_blocks = 41", "shared_blocks = 40", "lower it"],
    ),
    (
        "shared_blocks = 40\npriv",
        "shared_blocks = 41\npriv",
        ["kernel.shared_blocks = 41", "no group", "lower it"],
    ),
    (
        "private_blocks = 101",
        "private_blocks = 6",
        ["kernel.private_blocks = 6", "out of range", "from 7"],
    ),
    ("references = 600_000", "references = 3", ["trace.references = 3", "8 processes", "raise it"]),
    (
        "references = 600_000",
        "references = 6000",
        ["too few to touch", "group", "raise trace.references"],
    ),
    (
        "block_bytes = 32",
        "block_bytes = 48",
        ["trace.block_bytes = 48", "size", "a power of two from 4"],
    ),
    ("code_zipf = 0.8", "code_zipf = inf", ["locality.code_zipf = inf", "range", "0 to 4"]),
    ("accesses = 6", "accesses = 0", ["sessions.accesses = 0", "range", "from 1"]),
    ("name = \"data base\"", "name = \"web\"", ["\"web\"", "no other one has", "another name"]),
];

#[test]
fn impossible_values_name_the_key_the_value_and_a_remedy() {
    for &(old, new, parts) in IMPOSSIBLE {
        let said = error(old, new);
        assert!(said.starts_with("statistics small.toml: "), "{said}");
        for part in parts {
            assert!(said.contains(part), "{new}: {said}");
        }
        assert!(!said.contains('\n'), "{said}");
    }
}

#[test]
fn unknown_and_missing_keys_are_errors_with_their_line() {
    let said = error("data_write = 7", "data_writes = 7");
    assert!(said.contains("line 37: unknown field `data_writes`"), "{said}");
    assert!(error("seed = 7\n", "").contains("missing field `seed`"));
    assert!(error("seed = 7", "seed = -7").contains("line 10: invalid value: integer `-7`"));
    let said = error("data = 26", "data = { value = 26, table = 3 }");
    assert!(said.contains("line 36: invalid type: map"), "{said}");
    assert!(error("geometric", "normal").contains("unknown variant `normal`"));
}

#[test]
fn a_name_that_is_no_preset_and_no_file_lists_the_presets() {
    let unknown = find("foglia", &[]).unwrap_err();
    assert!(unknown.to_string().contains("foglia-ec, foglia-db, foglia-web"), "{unknown}");
    assert!(matches!(find("absent.toml", &[]), Err(ServersError::Io { .. })));
    assert_eq!(find("foglia-db", &[]).unwrap().name, "foglia-db");
}

#[test]
fn values_of_a_file_are_changed_by_their_keys() {
    let set = |key: &str, value: &str| {
        let changes = [("trace.seed".into(), "9".into()), (key.to_owned(), value.to_owned())];
        Statistics::parse_with(SMALL, "small.toml", &changes)
    };
    let changed = set("group.data base.code", "71").unwrap();
    assert_eq!((changed.trace.seed, changed.groups[1].code), (9, 71.0));
    assert_eq!(set("sessions.accesses", "24").unwrap().sessions.accesses, 24.0);
    for (key, value, said) in [
        ("sessions.length", "24", "there is no \"length\"; there are accesses"),
        ("group.web server.code", "71", "there is no group \"web server\""),
        ("group.web", "71", "name a group"),
        ("sessions", "71", "is a table"),
        ("trace.seed.x", "71", "is a value"),
        ("sessions.accesses", "many", "small.toml: sessions.accesses = many: "),
        ("sessions.accesses", "\"many\"", "invalid type: string"),
        ("trace.seed", "-1", "trace.seed = -1: invalid value"),
    ] {
        let found = set(key, value).unwrap_err().to_string();
        assert!(found.contains(said) && found.ends_with("that the file has"), "{found}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 64,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    /// Whatever the numbers: an error, or a trace that touches every block that was planned.
    #[test]
    fn any_numbers_give_an_error_or_the_trace_they_describe(
        references in 1_u64..60_000,
        processes in 1_u64..9,
        blocks in (0_u64..300, 0_u64..60, 0_u64..60),
        shares in (0_u32..=100, 0_u32..=40, 0_u32..=10, 0_u32..=10),
        (kernel, kernel_shared) in (0_u32..=100, 0_u32..=100),
        accesses in 1_u64..40,
    ) {
        let (distinct, code_blocks, shared) = blocks;
        let (code, write, shared_access, shared_write) = shares;
        let text = SMALL
            .split("[[group]]")
            .next()
            .unwrap()
            .replace("references = 600_000", &format!("references = {references}"))
            .replace("shared_blocks = 40", &format!("shared_blocks = {shared}"))
            .replace("accesses = 6", &format!("accesses = {accesses}"));
        let text = format!(
            "{text}[[group]]\nname = \"all\"\nprocesses = {processes}\n\
             distinct_blocks = {distinct}\ncode_blocks = {code_blocks}\ncode = {code}\n\
             data = {}\ndata_write = {write}\nshared_blocks = {shared}\n\
             shared_access = {shared_access}\nshared_write = {shared_write}\nkernel = {kernel}\n\
             kernel_shared_blocks = {shared}\nkernel_shared_access = {kernel_shared}\n",
            100 - code,
        );
        let statistics = Statistics::parse(&text, "any.toml").unwrap();
        let planned = Plan::new(&statistics, "any.toml");
        match Made::of(&statistics) {
            Err(error) => prop_assert!(!error.to_string().contains('\n')),
            Ok(made) => {
                let planned = planned.unwrap();
                let blocks: BTreeSet<u64> =
                    read(&made).iter().map(|access| access.addr / 32).collect();
                prop_assert_eq!(made.summary.rows, planned.references);
                prop_assert_eq!(blocks.len() as u64, planned.distinct_blocks);
            }
        }
    }
}

#[test]
fn extreme_but_possible_workloads_have_traces() {
    for (old, new) in [
        ("turn_references = 100", "turn_references = 1000000"),
        ("accesses = 6", "accesses = 1000000000"),
        ("run_words = 4", "run_words = 1000000000"),
        ("loop_rounds = 5", "loop_rounds = 1000000000"),
        ("own_words = 30", "own_words = 100"),
        ("block_bytes = 32", "block_bytes = 4"),
    ] {
        let text = SMALL.replacen(old, new, 1);
        let statistics = Statistics::parse(&text, "small.toml").unwrap();
        assert_eq!(Made::new(&statistics).summary.rows, 600_000, "{new}");
    }
}
