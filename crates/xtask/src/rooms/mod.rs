//! The rooms of the repository and their uses of each other, from the code: pictures and cycles.

mod draw;
mod graph;
mod python;
mod rust;

use std::path::Path;

use anyhow::{Context, Result};

use crate::source::{Finding, SourceFile};
use graph::Graph;

struct Picture {
    path: &'static str,
    title: &'static str,
    graph: fn(&[SourceFile]) -> Graph,
}

const PICTURES: &[Picture] = &[
    Picture {
        path: "docs/rooms-crates.svg",
        title: "crates and which of them uses which",
        graph: rust::crates,
    },
    Picture {
        path: "docs/rooms-python.svg",
        title: "rooms of the Python package and which uses which",
        graph: python::rooms,
    },
];

/// Redraws all pictures.
pub fn run(root: &Path) -> Result<bool> {
    let files = crate::source::tracked_files(root)?;
    for Picture { path, title, graph } in PICTURES {
        let graph = graph(&files);
        std::fs::write(root.join(path), draw::svg(&graph, title))
            .with_context(|| format!("writing {path}"))?;
        println!("{path}: {} rooms, {} arrows", graph.names.len(), graph.arrows.len());
    }
    Ok(true)
}

/// Stale pictures, and rooms that use each other in a cycle.
pub fn check(files: &[SourceFile]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for Picture { path, title, graph } in PICTURES {
        let Some(kept) = files.iter().find(|file| file.path == *path) else { continue };
        if kept.text.as_deref() != Some(&draw::svg(&graph(files), title)) {
            findings
                .push(kept.finding(0, "shows other rooms than there are: run `cargo xtask rooms`"));
        }
    }
    findings.extend(python::root(files));
    let python = python::rooms(files);
    findings.extend(cycles("python/homenode", &python, &python.names));
    for name in rust::crates(files).names {
        let (graph, folders) = rust::modules(files, &name);
        findings.extend(cycles(&format!("crates/{name}/src"), &graph, &folders));
    }
    findings
}

/// Cycles that include a folder. Files of one folder count as one room.
fn cycles(path: &str, graph: &Graph, folders: &[String]) -> Vec<Finding> {
    let cycles = graph.cycles().into_iter();
    let outside =
        cycles.filter(|cycle| cycle.iter().any(|&room| folders.iter().any(|f| f == room)));
    let finding = |cycle: Vec<&str>| Finding {
        path: path.to_owned(),
        line: 0,
        message: format!("rooms that use each other: {}", cycle.join(", ")),
    };
    outside.map(finding).collect()
}
