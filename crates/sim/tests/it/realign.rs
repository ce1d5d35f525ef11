//! Re-alignment in memory: identical to simulating the trace that the transform writes, which
//! `crates/transform/tests/it/realign.rs` compares with the definition.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use homenode_base::{Access, AccessKind, Flags, Rng};
use homenode_sim::{
    Inclusion, PlacementSimulation, PrivateReferences, SimConfig, policy_rows, run, worst_blocks,
};
use homenode_trace::{AddressRange, Metadata, RangeKind, TraceReader};
use homenode_transform::realign::Realignment;
use homenode_transform::{TransformReport, transform_file};
use serde_json::Value;

use crate::made;

const SIZES: [u64; 4] = [4, 64, 1024, 65536];

fn random_trace(rng: &mut Rng, threads: u64) -> TraceReader {
    let mut all = Vec::new();
    for _ in 0..200 + rng.below(600) {
        let thread = u16::try_from(rng.below(threads) * rng.below(2)).unwrap();
        let kind =
            AccessKind::from_code(u8::try_from(rng.below(12).saturating_sub(8)).unwrap()).unwrap();
        let size = [1, 4, 4, 8, 8, 16, 64][usize::try_from(rng.below(7)).unwrap()];
        let flags = Flags(u8::try_from(rng.below(20).saturating_sub(16)).unwrap());
        let from = if rng.below(3) == 0 { 0x9_0000 } else { 0x1000 };
        // Visits of a few references each, as programs make them.
        for step in 0..1 + rng.below(4) {
            let addr = from + 4 * rng.below(200) + step * u64::from(size);
            all.push(Access { flags, ..Access::new(thread, kind, addr, size) });
        }
    }
    let range = |start, name| AddressRange::new(RangeKind::Static, start, 0x800, name);
    let ranges = vec![range(0x1000, "near"), range(0x9_0000, "far")];
    made::trace(&all, 300, Metadata { ranges, ..Metadata::default() })
}

fn simulate(config: &SimConfig, trace: &TraceReader) -> PlacementSimulation {
    run(config, trace, &mut |_, _| ControlFlow::Continue(())).unwrap()
}

fn transformed(
    trace: &TraceReader,
    kind: &str,
    parameters: &[(&str, String)],
    out: &Path,
) -> (TraceReader, Option<Realignment>) {
    let own = |&(name, ref value): &(&str, String)| (name.to_owned(), value.clone());
    let parameters: BTreeMap<String, String> = parameters.iter().map(own).collect();
    let go_on = &mut |_, _| ControlFlow::Continue(());
    let piece = transform_file(trace, kind, &parameters, out, go_on).unwrap().remove(0);
    (TraceReader::open(out).unwrap(), piece.report.and_then(TransformReport::realigned))
}

/// Outcomes as JSON without the fields that must differ, and the reports by block size.
fn plain(simulation: &PlacementSimulation) -> (Vec<Value>, BTreeMap<u64, Realignment>) {
    let mut reports = BTreeMap::new();
    let strip = |outcome: &homenode_sim::PlacementOutcome| {
        if let Some(report) = &outcome.realignment {
            reports.insert(outcome.block_size, report.clone());
        }
        let mut value = serde_json::to_value(outcome).unwrap();
        let fields = value.as_object_mut().unwrap();
        fields.remove("trace");
        fields.remove("realignment");
        value
    };
    (simulation.outcomes.iter().map(strip).collect(), reports)
}

/// The same through files: a trace for each block size.
fn by_files(config: &SimConfig, trace: &TraceReader) -> (Vec<Value>, BTreeMap<u64, Realignment>) {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| -> PathBuf { folder.path().join(name) };
    let count = config.processors.unwrap_or_else(|| trace.threads());
    let parameters = [("count", count.to_string())];
    let (trace, _) = transformed(trace, "processors", &parameters, &path("p.hnt"));
    let (mut rows, mut reports) = (BTreeMap::new(), BTreeMap::new());
    for &size in &config.block_sizes {
        let private =
            if config.private == Some(PrivateReferences::Shared) { "shared" } else { "exclude" };
        let sync = if config.sync == Inclusion::Include { "include" } else { "exclude" };
        let parameters = [
            ("page-size", size.to_string()),
            ("window", config.realign.unwrap().to_string()),
            ("private", private.to_owned()),
            ("sync", sync.to_owned()),
        ];
        let (made, report) = transformed(&trace, "realign", &parameters, &path("r.hnt"));
        let one = SimConfig {
            realign: None,
            block_sizes: vec![size],
            processors: Some(count),
            ..config.clone()
        };
        for value in plain(&simulate(&one, &made)).0 {
            let key = |name: &str| value[name].as_str().unwrap().to_owned();
            rows.insert((key("machine"), key("policy"), size), value.clone());
        }
        reports.insert(size, report.unwrap());
    }
    let names = |name: &String| name.clone();
    let mut ordered = Vec::new();
    for machine in config.machines.iter().map(names) {
        for policy in config.policies.iter().map(names) {
            for &size in &config.block_sizes {
                ordered.push(rows[&(machine.clone(), policy.clone(), size)].clone());
            }
        }
    }
    (ordered, reports)
}

