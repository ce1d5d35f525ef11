//! A policy, a bus protocol, a machine and an import format are added to the tree as one file and
//! at most two lines each, and a kind of machine as one crate, one entry and one page: a copy of
//! the tree with one more of each builds, passes the tests that loop over the tables, and lists
//! them in its documentation.
#![allow(clippy::unwrap_used, reason = "helpers of tests are tests")]

use std::path::{Path, PathBuf};
use std::process::Command;

/// An added entry.
struct Addition {
    /// The file in `testdata/extending`.
    template: &'static str,
    /// Its destination.
    file: &'static str,
    /// The file with the table, and the first line of the table.
    table: (&'static str, &'static str),
    /// The lines inserted at the end of the table, and before the first module.
    lines: (&'static str, Option<&'static str>),
    /// A page of the documentation, and its new text.
    page: (&'static str, &'static str),
}

const ADDITIONS: [Addition; 4] = [
    Addition {
        template: "policy.rs",
        file: "crates/placement/src/policy/one_home.rs",
        table: ("crates/placement/src/policy/mod.rs", "pub const TABLE: &[Entry] = &["),
        lines: ("one_home::ENTRY,", Some("mod one_home;")),
        page: ("placement.md", "| `one-home` |"),
    },
    Addition {
        template: "protocol.rs",
        file: "crates/snoop/src/protocol/msi.rs",
        table: ("crates/snoop/src/protocol/mod.rs", "pub const TABLE: &[Entry] ="),
        lines: ("msi::ENTRY,", Some("mod msi;")),
        page: ("protocols.md", "## MSI"),
    },
    Addition {
        template: "machine.toml",
        file: "machines/slow-numa.toml",
        table: ("crates/machine/src/table.rs", "pub const TABLE: &[Preset] = &["),
        lines: ("preset!(\"slow-numa\"),", None),
        page: ("machines.md", "| `slow-numa` |"),
    },
    Addition {
        template: "import.rs",
        file: "crates/interchange/src/import/addresses.rs",
        table: ("crates/interchange/src/import/mod.rs", "pub const TABLE: &[Entry] = &["),
        lines: ("addresses::ENTRY,", Some("mod addresses;")),
        page: ("trace-format.md", "| `addresses` |"),
    },
];

/// The files of a new kind of machine, an engine with one price: one crate, one entry, one page,
/// and a machine of the kind. Templates in `testdata/extending/kind`, and their destinations.
const KIND: [(&str, &str); 5] = [
    ("Cargo.toml", "crates/flat/Cargo.toml"),
    ("lib.rs", "crates/flat/src/lib.rs"),
    ("entry.rs", "crates/sim/src/flat.rs"),
    ("machine.toml", "machines/flat.toml"),
    ("page.md", "docs/flat.md"),
];

/// A line that names one of these files, or the kind.
struct Insertion {
    file: &'static str,
    /// The text behind which it is inserted.
    after: &'static str,
    line: &'static str,
}

const INSERTIONS: [Insertion; 8] = [
    Insertion {
        file: "Cargo.toml",
        after: "[workspace.dependencies]\n",
        line: "homenode-flat = { path = \"crates/flat\" }\n",
    },
    Insertion {
        file: "crates/sim/Cargo.toml",
        after: "[dependencies]\n",
        line: "homenode-flat.workspace = true\n",
    },
    Insertion { file: "crates/sim/src/lib.rs", after: "mod explain;\n", line: "mod flat;\n" },
    Insertion {
        file: "crates/sim/src/engines.rs",
        after: "&[placement::ENGINE, bus::ENGINE, directory::ENGINE",
        line: ", crate::flat::ENGINE",
    },
    Insertion {
        file: "crates/machine/src/kind.rs",
        after: "\n    Controllers,\n",
        line: "    /// Every reference takes the same time.\n    Flat,\n",
    },
    Insertion {
        file: "crates/machine/src/kind.rs",
        after: "        example: \"alite\",\n    },\n",
        line: "    KindEntry {\n        kind: MachineKind::Flat,\n        name: \"flat\",\n        \
               has: \"one price\",\n        simulated_with: \"a price\",\n        \
               option: \"\",\n        example: \"flat\",\n    },\n",
    },
    Insertion {
        file: "crates/machine/src/machine.rs",
        after: "ControllerMachine::machine(file).map(Self::Cached),\n",
        line: "            MachineKind::Flat => PlainMachine::machine(file).map(Self::Plain),\n",
    },
    Insertion {
        file: "crates/machine/src/table.rs",
        after: "preset!(\"alite\"),\n",
        line: "    preset!(\"flat\"),\n",
    },
];

