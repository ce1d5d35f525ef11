//! Machines on a bus over whole traces, through [`homenode_sim::simulate_bus`].

use std::ops::ControlFlow;

use homenode_base::{Access, AccessKind, Flags, Rng};
use homenode_sim::{
    BusConfig, BusOutcome, BusSimulation, SimError, engine_of, machine_rows, simulate_bus,
};
use homenode_trace::{Columns, Metadata, TraceReader};

use crate::made::{self, configured};

fn trace(references: u64, chunk_rows: u32) -> TraceReader {
    let mut rng = Rng::new(9);
    let access = |_| {
        let thread = u16::try_from(rng.below(6)).unwrap();
        let kind = match rng.below(8) {
            0 => AccessKind::Write,
            1 => AccessKind::Fetch,
            _ => AccessKind::Read,
        };
        let access = Access::new(thread, kind, 8 * rng.below(3_000), 8);
        Access { flags: Flags(u8::try_from(rng.below(8)).unwrap()), ..access }
    };
    made::trace(&(0..references).map(access).collect::<Vec<_>>(), chunk_rows, Metadata::default())
}

fn config(text: &str) -> BusConfig {
    let all = serde_json::json!({"machines": ["bus-smp"], "protocols": ["mesi", "amsd", "pscr"],
                           "order": "trace"});
    configured(all, text)
}

fn simulate(text: &str, trace: &TraceReader) -> Result<BusSimulation, SimError> {
    simulate_bus(&config(text), trace, &mut |_, _| ControlFlow::Continue(()))
}

#[test]
fn outcomes_do_not_depend_on_threads_or_chunks() {
    let caches = r#""cache_sizes": [1024, 4096], "associativities": [1, 4, null],
                    "block_sizes": [32, 64], "check": true"#;
    let mut all = Vec::new();
    for (threads, chunk_rows) in [(1, 1 << 16), (2, 1_000), (8, 777)] {
        let text = format!(r#"{{{caches}, "threads": {threads}}}"#);
        let found = simulate(&text, &trace(20_000, chunk_rows)).unwrap();
        all.push(serde_json::to_string(&found.outcomes).unwrap());
        assert_eq!(found.outcomes.len(), 3 * 2 * 3 * 2);
    }
    assert!(all[0] == all[1] && all[1] == all[2]);
}

#[test]
fn outcomes_are_in_configuration_order_with_provenance() {
    let text = r#"{"cache_sizes": [1024, 2048], "block_sizes": [64], "processors": 4}"#;
    let found = simulate(text, &trace(2_000, 1_000)).unwrap();
    let keys: Vec<(&str, u64, u64)> = found
        .outcomes
        .iter()
        .map(|o| (o.protocol.as_str(), o.cache_size, o.associativity))
        .collect();
    let expected: Vec<(&str, u64, u64)> = ["mesi", "amsd", "pscr"]
        .into_iter()
        .flat_map(|protocol| [(protocol, 1024, 2), (protocol, 2048, 2)])
        .collect();
    assert_eq!(keys, expected);
    for outcome in &found.outcomes {
        let counts = &outcome.counts;
        assert_eq!((counts.references, outcome.processors), (2_000, 4));
        assert_eq!(counts.hits + counts.misses.total(), counts.block_references);
        assert_eq!(outcome.cycles, None);
        assert!(counts.kernel.references > 800);
    }
    assert_eq!(found.provenance.machines.len(), 1);
    assert_eq!(found.provenance.machines[0].transactions.unwrap().read_block_memory, 72);
}

/// Sets of caches are as wide as the machine needs; processors without a thread change nothing.
#[test]
fn idle_processors_do_not_change_outcomes() {
    let trace = trace(20_000, 1_000);
    for order in ["trace", "clock"] {
        let counts = |processors: u16| {
            let text = format!(
                r#"{{"processors": {processors}, "check": true, "order": "{order}",
                     "cache_sizes": [4096]}}"#
            );
            let found = simulate(&text, &trace).unwrap();
            let all = found.outcomes.iter();
            all.map(|outcome| (outcome.counts, outcome.cycles)).collect::<Vec<_>>()
        };
        assert_eq!(counts(64), counts(65), "{order}");
        assert_eq!(counts(64), counts(1024), "{order}");
    }
}

