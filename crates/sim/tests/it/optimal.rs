//! The optimum in detail through [`homenode_sim::optimal`].

use std::ops::ControlFlow;

use homenode_base::{Access, AccessKind, Rng};
use homenode_sim::{
    OptimalConfig, OptimalReport, PlacementFormat, PlacementOutput, SimConfig, SimError, optimal,
    run,
};
use homenode_trace::{Metadata, TraceReader};

use crate::made;

fn trace(references: u64) -> TraceReader {
    let mut rng = Rng::new(7);
    let (mut thread, mut addr) = (0, 0);
    let access = |_| {
        if rng.below(6) == 0 {
            thread = u16::try_from(rng.below(6)).unwrap();
            addr = 0x1000 + rng.below(40) * 64;
        }
        let kind = if rng.below(4) == 0 { AccessKind::Write } else { AccessKind::Read };
        Access::new(thread, kind, addr, 4)
    };
    made::trace(&(0..references).map(access).collect::<Vec<_>>(), 1 << 16, Metadata::default())
}

const MACHINES: &[&str] = &["prices:r=4,R=15", "prices:r=4,R=15,g=2,G=20"];

fn config(policies: &[&str], curve: Option<&str>) -> OptimalConfig {
    let simulation = SimConfig::new(MACHINES, policies, &[64, 256]);
    OptimalConfig { simulation, curve: curve.map(str::to_owned), certify: true }
}

fn find(
    config: &OptimalConfig,
    trace: &TraceReader,
    format: Option<PlacementFormat>,
) -> Result<(OptimalReport, String), SimError> {
    let mut text = Vec::new();
    let output = format.map(|format| PlacementOutput { sink: &mut text, format });
    let report = optimal(config, trace, output, &mut |_, _| ControlFlow::Continue(()))?;
    Ok((report, String::from_utf8(text).unwrap()))
}

#[test]
fn the_rows_are_those_of_a_simulation_and_certified() {
    let trace = trace(20_000);
    let config = config(&["optimal", "optimal-no-replication"], None);
    let (report, _) = find(&config, &trace, None).unwrap();
    let simulated = run(&config.simulation, &trace, &mut |_, _| ControlFlow::Continue(())).unwrap();
    assert_eq!(report.outcomes.len(), 8);
    for (row, outcome) in report.outcomes.iter().zip(&simulated.outcomes) {
        assert_eq!(
            (&row.outcome.machine, &row.outcome.policy),
            (&outcome.machine, &outcome.policy)
        );
        assert_eq!(row.outcome.counts, outcome.counts);
        let certificate = row.certificate.as_ref().unwrap();
        assert_eq!((certificate.failed, certificate.references), (0, outcome.accesses));
        let moves = outcome.counts.remote_moves + outcome.counts.global_moves;
        assert_eq!(
            (row.moves_per_block.moves, row.moves_per_block.blocks),
            (moves, certificate.blocks)
        );
        assert_eq!(
            row.moves_per_block.bins().iter().map(|b| b.blocks).sum::<u64>(),
            certificate.blocks
        );
    }
}

#[test]
fn the_curve_passes_through_every_simulation() {
    let trace = trace(5_000);
    for letter in ["r", "R"] {
        let config = config(&["optimal"], Some(&format!("{letter}=4..31")));
        let (report, _) = find(&config, &trace, None).unwrap();
        for at in (4..=31u32).step_by(3) {
            let machines = MACHINES.iter().map(|m| match letter {
                "r" => m.replace("r=4", &format!("r={at}")),
                _ => m.replace("R=15", &format!("R={at}")),
            });
            let mut simulation = config.simulation.clone();
            simulation.machines = machines.collect();
            simulation.force = true;
            let simulated =
                run(&simulation, &trace, &mut |_, _| ControlFlow::Continue(())).unwrap();
            for (row, outcome) in report.outcomes.iter().zip(&simulated.outcomes) {
                let price = f64::from(at);
                let pieces = &row.curve.as_ref().unwrap().pieces;
                let piece = pieces.iter().find(|p| p.from <= price && price <= p.to).unwrap();
                let along = (price - piece.from) / (piece.to - piece.from);
                let (from, to) = (piece.mcpr_from.unwrap(), piece.mcpr_to.unwrap());
                let expected = outcome.mcpr.unwrap();
                assert!((from + along * (to - from) - expected).abs() < 1e-9, "{letter}={at}");
            }
        }
        assert!(report.outcomes.iter().all(|row| row.curve.as_ref().unwrap().pieces.len() > 2));
    }
}

#[test]
fn threads_and_memory_budget_do_not_change_the_report() {
    let trace = trace(8_000);
    let mut config = config(&["optimal"], Some("R=9..60"));
    let mut found = Vec::new();
    for (threads, budget) in [(1, None), (2, None), (5, None), (2, Some(20_000))] {
        config.simulation.threads = Some(threads);
        config.simulation.memory_budget_bytes = budget;
        let (report, text) = find(&config, &trace, Some(PlacementFormat::Jsonl)).unwrap();
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        if budget.is_some() {
            // Shards of blocks are in another order.
            lines.sort();
            found.iter_mut().for_each(|(_, lines): &mut (String, Vec<String>)| lines.sort());
        }
        found.push((serde_json::to_string(&report.outcomes).unwrap(), lines));
    }
    assert!(found.windows(2).all(|pair| pair[0] == pair[1]));
}

#[test]
fn the_placement_is_written_in_both_forms() {
    let trace = trace(300);
    let mut config = config(&["optimal"], None);
    config.simulation.block_sizes = vec![256];
    let (_, csv) = find(&config, &trace, Some(PlacementFormat::Csv)).unwrap();
    let (_, json) = find(&config, &trace, Some(PlacementFormat::Jsonl)).unwrap();
    assert_eq!(csv.lines().count(), json.lines().count() + 1);
    assert!(csv.starts_with("machine,policy,block_size,address,reference,processors,global\n"));
    for (csv, json) in csv.lines().skip(1).zip(json.lines()) {
        let value: serde_json::Value = serde_json::from_str(json).unwrap();
        let machine = format!("\"{}\"", value["machine"].as_str().unwrap());
        let each = value["processors"].as_array().unwrap().iter().map(ToString::to_string);
        let processors = each.collect::<Vec<String>>().join(" ");
        let (reference, global) = (&value["reference"], &value["global"]);
        let address = value["address"].as_str().unwrap();
        let expected = format!("{machine},optimal,256,{address},{reference},{processors},{global}");
        assert_eq!(csv, expected);
    }
}

#[test]
fn an_invalid_configuration_is_an_error_before_the_trace_is_read() {
    let trace = trace(10);
    let problem = |config: &OptimalConfig| find(config, &trace, None).unwrap_err().to_string();
    assert!(problem(&config(&["ace"], None)).contains("ace is not an optimum"));
    for (curve, said) in [
        ("R59..400", "there is no ="),
        ("q=1..2", "none of r, R, g, G"),
        ("R=59", "there is no .."),
        ("R=x..4", "is not a number"),
        ("R=7..7", "must not be empty"),
        ("r=1/2..7", "at r = 1/2"),
        ("g=1/2..3", "at g = 1/2"),
    ] {
        let found = problem(&config(&["optimal"], Some(curve)));
        assert!(found.contains(said), "{curve}: {found}");
    }
}
