//! TLBs over whole traces, through [`homenode_sim::tlb_misses`].

use std::ops::ControlFlow;

use homenode_base::{Access, AccessKind, Flags, Rng};
use homenode_sim::{McprCorrection, SimError, TlbConfig, TlbReport, tlb_misses, tlb_rows};
use homenode_trace::{Metadata, TraceReader};

use crate::made;

fn trace(accesses: &[Access], chunk_rows: u32) -> TraceReader {
    made::trace(accesses, chunk_rows, Metadata::default())
}

fn config(tlbs: &[&str], page_sizes: &[u64]) -> TlbConfig {
    TlbConfig {
        tlbs: tlbs.iter().map(|&tlb| tlb.to_owned()).collect(),
        page_sizes: page_sizes.to_vec(),
        processors: None,
        private: homenode_sim::Inclusion::Include,
        sync: homenode_sim::Inclusion::Exclude,
        word_bytes: None,
        threads: None,
        correct: None,
    }
}

fn count(config: &TlbConfig, trace: &TraceReader) -> Result<TlbReport, SimError> {
    tlb_misses(config, trace, &mut |_, _| ControlFlow::Continue(()))
}

fn random_trace(references: u64, threads: u64) -> TraceReader {
    let mut rng = Rng::new(8);
    let access = |_| {
        let thread = u16::try_from(rng.below(threads)).unwrap();
        let kind = if rng.below(3) == 0 { AccessKind::Write } else { AccessKind::Read };
        let span = 1 << (8 + rng.below(10));
        let addr = 0x1_0000 + rng.below(span);
        let flags = if rng.below(5) == 0 { Flags::PRIVATE } else { Flags(0) };
        Access { flags, ..Access::new(thread, kind, addr, 8) }
    };
    trace(&(0..references).map(access).collect::<Vec<_>>(), 1_000)
}

#[test]
fn the_number_of_threads_changes_nothing() {
    let trace = random_trace(20_000, 5);
    let all: Vec<&str> = tlb_rows().iter().map(|row| row.name).collect();
    let mut config = config(&all, &[128, 512, 4096]);
    config.correct =
        Some(McprCorrection { machine: "numa".into(), policy: "optimal".into(), force: false });
    let results = [1, 2, 7].map(|threads| {
        config.threads = Some(threads);
        let study = count(&config, &trace).unwrap();
        serde_json::to_string(&study).unwrap()
    });
    assert_eq!(results[0], results[1]);
    assert_eq!(results[0], results[2]);
}

/// The numbers themselves are worked out by hand in `testdata/cases/tlb.toml`.
#[test]
fn a_corrected_outcome_has_thirteen_fields_and_the_tlb() {
    let trace = random_trace(10, 1);
    let mut config = config(&["68030"], &[4096]);
    config.correct = Some(McprCorrection {
        machine: "prices:r=15,R=59".into(),
        policy: "optimal".into(),
        force: false,
    });
    let study = count(&config, &trace).unwrap();
    let json = serde_json::to_value(&study.outcomes[0]).unwrap();
    let names: Vec<&str> = json.as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(names.len(), 13, "{names:?}");
    assert!(study.provenance.tlbs[0].contains("68030: entries=22,ways=22,paired=no"));
}

#[test]
fn invalid_configurations_are_errors() {
    let trace = random_trace(10, 1);
    let fail = |config: &TlbConfig| {
        let error = count(config, &trace).unwrap_err();
        assert!(error.is_config());
        error.to_string()
    };
    assert!(fail(&config(&[], &[4096])).contains("no TLB is given"));
    assert!(fail(&config(&["ace"], &[])).contains("no page size is given"));
    assert!(fail(&config(&["ace"], &[100])).contains("100 is not a power of two"));
    assert!(fail(&config(&["vax"], &[64])).contains("unknown TLB"));
    let large = TlbConfig { processors: Some(1024), ..config(&["entries=65536"], &[64, 128, 256]) };
    assert!(fail(&large).contains("more than 1 GiB"));
    let correct =
        Some(McprCorrection { machine: "vax".into(), policy: "ace".into(), force: false });
    assert!(fail(&TlbConfig { correct, ..config(&["ace"], &[64]) }).contains("unknown machine"));
    assert!(fail(&TlbConfig { threads: Some(0), ..config(&["ace"], &[64]) }).contains("from 1 to"));
}

#[test]
fn the_count_can_be_interrupted() {
    let trace = random_trace(5_000, 2);
    let config = config(&["ace"], &[4096]);
    let error = tlb_misses(&config, &trace, &mut |_, _| ControlFlow::Break(())).unwrap_err();
    assert!(matches!(error, SimError::Interrupted));
}
