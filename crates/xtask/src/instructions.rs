//! A gate on instruction counts, which are repeatable on machines where times are not.
//!
//! Each entry of `benches/instructions.toml` names an example program that does a fixed amount of
//! work; cachegrind counts its instructions. The gate fails if a count per reference grows by more
//! than the tolerance, and reports counts that shrank enough to be recorded.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail};
use rayon::prelude::*;

/// One gated program.
#[derive(Debug, PartialEq)]
struct Gate {
    name: String,
    example: String,
    references: f64,
    instructions_per_reference: f64,
}

/// A count may grow by this factor before the gate fails: compilers differ by a few per cent.
const TOLERANCE: f64 = 1.10;

/// Measures every gate and compares it with the file, or writes the file when `bless` is set.
pub fn run(root: &Path, bless: bool) -> Result<bool> {
    let path = root.join("benches/instructions.toml");
    let text =
        std::fs::read_to_string(&path).with_context(|| format!("reading {}", path.display()))?;
    let mut document: toml::Table = text.parse().context("parsing benches/instructions.toml")?;
    let mut all_well = true;
    let gates = gates(&document)?;
    let programs = build(root, &gates)?;
    // Counts do not depend on the machine's load, so all cores are used.
    let counts: Vec<Result<f64>> = programs.par_iter().map(|p| instructions(p)).collect();
    for (gate, count) in gates.iter().zip(counts) {
        let measured = count? / gate.references;
        let limit = gate.instructions_per_reference * TOLERANCE;
        let verdict = if measured <= limit { "ok" } else { "GREW" };
        println!(
            "{:<28} {measured:>9.2} instructions/reference (recorded {:.2}) {verdict}",
            gate.name, gate.instructions_per_reference
        );
        all_well &= bless || measured <= limit;
        if let Some(toml::Value::Table(entry)) = document.get_mut(&gate.name) {
            let rounded = (measured * 100.0).round() / 100.0;
            entry.insert("instructions_per_reference".into(), toml::Value::Float(rounded));
        }
    }
    if bless {
        let head: String = text.lines().take_while(|l| l.starts_with('#')).fold(
            String::new(),
            |mut head, line| {
                head.push_str(line);
                head.push('\n');
                head
            },
        );
        std::fs::write(&path, format!("{head}\n{}", toml::to_string(&document)?))?;
    }
    Ok(all_well)
}

fn gates(document: &toml::Table) -> Result<Vec<Gate>> {
    let mut gates = Vec::new();
    for (name, value) in document {
        let text = |key: &str| {
            let found = value.get(key).and_then(toml::Value::as_str);
            found.map(str::to_owned).with_context(|| format!("[{name}] needs the text `{key}`"))
        };
        let number = |key: &str| {
            let whole = |v: &toml::Value| v.as_integer()?.to_string().parse().ok();
            let found = value.get(key).and_then(|v| v.as_float().or_else(|| whole(v)));
            found.with_context(|| format!("[{name}] needs the number `{key}`"))
        };
        gates.push(Gate {
            name: name.clone(),
            example: text("example")?,
            references: number("references")?,
            instructions_per_reference: number("instructions_per_reference")?,
        });
    }
    Ok(gates)
}

/// Builds all examples, which share most dependencies, and returns their paths.
fn build(root: &Path, gates: &[Gate]) -> Result<Vec<String>> {
    let mut command = Command::new("cargo");
    // All packages, with the features of every other build: nothing is built for the gate alone.
    command.args(["build", "--release", "--quiet", "--message-format=json-render-diagnostics"]);
    for gate in gates {
        command.args(["--example", &gate.example]);
    }
    let built = command.current_dir(root).output().context("running cargo build")?;
    if !built.status.success() {
        bail!("building the examples: {}", String::from_utf8_lossy(&built.stderr));
    }
    let messages = String::from_utf8_lossy(&built.stdout);
    let program = |gate: &Gate| {
        executable(&messages, &gate.example)
            .with_context(|| format!("cargo named no executable for example {}", gate.example))
    };
    gates.iter().map(program).collect()
}

fn instructions(program: &str) -> Result<f64> {
    let output = Command::new("valgrind")
        .args(["--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null", program])
        .output()
        .context("running valgrind; install it with `apt-get install valgrind`")?;
    let report = String::from_utf8_lossy(&output.stderr);
    counted(&report).with_context(|| format!("no `I refs` line from cachegrind:\n{report}"))
}

/// The `executable` field of cargo's message for this example.
fn executable(messages: &str, example: &str) -> Option<String> {
    messages.lines().find_map(|line| {
        let (_, rest) = line.split_once("\"executable\":\"")?;
        let (path, _) = rest.split_once('"')?;
        path.ends_with(example).then(|| path.to_owned())
    })
}

/// The count in cachegrind's line `I refs: N`, which has commas.
fn counted(report: &str) -> Option<f64> {
    report.lines().find_map(|line| {
        let (before, count) = line.split_once("refs:")?;
        let count = before.trim_end().ends_with(" I").then(|| count.replace(',', ""))?;
        count.trim().parse().ok()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_gates_and_cachegrind_output() {
        let text = "[decode]\nexample = \"e\"\nreferences = 1000\n\
                    instructions_per_reference = 12.5\n";
        let gates = gates(&text.parse().unwrap()).unwrap();
        assert_eq!(gates[0].references, 1000.0);
        assert_eq!(counted("==1== D refs: 1\n==1== I   refs:  123,456\n"), Some(123_456.0));
        assert_eq!(
            executable("{\"executable\":\"/t/release/examples/decode\"}", "decode").as_deref(),
            Some("/t/release/examples/decode")
        );
    }

    #[test]
    fn a_missing_number_is_named() {
        let text = "[decode]\nexample = \"e\"\nreferences = 1\n";
        let error = gates(&text.parse().unwrap()).unwrap_err();
        assert!(error.to_string().contains("instructions_per_reference"));
    }
}