/// Every policy that runs on all of these machines.
fn matrix(machines: &[&str], model: &str, global: bool) -> SimConfig {
    let rows = policy_rows().into_iter().filter(|row| {
        let runs = |m: &homenode_machine::PriceModel| serde_json::to_value(m).unwrap() == model;
        row.runs_on.iter().any(runs) && (global || !row.needs_global)
    });
    let policies: Vec<String> = rows.map(|row| row.name.to_owned()).collect();
    let policies: Vec<&str> = policies.iter().map(String::as_str).collect();
    SimConfig { threads: Some(2), ..SimConfig::new(machines, &policies, &SIZES) }
}

#[test]
fn the_same_as_writing_a_trace_for_every_block_size() {
    let mut rng = Rng::new(71);
    let matrices = [
        matrix(&["markatos"], "page-coherence", false),
        matrix(&["ace"], "placement", true),
        matrix(&["markatos", "prices:r=15,R=59"], "page-coherence", false),
    ];
    let mut moved = 0;
    for round in 0..9 {
        let mut config = matrices[round % 3].clone();
        if round % 3 == 2 {
            config.policies = ["inv", "inv.freez:f=30,d=100", "inv.del", "random", "round-robin"]
                .map(str::to_owned)
                .to_vec();
        }
        config.realign = Some([50, 333, 1_000_000][usize::try_from(rng.below(3)).unwrap()]);
        config.private =
            [None, Some(PrivateReferences::Shared), Some(PrivateReferences::Exclude)][round / 3];
        config.sync = [Inclusion::Exclude, Inclusion::Include][usize::from(round % 2 == 1)];
        config.processors = [None, Some(3)][usize::from(rng.below(3) == 0)];
        // Few threads leave words to one of them; many are counted in another way.
        let threads = [2, 5, 90][usize::try_from(rng.below(3)).unwrap()];
        let trace = random_trace(&mut rng, threads);
        let (expected, reports) = by_files(&config, &trace);
        let mut first = None;
        for (threads, memory_budget_bytes) in [(1, None), (3, Some(40_000))] {
            let budgeted =
                SimConfig { threads: Some(threads), memory_budget_bytes, ..config.clone() };
            let simulation = simulate(&budgeted, &trace);
            let (rows, found) = plain(&simulation);
            assert_eq!(rows, expected, "round {round}, budget {memory_budget_bytes:?}");
            assert_eq!(found, reports, "round {round}");
            assert_eq!(simulation.provenance.realign, config.realign);
            let text = serde_json::to_string(&simulation).unwrap();
            assert_eq!(first.get_or_insert_with(|| text.clone()), &text);
        }
        moved += reports.values().filter(|report| report.moves > 0).count();
    }
    assert!(moved > 20, "only {moved} traces moved something");
}

/// One block at a time: every pass re-aligns anew.
#[test]
fn any_number_of_passes_gives_the_same_result() {
    let trace = random_trace(&mut Rng::new(72), 3);
    let config = SimConfig {
        realign: Some(100),
        ..SimConfig::new(&["markatos"], &["inv", "upt.del"], &[1024, 65536])
    };
    let least = SimConfig { memory_budget_bytes: Some(1), ..config.clone() };
    let [plenty, least] = [config, least].map(|config| plain(&simulate(&config, &trace)));
    assert_eq!(plenty, least);
}

#[test]
fn without_re_alignment_there_is_no_report_of_it() {
    let trace = random_trace(&mut Rng::new(5), 4);
    let config = SimConfig::new(&["markatos"], &["inv"], &[64]);
    let text = serde_json::to_string(&simulate(&config, &trace)).unwrap();
    assert!(!text.contains("realign"), "{text}");
}

#[test]
fn invalid_re_alignments_are_errors_with_a_remedy() {
    let trace = random_trace(&mut Rng::new(6), 4);
    let error = |realign, trace: &TraceReader| {
        let config = SimConfig { realign, ..SimConfig::new(&["markatos"], &["inv"], &[64]) };
        let result = run(&config, trace, &mut |_, _| ControlFlow::Continue(()));
        result.unwrap_err().to_string()
    };
    assert!(error(Some(0), &trace).contains("hold 1 to 268435456 references"));
    assert!(error(Some(1 << 29), &trace).contains("hold 1 to 268435456 references"));
    let accesses =
        [0, 1 << 63, u64::MAX - 8].map(|addr| Access::new(0, AccessKind::Write, addr, 4));
    let wide = made::trace(&accesses, 300, Metadata::default());
    let said = error(Some(9), &wide);
    assert!(said.contains("no room for new pages of 64 bytes; keep a part of them"), "{said}");
}

#[test]
fn studies_of_addresses_require_a_written_trace() {
    let trace = random_trace(&mut Rng::new(7), 4);
    let config = SimConfig { realign: Some(9), ..SimConfig::new(&["numa"], &["ace"], &[64]) };
    let go_on = &mut |_, _| ControlFlow::Continue(());
    let said = worst_blocks(&config, &trace, 3, go_on).unwrap_err().to_string();
    assert!(
        said.contains("write the re-aligned trace with `homenode transform realign`"),
        "{said}"
    );
}

#[test]
fn an_empty_trace_has_an_empty_report() {
    let trace = made::trace(&[], 300, Metadata::default());
    let config = SimConfig { realign: Some(9), ..SimConfig::new(&["markatos"], &["upt"], &[1024]) };
    let outcome = simulate(&config, &trace).outcomes.remove(0);
    let report = outcome.realignment.unwrap();
    assert_eq!((outcome.references, report.windows, report.new_bytes), (0, 0, 0));
    assert_eq!((report.gone, report.objects), (None, vec![]));
}
