//! The tables in `docs/` are those of the program, of every crate: they are here because this crate
//! sees all of them. `HOMENODE_BLESS=1 cargo test --release --test it docs::` rewrites them.

use std::fmt::Write as _;
use std::path::Path;

use homenode_directory::{CoherenceTable, ControllerSheetCell, DirectorySheet};
use homenode_interchange::{export, import};
use homenode_pmap::OwnerCopy;
use homenode_pmap::table::{REQUESTS, SITUATIONS};
use homenode_sim::{
    PAGE_POLICIES, explain_examples, machine_rows, pmap_actions, policy_rows, protocol_rows,
    tlb_rows,
};
use homenode_snoop::{DataSupplier, Labelled, ProtocolTable, Signal};
use homenode_trace::events::event_table;

/// Replaces the lines between the markers of a table. A new table is appended under a heading of
/// its own.
fn with_table(text: &str, name: &str, table: &str) -> String {
    let marker = format!("<!-- table: {name} -->\n");
    let Some((before, rest)) = text.split_once(&marker) else {
        let heading = name.to_uppercase();
        return format!("{text}\n## {heading}\n\n{marker}{table}<!-- end -->\n");
    };
    let (_, after) = rest.split_once("<!-- end -->").unwrap();
    format!("{before}{marker}{table}<!-- end -->{after}")
}

fn check(file: &str, tables: &[(&str, String)]) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs").join(file);
    let text = std::fs::read_to_string(&path).unwrap();
    let mut fresh = text.clone();
    for (name, table) in tables {
        fresh = with_table(&fresh, name, table);
    }
    if std::env::var_os("HOMENODE_BLESS").is_some() {
        std::fs::write(&path, &fresh).unwrap();
    } else {
        assert!(text == fresh, "docs/{file} is stale: see the head of this test");
    }
}

#[test]
fn policies_and_counts_in_the_documentation_are_up_to_date() {
    let mut policies =
        String::from("| policy | what it does | parameters | source |\n|---|---|---|---|\n");
    for row in policy_rows() {
        let parameters = row.parameters.iter().map(|p| {
            let unit = if p.numbers { p.unit } else { "" };
            let words = p.choices.iter().copied().chain([unit]).filter(|w| !w.is_empty());
            let kind = words.collect::<Vec<_>>().join(" or ");
            let kind = if kind.is_empty() { kind } else { format!(" ({kind})") };
            format!("`{}`{kind}: {}; default {}", p.name, p.doc, p.default)
        });
        let parameters: Vec<String> = parameters.collect();
        let parameters = parameters.join("<br>");
        writeln!(policies, "| `{}` | {} | {parameters} | {} |", row.name, row.summary, row.source)
            .unwrap();
    }
    let mut counts = String::from("| count | unit | definition |\n|---|---|---|\n");
    for metric in homenode_placement::METRICS {
        writeln!(counts, "| `{}` | {} | {} |", metric.name, metric.unit, metric.definition)
            .unwrap();
    }
    check("placement.md", &[("policies", policies), ("counts", counts)]);
}

#[test]
fn the_page_managers_tables_in_the_documentation_are_up_to_date() {
    let mut actions = String::from("| a fault of |");
    for situation in SITUATIONS {
        write!(actions, " {} |", situation.words()).unwrap();
    }
    actions.push_str("\n|---|---|---|---|---|\n");
    let rows = pmap_actions(OwnerCopy::Flush);
    for (place, (access, answer)) in REQUESTS.iter().enumerate() {
        write!(actions, "| {}, {} |", access.word(), answer.word().to_uppercase()).unwrap();
        for row in rows.iter().skip(place).step_by(REQUESTS.len()) {
            write!(actions, " {} → {} |", row.actions, row.row.action.next.word()).unwrap();
        }
        actions.push('\n');
    }
    let mut policies = String::from("| page policy | what it does | source |\n|---|---|---|\n");
    for row in PAGE_POLICIES {
        writeln!(policies, "| `{}` | {} | {} |", row.name, row.summary, row.source).unwrap();
    }
    let mut counts = String::from("| count | unit | definition |\n|---|---|---|\n");
    for metric in homenode_pmap::METRICS {
        let definition = metric.definition;
        writeln!(counts, "| `{}` | {} | {definition} |", metric.name, metric.unit).unwrap();
    }
    let mut costs =
        String::from("| cost | microseconds | what for | source |\n|---|---|---|---|\n");
    for cost in homenode_pmap::COSTS {
        let (name, us, doc, source) = (cost.name, cost.default_us, cost.doc, cost.source);
        writeln!(costs, "| `{name}` | {us} | {doc} | {source} |").unwrap();
    }
    let tables =
        [("actions", actions), ("page-policies", policies), ("counts", counts), ("costs", costs)];
    check("pmap.md", &tables);
}

#[test]
fn machines_in_the_documentation_are_up_to_date() {
    let mut table = String::from(
        "| machine | block size | prices | what it is | source |\n|---|---|---|---|---|\n",
    );
    for row in machine_rows(&[], &[], false).unwrap() {
        writeln!(
            table,
            "| `{}` | {} | {} | {} | {} |",
            row.name, row.block_size, row.prices, row.summary, row.source
        )
        .unwrap();
    }
    check("machines.md", &[("machines", table)]);
}