/// Of this crate nothing is built here. In the copy it depends on everything, so that dependencies
/// have the same features as in the tree, and cargo finds them compiled.
const ON_EVERYTHING: Insertion = Insertion {
    file: "crates/xtask/Cargo.toml",
    after: "[dependencies]\n",
    line: "homenode-python = { path = \"../python\" }\n",
};
const ALL_FEATURES: &[&str] = &["-p", "homenode-xtask"];

/// The crates that get a new entry.
const CRATES: &[&str] = &[
    "-p",
    "homenode-machine",
    "-p",
    "homenode-placement",
    "-p",
    "homenode-snoop",
    "-p",
    "homenode-interchange",
    "-p",
    "homenode-flat",
];

/// The tests beside the code of these crates: what a new entry says of itself.
const UNIT_TESTS: &[&str] = &["--lib"];

/// The integration tests that loop over the tables. Others compare existing entries with slow
/// simulators, which do not have the rules of a new one.
const TABLE_TESTS: &[&str] = &["--test", "it"];
const TABLE_TEST_FILTERS: &[&str] = &[
    "--",
    "policies::",
    "protocols::",
    "interchange::",
    // A long test of the definitions of existing entries.
    "--skip",
    "every_policy_follows_its_definition",
];

/// The tests of the table of engines, of its options, and of the new engine.
const ENGINES: &[&str] = &["--lib", "-p", "homenode-sim", "--", "engines::", "options::", "flat::"];

/// Writes, or checks, the tables in `docs/`.
const DOCS: &[&str] = &["--test", "it", "-p", "homenode-sim", "docs::"];

#[test]
#[ignore = "builds five crates: cargo test -p homenode-xtask --test extending -- --ignored"]
fn a_new_entry_is_one_file_and_two_lines() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap();
    if !root.join(".git").exists() {
        return; // A source archive without history has no list of files.
    }
    let target = target();
    let copy = target.join("extending");
    copy_tree(&root, &copy);
    for (template, file) in KIND {
        let template = root.join("testdata/extending/kind").join(template);
        write_if_new(&copy.join(file), &std::fs::read(template).unwrap());
    }
    // With another version cargo keeps the build of the copy apart from the tree's own in the same
    // folder, and reuses compiled dependencies. Of the workspace's crates little is run, so they
    // are not optimised.
    let manifest = edited(&root, "Cargo.toml");
    let version = format!("version = \"{}\"", env!("CARGO_PKG_VERSION"));
    assert!(manifest.contains(&version), "the workspace gives the version of its crates");
    let apart = version.replacen("\"", "\"9", 1);
    write_if_new(&copy.join("Cargo.toml"), manifest.replacen(&version, &apart, 1).as_bytes());
    for Addition { template, file, .. } in &ADDITIONS {
        let template = root.join("testdata/extending").join(template);
        write_if_new(&copy.join(file), &std::fs::read(template).unwrap());
    }
    for file in edited_files().filter(|file| *file != "Cargo.toml") {
        write_if_new(&copy.join(file), edited(&root, file).as_bytes());
    }
    let quick: Vec<String> = crates(&root)
        .map(|name| format!("--config=profile.release.package.homenode-{name}.opt-level=0"))
        .collect();
    let cargo = |arguments: &[&str], bless: bool| {
        let mut command = Command::new(env!("CARGO"));
        command.args(&quick).args(["test", "--release", "--quiet"]).args(ALL_FEATURES);
        command.args(arguments).current_dir(&copy).env("CARGO_TARGET_DIR", &target);
        if bless {
            command.env("HOMENODE_BLESS", "1");
        }
        let output = command.output().unwrap();
        let text = [output.stdout, output.stderr].concat();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&text));
    };
    cargo(&[UNIT_TESTS, CRATES].concat(), true);
    cargo(&[TABLE_TESTS, CRATES, TABLE_TEST_FILTERS].concat(), true);
    cargo(ENGINES, false);
    cargo(DOCS, true);
    for Addition { page: (page, line), .. } in &ADDITIONS {
        let text = std::fs::read_to_string(copy.join("docs").join(page)).unwrap();
        assert!(text.contains(line), "docs/{page} lacks {line}");
    }
    cargo(DOCS, false);
}