#[test]
fn invalid_options_are_errors_before_the_trace_is_read() {
    let trace = trace(10, 10);
    let cases = [
        (r#"{"machines": []}"#, "no machine is given"),
        (r#"{"protocols": ["mosi"]}"#, "unknown protocol \"mosi\": expected one of mesi, amsd"),
        (r#"{"protocols": ["mesi:x=yes"]}"#, "it has no parameter, found \"x\""),
        (r#"{"protocols": ["pscr:private_kernel=2"]}"#, "private_kernel is yes or no, found \"2\""),
        (r#"{"processors": 1025}"#, "1025 processors: the model allows 1 to 1024"),
        (r#"{"cache_sizes": [1000]}"#, "cache size 1000 bytes, associativity 2"),
        (r#"{"block_sizes": [8]}"#, "block size 8 bytes: a cache on a bus has"),
        (r#"{"block_sizes": [0]}"#, "block size 0 bytes"),
        (r#"{"private_ranges": [[8, 8]]}"#, "private range 0x8-0x8"),
        (r#"{"threads": 0}"#, "worker threads"),
        (
            r#"{"cache_sizes": [1073741824], "block_sizes": [16], "processors": 64}"#,
            "more than 8 GiB",
        ),
    ];
    for (text, expected) in cases {
        let error = simulate(text, &trace).unwrap_err();
        assert!(error.is_config(), "{text}");
        assert!(error.to_string().contains(expected), "{text}: {error}");
    }
    let engine = |machines: &[&str]| engine_of(machines).map(|engine| engine.name);
    assert_eq!(engine(&["bus-smp", "spr-2s-lines"]).unwrap(), "bus");
    assert_eq!(engine(&["dash-mesh", "alite"]).unwrap(), "directory");
    assert_eq!(engine(&["numa", "ace"]).unwrap(), "simulate");
    assert!(engine(&["bus-smp", "numa"]).is_err() && engine(&[]).is_err());
    let rows = machine_rows(&["bus-smp"], &[64], false).unwrap();
    let row = serde_json::to_value(&rows[0]).unwrap();
    assert_eq!((&row["model"], &row["transactions"]["write"]), (&"bus".into(), &5.into()));
}

#[test]
fn fetches_can_have_separate_caches() {
    let file = tempfile::Builder::new().suffix(".toml").tempfile().unwrap();
    let text = "name = \"split\"\nkind = \"bus\"\nbase = \"bus-smp\"\n[cache.split]\n\
                size_bytes = { value = 1024, source = \"test\" }\n\
                associativity = { value = 2, source = \"test\" }\n";
    std::fs::write(file.path(), text).unwrap();
    let path = file.path().to_str().unwrap();
    let run = |more: &str| {
        let shape = r#""cache_sizes": [2048], "block_sizes": [64], "associativities": [2]"#;
        let text = format!(r#"{{"machines": ["bus-smp", "{path}"], {shape}{more}}}"#);
        simulate(&text, &trace(5_000, 1_000))
    };
    for (order, processors) in [("trace", 3), ("clock", 3), ("clock", 40)] {
        let more = format!(r#", "order": "{order}", "processors": {processors}"#);
        let found = run(&more).unwrap();
        let [unified, split] = [&found.outcomes[0], &found.outcomes[3]];
        assert_eq!((split.machine.as_str(), split.cache_size), ("split", 2048));
        assert_eq!(unified.counts.references, split.counts.references);
        assert_ne!(unified.counts.misses, split.counts.misses);
    }
    let error = run(r#", "fetches": "exclude""#).unwrap_err().to_string();
    assert!(error.contains("machine split has instruction caches of its own"), "{error}");
}

#[test]
fn an_interrupted_simulation_has_no_outcome() {
    let result =
        simulate_bus(&config("{}"), &trace(5_000, 100), &mut |_, _| ControlFlow::Break(()));
    assert!(matches!(result, Err(SimError::Interrupted)));
}

#[test]
fn clocked_outcomes_do_not_depend_on_threads_or_chunks() {
    let mut all = Vec::new();
    for (threads, chunk_rows, check) in [(1, 1 << 16, false), (2, 1_000, true), (8, 777, false)] {
        let text = format!(
            r#"{{"order": "clock", "cache_sizes": [1024, 4096], "block_sizes": [32, 64],
                 "scaling": [2, 4, 6], "threads": {threads}, "check": {check}}}"#
        );
        let found = simulate(&text, &trace(20_000, chunk_rows)).unwrap();
        all.push(serde_json::to_string(&found.outcomes).unwrap());
        assert_eq!((found.outcomes.len(), found.scalability.len()), (3 * 2 * 2 * 3, 3 * 2 * 2));
        for outcome in &found.outcomes {
            let work = outcome.work;
            let cycles = outcome.cycles.unwrap() * u64::from(outcome.processors);
            let parts = work.busy_cycles.unwrap() + work.delay_cycles.unwrap();
            assert_eq!(parts + work.idle_cycles.unwrap(), cycles);
            assert!(outcome.bus_utilisation.unwrap() <= 1.0);
            assert!(outcome.gsp.unwrap() > 0.0 && outcome.counts.references == 20_000);
        }
        // The bus saturates with few processors, so more of them gain nothing.
        assert!(found.scalability.iter().all(|line| line.critical_point == Some(2)));
    }
    assert!(all[0] == all[1] && all[1] == all[2]);
}

#[test]
fn seed_and_policies_of_the_clock_are_options_and_recorded() {
    let trace = trace(8_000, 1_000);
    let cycles = |text: &str| {
        let text =
            format!(r#"{{"order": "clock", "processors": 2, "protocols": ["mesi"] {text}}}"#);
        let found = simulate(&text, &trace).unwrap();
        (found.outcomes[0].cycles, found.provenance)
    };
    let (first, provenance) = cycles("");
    assert_eq!((provenance.seed, provenance.scheduler), (1, None));
    assert_eq!(cycles("").0, first);
    assert_ne!(cycles(r#", "seed": 2"#).0, first, "other frames, other order");
    let (identical, provenance) = cycles(r#", "addresses": "trace", "scheduler": "affinity""#);
    let text = serde_json::to_string(&provenance).unwrap();
    assert!(text.contains(r#""addresses":"trace""#) && text.contains(r#""affinity""#), "{text}");
    assert_eq!(
        cycles(r#", "addresses": "trace", "scheduler": "affinity", "seed": 9"#).0,
        identical
    );
}

#[test]
fn a_trace_that_looks_like_a_whole_system_gets_a_note() {
    let columns = Columns { pid: true, ..Columns::default() };
    let trace = made::written(columns, 100, Metadata::default(), |writer| {
        for i in 0..1_000 {
            let access =
                Access::new(u16::try_from(i % 2).unwrap(), AccessKind::Read, 64 * (i / 2), 8);
            writer.push(&Access { pid: u32::try_from(i % 6).unwrap(), ..access }).unwrap();
        }
    });
    let run = |addresses: &str| {
        let text = format!(r#"{{"order": "clock", "addresses": "{addresses}"}}"#);
        let found = simulate(&text, &trace).unwrap();
        (found.outcomes[0].counts.transactions.read_block_cache, found.provenance.notes)
    };
    let (shared, notes) = run("auto");
    assert!(shared == 0 && notes.len() == 1 && notes[0].contains("--addresses trace"), "{notes:?}");
    let (shared, notes) = run("trace");
    assert!(shared > 0 && notes.is_empty());
}

#[test]
fn cycles_do_not_keep_the_turns_of_an_emulated_program() {
    let notes = |method: &str, threads: u16, order: &str| {
        let metadata = Metadata { method: method.to_owned(), ..Metadata::default() };
        let rows: Vec<_> = (0..100_u16)
            .map(|i| Access::new(i % threads, AccessKind::Write, 64 * u64::from(i), 8))
            .collect();
        let trace = made::trace(&rows, 100, metadata);
        simulate(&format!(r#"{{"order": "{order}"}}"#), &trace).unwrap().provenance.notes
    };
    let [said] = &notes("qemu", 2, "clock")[..] else { panic!("one note") };
    assert!(said.contains("which sees no locks") && said.contains("--order trace"), "{said}");
    assert!(notes("qemu", 2, "trace").is_empty());
    assert!(notes("qemu", 1, "clock").is_empty());
    assert!(notes("cc", 2, "clock").is_empty());
}

/// Points are the rows of the full matrix, each with its own scheduler, in the given order.
#[test]
fn points_are_rows_of_the_matrix() {
    let trace = trace(6_000, 1_000);
    let caches = r#""cache_sizes": [1024, 4096], "associativities": [1], "scaling": [2, 4]"#;
    let matrix = |scheduler: &str| {
        let text = format!(r#"{{{caches}, "order": "clock", "scheduler": "{scheduler}"}}"#);
        simulate(&text, &trace).unwrap().outcomes
    };
    let point = r#"{"machine": "bus-smp", "associativity": 1"#;
    let text = format!(
        r#"{{"machines": [], "protocols": [], "order": "clock", "points": [
            {point}, "protocol": "pscr", "cache_size": 4096, "processors": 4,
              "scheduler": "affinity"}},
            {point}, "protocol": "mesi", "cache_size": 1024, "processors": 2}}]}}"#
    );
    let found = simulate(&text, &trace).unwrap();
    let json = |outcome: &BusOutcome| serde_json::to_value(outcome).unwrap();
    assert_eq!(found.outcomes.len(), 2);
    assert_eq!(json(&found.outcomes[0]), json(&matrix("affinity")[2 * 4 + 3]));
    assert_eq!(json(&found.outcomes[1]), json(&matrix("random")[0]));
    assert_eq!((found.scalability.len(), found.provenance.processors), (0, vec![2, 4]));
}

/// A kernel that reads a buffer of a process gets the block as the process would; blocks that only
/// the kernel uses are shared, unless the protocol treats them as private.
#[test]
fn an_area_is_private_for_process_and_kernel() {
    let columns = Columns { pid: true, ..made::FLAGS };
    let (user, kernel) = (Flags::PRIVATE, Flags::PRIVATE.union(Flags::KERNEL));
    let references = [
        (0, AccessKind::Write, 0x8000, user),
        (1, AccessKind::Read, 0x8000, kernel),
        (0, AccessKind::Write, 0x8000, user),
        (0, AccessKind::Write, 0x9000, kernel),
        (1, AccessKind::Read, 0x9000, kernel),
        (0, AccessKind::Write, 0x9000, kernel),
    ];
    let trace = made::written(columns, 1 << 16, Metadata::default(), |writer| {
        for (thread, kind, addr, flags) in references {
            let access = Access::new(thread, kind, addr, 4);
            writer.push(&Access { pid: 7, flags, ..access }).unwrap();
        }
    });
    let text = r#"{"protocols": ["pscr", "pscr:private_kernel=yes", "mesi"], "processors": 2}"#;
    let found = simulate(text, &trace).unwrap();
    let [plain, extended, mesi] = &found.outcomes[..] else { panic!("three protocols") };
    let counts = &plain.counts;
    assert_eq!((counts.misses.removal, counts.coherence.passive), (1, 0));
    let origin = counts.coherence_origin;
    assert_eq!((origin.user_page, origin.kernel_page, origin.other), (0, 1, 0));
    assert_eq!((extended.counts.misses.removal, extended.counts.transactions.write), (2, 0));
    // MESI leaves a copy on the other processor, whose invalidation is useless.
    let counts = &mesi.counts;
    assert_eq!((counts.coherence.passive, counts.coherence.true_sharing), (1, 1));
    let origin = counts.coherence_origin;
    assert_eq!((origin.user_page, origin.kernel_page, origin.other), (1, 1, 0));
}

/// Every process does its share, with any number of threads, and processors without a process
/// restart those that ended.
#[test]
fn a_run_with_restarts_lasts_until_every_process_has_done_its_share() {
    let trace = trace(20_000, 1_000);
    let mut all = Vec::new();
    for threads in [1, 4] {
        let text = format!(
            r#"{{"protocols": ["mesi", "pscr"], "order": "clock", "processors": 6,
                "restart": true, "threads": {threads}}}"#
        );
        let found = simulate(&text, &trace).unwrap();
        for outcome in &found.outcomes {
            assert!(outcome.counts.references >= 20_000);
            // A process with more references than the average of 3,334 owes that many.
            assert!(outcome.work.rounds_least.is_some_and(|rounds| rounds >= 0.9));
            assert!(outcome.work.rounds_most >= outcome.work.rounds_least);
        }
        all.push(serde_json::to_string(&found.outcomes).unwrap());
    }
    assert_eq!(all[0], all[1]);
}
