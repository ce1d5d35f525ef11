//! The page manager over whole traces.

use std::ops::ControlFlow;

use homenode_base::{Access, AccessKind, Flags, Rng};
use homenode_sim::{PmapConfig, PmapReport, PrivateReferences, SimConfig, SimError, pmap, run};
use homenode_trace::{AddressRange, Event, EventKind, Metadata, RangeKind, TraceReader};

use crate::made;

fn trace(length: u64) -> TraceReader {
    let mut rng = Rng::new(4);
    let mut all = Vec::new();
    for _ in 0..length {
        let thread = u16::try_from(rng.below(5)).unwrap();
        let kind = if rng.below(3) == 0 { AccessKind::Write } else { AccessKind::Read };
        let flags = Flags([0, 0, 0, 1, 2][usize::try_from(rng.below(5)).unwrap()]);
        let addr = 0x4000 + rng.below(30) * 700 + rng.below(60);
        for _ in 0..1 + rng.below(4) {
            all.push(Access { flags, ..Access::new(thread, kind, addr, 8) });
        }
    }
    let range = AddressRange::new(RangeKind::Static, 0x4000, 64, "counter");
    made::trace(&all, 500, Metadata { ranges: vec![range], ..Metadata::default() })
}

fn config() -> PmapConfig {
    PmapConfig { page_size: 512, count: 5, threads: Some(1), ..PmapConfig::default() }
}

fn manage(config: &PmapConfig, trace: &TraceReader) -> Result<PmapReport, SimError> {
    pmap(config, trace, &mut |_, _| ControlFlow::Continue(()))
}

#[test]
fn the_report_adds_up() {
    let report = manage(&config(), &trace(3_000)).unwrap();
    assert_eq!(report.pages, report.final_states.values().sum::<u64>());
    assert_eq!(report.counts.faults, report.faults.iter().map(|row| row.count).sum::<u64>());
    assert_eq!(report.accesses, report.locality.reads + report.locality.writes);
    assert_eq!(report.final_states["global-writable"], report.counts.pins);
    let parts = report.kernel_time.parts().iter().map(|(_, seconds)| seconds).sum::<f64>();
    assert!((report.kernel_time.total_s - parts).abs() < 1e-12);
    assert_eq!(report.busiest.len(), 5);
    let times = report.busiest.windows(2);
    assert!(times.into_iter().all(|pair| pair[0].kernel_time_s >= pair[1].kernel_time_s));
    let all = manage(&PmapConfig { count: 1000, ..config() }, &trace(3_000)).unwrap();
    let named: Vec<_> = all.busiest.iter().filter(|page| !page.objects.is_empty()).collect();
    assert_eq!(named.len(), 1);
    assert_eq!(
        (named[0].address.as_str(), &named[0].objects[..]),
        ("0x4000", &["counter".into()][..])
    );
    let kernel: f64 = all.busiest.iter().map(|page| page.kernel_time_s).sum();
    assert!((kernel - all.kernel_time.total_s).abs() < 1e-9);
}

#[test]
fn all_global_is_the_baseline_of_every_other_policy() {
    let trace = trace(2_000);
    let limit = manage(&config(), &trace).unwrap();
    let global = manage(&PmapConfig { policy: "all-global".into(), ..config() }, &trace).unwrap();
    assert_eq!(global.counts.local(), 0);
    assert_eq!(limit.all_global, global.all_global);
    assert_eq!(global.kernel_time.total_s, global.all_global.kernel_time_s);
    assert_eq!(global.reference_time_s, global.all_global.reference_time_s);
    // With a limit of 0 nothing stays local.
    let none = manage(&PmapConfig { limit: 0, ..config() }, &trace).unwrap();
    assert_eq!(none.counts, global.counts);
}

#[test]
fn the_same_report_on_any_number_of_threads_and_under_any_budget() {
    let trace = trace(3_000);
    let expected = manage(&config(), &trace).unwrap();
    for (threads, budget) in [(2, None), (8, Some(10_000)), (1, Some(1))] {
        let changed =
            PmapConfig { threads: Some(threads), memory_budget_bytes: budget, ..config() };
        assert_eq!(manage(&changed, &trace).unwrap(), expected, "{threads} {budget:?}");
    }
}

/// `tests/agreement.rs` of the engine, repeated through files and filters.
#[test]
fn limit_writes_serves_references_as_ace_does() {
    let trace = trace(3_000);
    for private in [PrivateReferences::Local, PrivateReferences::Exclude, PrivateReferences::Shared]
    {
        let pages = PmapConfig {
            policy: "limit-writes".into(),
            owner_copy: homenode_pmap::OwnerCopy::Keep,
            private,
            ..config()
        };
        let report = manage(&pages, &trace).unwrap();
        let matrix =
            SimConfig { private: Some(private), ..SimConfig::new(&["ace"], &["ace"], &[512]) };
        let simulation = run(&matrix, &trace, &mut |_, _| ControlFlow::Continue(())).unwrap();
        let (ace, found) = (&simulation.outcomes[0], &report.counts);
        assert_eq!(report.references, ace.references);
        assert_eq!(found.local(), ace.counts.local_references());
        assert_eq!(found.global(), ace.counts.global_references());
        assert_eq!(
            (found.invalidations, found.pins),
            (ace.counts.invalidations, ace.counts.freezes)
        );
    }
}

/// Page 1 of 512 bytes: two processors use it, then its mapping is removed, and one uses it again.
#[test]
fn a_page_whose_mapping_is_removed_is_freed() {
    let unmap = |addr, size| Event { thread: 0, what: EventKind::Unmap { addr, size } };
    let write = |thread, addr| Access::new(thread, AccessKind::Write, addr, 8);
    let fetch = Access::new(0, AccessKind::Fetch, 0x9000, 4);
    let trace = made::written(made::FLAGS, 500, Metadata::default(), |writer| {
        for access in [write(0, 0x200), write(1, 0x208), fetch, write(1, 0x400)] {
            writer.push(&access).unwrap();
        }
        // Page 1, and half of page 2.
        writer.event(unmap(0x200, 0x300)).unwrap();
        for access in [fetch, write(1, 0x200), write(1, 0x208), write(1, 0x400)] {
            writer.push(&access).unwrap();
        }
    });
    for (word_bytes, budget) in [(None, None), (Some(4), None), (None, Some(1))] {
        let kept = PmapConfig { word_bytes, memory_budget_bytes: budget, ..config() };
        let freed = PmapConfig { free_unmapped: true, ..kept.clone() };
        let counts = [kept, freed].map(|config| {
            let counts = manage(&config, &trace).unwrap().counts;
            (counts.faults, counts.local_zero_fills, counts.freed_pages, counts.freed_copies)
        });
        assert_eq!(counts, [(3, 2, 0, 0), (4, 3, 1, 1)], "{word_bytes:?} {budget:?}");
    }
}

#[test]
fn invalid_options_are_errors_before_the_trace_is_read() {
    let trace = trace(10);
    let wrong = [
        (PmapConfig { policy: "lru".into(), ..config() }, "limit-writes"),
        (PmapConfig { page_size: 3000, ..config() }, "power of two"),
        (PmapConfig { costs: vec!["fault=x".into()], ..config() }, "microseconds"),
        (PmapConfig { processors: Some(2000), ..config() }, "1024"),
        (PmapConfig { threads: Some(0), ..config() }, "worker threads"),
    ];
    for (config, part) in wrong {
        let error = manage(&config, &trace).unwrap_err();
        assert!(error.is_config() && error.to_string().contains(part), "{error}");
    }
}