#[test]
fn protocols_in_the_documentation_are_up_to_date() {
    let mut list = String::from(
        "| protocol | what it does | states | parameters | source |\n|---|---|---|---|---|\n",
    );
    for row in protocol_rows() {
        let switches = row.parameters.iter().map(|p| format!("`{}=yes`: {}", p.name, p.doc));
        let switches: Vec<String> = switches.collect();
        let (states, switches) = (row.states.join(" "), switches.join("<br>"));
        let (name, summary, source) = (row.name, row.summary, row.source);
        writeln!(list, "| `{name}` | {summary} | {states} | {switches} | {source} |").unwrap();
    }
    check("bus.md", &[("protocols", list)]);
    let on_bus = homenode_snoop::TABLE.iter().map(|e| (e.name, protocol_table(&(e.build)())));
    let others = homenode_directory::TABLE.iter().filter_map(|e| {
        let sheet = match (e.build)() {
            CoherenceTable::Blocks(table) => table.sheet(),
            CoherenceTable::Linked(table) => table.sheet(),
            CoherenceTable::Pages(_) => return None,
        };
        Some((e.name, directory_tables(&sheet)))
    });
    check("protocols.md", &on_bus.chain(others).collect::<Vec<(&str, String)>>());
}

fn directory_tables(sheet: &DirectorySheet) -> String {
    let mut text = String::from("| message | what it says | counted as |\n|---|---|---|\n");
    for message in &sheet.messages {
        let (name, meaning, kind) = (message.name, message.meaning, message.kind);
        writeln!(text, "| {name} | {meaning} | `{kind}` |").unwrap();
    }
    for controller in &sheet.controllers {
        let side = controller.name;
        writeln!(text, "\n| state of the {side}'s controller | meaning |\n|---|---|").unwrap();
        for state in &controller.states {
            writeln!(text, "| {} | {} |", state.name, state.meaning).unwrap();
        }
        let sender = if controller.senders.is_empty() { "" } else { " sender |" };
        let rule = sender.replace(" sender ", "---");
        writeln!(
            text,
            "\n| state | event |{sender} what is done | next |\n|---|---|{rule}---|---|"
        )
        .unwrap();
        for cell in controller.cells.iter().filter(|cell| cell.never.is_none()) {
            text.push_str(&cell_line(cell, !sender.is_empty()));
        }
    }
    text
}

fn cell_line(cell: &ControllerSheetCell, has_senders: bool) -> String {
    let actions: Vec<&str> = cell.actions.iter().map(|action| action.text.as_str()).collect();
    let actions = match (cell.waits, &actions[..]) {
        (true, _) => "waits".to_owned(),
        (false, []) => "-".to_owned(),
        (false, some) => some.join(", "),
    };
    let senders = if cell.senders.is_empty() { "any".to_owned() } else { cell.senders.join(", ") };
    let senders = if has_senders { format!(" {senders} |") } else { String::new() };
    let (state, event, next) = (cell.state, cell.event, cell.next.unwrap_or("-"));
    format!("| {state} | {event} |{senders} {actions} | {next} |\n")
}

fn protocol_table(table: &ProtocolTable) -> String {
    let mut text = String::from("| state | meaning |\n|---|---|\n");
    for label in table.states() {
        writeln!(text, "| {} | {} |", label.name, label.meaning).unwrap();
    }
    text.push_str(
        "\n| state | event | others | bus transaction | data from | next |\n\
         |---|---|---|---|---|---|\n",
    );
    for (state, event, condition, action) in table.actions() {
        let bus = action.transaction.map_or("-", Labelled::name);
        let source = if action.source == DataSupplier::Own { "-" } else { action.source.name() };
        let again = if action.again { ", then the same event again" } else { "" };
        let (state, next) = (table.name(state), table.name(action.next));
        let (event, others) = (event.name(), table.conditions()[usize::from(condition)].name);
        writeln!(text, "| {state} | {event} | {others} | {bus} | {source} | {next}{again} |")
            .unwrap();
    }
    text.push_str("\n| other copies see | they become |\n|---|---|\n");
    for &signal in Signal::ALL {
        let others = table.others(signal);
        if !others.is_empty() {
            writeln!(text, "| {} | {} |", signal.name(), others.replace(' ', ", ")).unwrap();
        }
    }
    text
}

#[test]
fn tlbs_in_the_documentation_are_up_to_date() {
    let mut table = String::from(
        "| TLB | what it is | sets | ways | paired | cost of a miss | source |\n\
         |---|---|---|---|---|---|---|\n",
    );
    for row in tlb_rows() {
        let paired = if row.paired { "yes" } else { "no" };
        let cost = row.miss_cost.map_or("not given".to_owned(), |cost| cost.to_string());
        writeln!(
            table,
            "| `{}` | {} | {} | {} | {paired} | {cost} | {} |",
            row.name, row.summary, row.sets, row.ways, row.source
        )
        .unwrap();
    }
    check("tlb.md", &[("tlbs", table)]);
}

#[test]
fn the_examples_of_explain_are_up_to_date() {
    let mut table = String::from("| example | made for | what it shows |\n|---|---|---|\n");
    for example in explain_examples() {
        let protocol = example.protocol.map_or("comparing".to_owned(), |name| format!("`{name}`"));
        let (name, summary, about) = (example.name, example.summary, example.about);
        writeln!(table, "| `{name}` | {protocol} | {summary}. {about} |").unwrap();
    }
    check("explain.md", &[("examples", table)]);
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
    for entry in homenode_transform::TABLE {
        let parameter = |param: &homenode_transform::TransformParam| {
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

#[test]
fn formats_and_transforms_of_traces_in_the_documentation_are_up_to_date() {
    check("trace-format.md", &[("formats", formats()), ("events", events())]);
    check("transforms.md", &[("transforms", transforms())]);
}
