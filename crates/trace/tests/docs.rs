//! The tables of `docs/trace-format.md` and `docs/transforms.md` are those of the code;
//! `HOMENODE_BLESS=1` writes them.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fmt::Write as _;
use std::path::Path;

use homenode_trace::{event_table, export, import, transform};

/// The text with the lines between the marker of table `name` and the next `<!-- end -->` replaced.
fn with_table(text: &str, name: &str, table: &str) -> String {
    let (before, rest) = text.split_once(&format!("<!-- table: {name} -->\n")).unwrap();
    let (_, after) = rest.split_once("<!-- end -->").unwrap();
    format!("{before}<!-- table: {name} -->\n{table}<!-- end -->{after}")
}

fn formats() -> String {
    let mut out = String::from("| format | import | export | what it is | defined in |\n");
    out += "|---|---|---|---|---|\n";
    for entry in import::TABLE {
        let exported = export::TABLE.iter().any(|other| other.name == entry.name);
        let export = if exported { "yes" } else { "no" };
        let (name, summary, source) = (entry.name, entry.summary, entry.source);
        let summary = summary.replace('|', "\\|").replace('<', "&lt;").replace('>', "&gt;");
        writeln!(out, "| `{name}` | yes | {export} | {summary} | {source} |").unwrap();
    }
    out
}

fn events() -> String {
    let mut out = String::from("| event | fields |\n|---|---|\n");
    for (name, fields) in event_table() {
        writeln!(out, "| `{name}` | {fields} |").unwrap();
    }
    out
}

fn transforms() -> String {
    let mut out = String::from("| transform | what it does | parameters | defined in |\n");
    out += "|---|---|---|---|\n";
    for entry in transform::TABLE {
        let parameter = |param: &transform::TransformParam| {
            let default = if param.default.is_empty() {
                String::new()
            } else {
                format!("; default {}", param.default)
            };
            format!("`{}` ({}): {}{default}", param.name, param.form, param.doc)
        };
        let parameters: Vec<String> = entry.params.iter().map(parameter).collect();
        let parameters = parameters.join("<br>");
        let (name, summary, source) = (entry.name, entry.summary, entry.source);
        writeln!(out, "| `{name}` | {summary} | {parameters} | {source} |").unwrap();
    }
    out
}

fn check(file: &str, tables: &[(&str, String)]) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs").join(file);
    let text = std::fs::read_to_string(&path).unwrap();
    let replace = |text: String, (name, table): &(&str, String)| with_table(&text, name, table);
    let fresh = tables.iter().fold(text.clone(), replace);
    if std::env::var_os("HOMENODE_BLESS").is_some() {
        std::fs::write(&path, &fresh).unwrap();
    } else {
        assert!(text == fresh, "docs/{file} is stale: see the head of this test");
    }
}

#[test]
fn the_tables_in_the_documentation_are_those_of_the_code() {
    check("trace-format.md", &[("formats", formats()), ("events", events())]);
    check("transforms.md", &[("transforms", transforms())]);
}