fn crates(root: &Path) -> impl Iterator<Item = String> {
    let folders = std::fs::read_dir(root.join("crates")).unwrap();
    folders.map(|folder| folder.unwrap().file_name().into_string().unwrap())
}

/// The folder of cargo's builds, to reuse compiled dependencies.
fn target() -> PathBuf {
    let own = std::env::current_exe().unwrap();
    let profile = own.ancestors().find(|path| path.ends_with("deps")).unwrap().parent().unwrap();
    profile.parent().unwrap().to_owned()
}

/// Copies every file that git tracks or would track, and removes those that no longer exist.
/// Unchanged files keep their times, so that cargo builds only what changed since the last run.
fn copy_tree(root: &Path, copy: &Path) {
    let list = ["ls-files", "-z", "--cached", "--others", "--exclude-standard"];
    let output = Command::new("git").args(list).current_dir(root).output().unwrap();
    let listing = String::from_utf8(output.stdout).unwrap();
    let tracked: Vec<&str> =
        listing.split('\0').filter(|path| !path.is_empty() && root.join(path).is_file()).collect();
    for path in tracked.iter().filter(|path| edited_files().all(|edited| edited != **path)) {
        write_if_new(&copy.join(path), &std::fs::read(root.join(path)).unwrap());
    }
    // Tests that read folders would find the file of a removed module.
    for folder in ["crates", "machines", "docs"] {
        remove_others(&copy.join(folder), copy, &tracked);
    }
}

fn write_if_new(path: &Path, bytes: &[u8]) {
    if std::fs::read(path).is_ok_and(|kept| kept == bytes) {
        return;
    }
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, bytes).unwrap();
}

fn remove_others(folder: &Path, copy: &Path, tracked: &[&str]) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.strip_prefix(copy).unwrap().to_str().unwrap();
        if path.is_dir() {
            remove_others(&path, copy, tracked);
        } else if !tracked.contains(&name) && !is_added(name) {
            std::fs::remove_file(&path).unwrap();
        }
    }
}

fn is_added(name: &str) -> bool {
    let of_kind = KIND.iter().any(|(_, file)| *file == name);
    of_kind || ADDITIONS.iter().any(|added| added.file == name)
}

/// The files that get lines.
fn edited_files() -> impl Iterator<Item = &'static str> {
    let tables = ADDITIONS.iter().map(|added| added.table.0);
    tables.chain(insertions().map(|insertion| insertion.file))
}

fn insertions() -> impl Iterator<Item = &'static Insertion> {
    INSERTIONS.iter().chain([&ON_EVERYTHING])
}

/// A file of the tree with all its added lines.
fn edited(root: &Path, file: &str) -> String {
    let mut text = std::fs::read_to_string(root.join(file)).unwrap();
    for addition in ADDITIONS.iter().filter(|addition| addition.table.0 == file) {
        add(&mut text, addition);
    }
    for Insertion { after, line, .. } in insertions().filter(|one| one.file == file) {
        let start = text.find(after).unwrap_or_else(|| panic!("{file} lacks {after}"));
        text.insert_str(start + after.len(), line);
    }
    text
}

/// Adds the lines of an entry to the file of its table.
fn add(text: &mut String, addition: &Addition) {
    let (table, begin) = addition.table;
    let (entry, module) = addition.lines;
    let start = text.find(begin).unwrap_or_else(|| panic!("{table} lacks {begin}"));
    let end = start + text[start..].find("];").unwrap();
    let last = text[..end].trim_end();
    let comma = if last.ends_with(',') { "" } else { "," };
    text.insert_str(last.len(), &format!("{comma}\n    {entry}"));
    if let Some(module) = module {
        let first = text.find("\nmod ").unwrap() + 1;
        text.insert_str(first, &format!("{module}\n"));
    }
}
