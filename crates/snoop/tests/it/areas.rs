//! The kernel's areas of each processor follow the simulated processors, on which random processes
//! run. Two processes of one processor, and one in the area of another, are cases
//! (`testdata/cases/bus-kernel.toml`).

use homenode_base::{Flags, ReferenceFilter, Rng};
use homenode_clock::streams::StreamSplitter;
use homenode_machine::Dispatch;
use homenode_snoop::{BusCounts, ProtocolSpec, bus_clock};
use homenode_trace::{Batch, Event, EventKind, ProcessorAreas};

use crate::clocked::{check_conservation, given};

/// Writes, as (process, address), and markers that say on which processor a process was.
#[derive(Clone, Copy)]
enum Did {
    Writes(u16, u64),
    Was(u16, u16),
}

fn batch(done: &[Did]) -> Batch {
    let mut batch = Batch::default();
    for did in done {
        match *did {
            Did::Writes(process, addr) => {
                batch.turns.push(process);
                batch.kind.push(1);
                batch.size.push(4);
                batch.addr.push(addr);
                batch.flags.push(Flags::KERNEL.0);
            }
            Did::Was(thread, processor) => {
                let row = u32::try_from(batch.len()).unwrap();
                let what = EventKind::Marker { text: format!("processor {processor}") };
                batch.events.push((row, Event { thread, what }));
            }
        }
    }
    batch
}

/// The result on this number of processors, with and without areas that follow.
fn counts(done: &[Did], processors: u16, slice: u64) -> [BusCounts; 2] {
    let areas = ProcessorAreas { size: 0x1000, starts: vec![0x1_0000, 0x1_2000, 0x1_4000] };
    let processes = 1 + done
        .iter()
        .map(|did| match *did {
            Did::Writes(process, _) | Did::Was(process, _) => usize::from(process),
        })
        .max()
        .unwrap();
    let mut given = given("mesi", processors, processes);
    given.timed.clock.scheduler.time_slice_references = slice;
    given.timed.clock.scheduler.policy = Dispatch::Random;
    [true, false].map(|follow| {
        let table = ProtocolSpec::parse("mesi").unwrap().table();
        let mut clock = bus_clock(&given.setup, table, &given.timed).unwrap();
        let mut splitter = StreamSplitter::new(processes, ReferenceFilter::ALL, &[], None);
        if follow {
            clock.set_areas(&areas);
            splitter = splitter.with_areas(&areas);
        }
        clock.push(&splitter.split(&batch(done))).unwrap();
        let result = clock.finish().unwrap();
        check_conservation(&given, &result);
        result.counts
    })
}

#[test]
fn own_areas_are_never_shared_wherever_processes_run() {
    let mut rng = Rng::new(5);
    for round in 0..20 {
        let (processes, processors) = (2 + rng.below(6), 1 + rng.below(8));
        let mut done = Vec::new();
        for _ in 0..1_000 {
            let process = u16::try_from(rng.below(processes)).unwrap();
            let was = rng.below(3);
            done.push(Did::Was(process, u16::try_from(was).unwrap()));
            done.push(Did::Writes(process, 0x1_0000 + 0x2000 * was + 4 * rng.below(100)));
        }
        let [follow, fixed] = counts(&done, u16::try_from(processors).unwrap(), 1 + rng.below(40));
        assert_eq!(follow.references, 1_000, "round {round}");
        let shared = |counts: &BusCounts| {
            counts.transactions.invalidate + counts.transactions.read_invalidate_cache
        };
        assert_eq!(shared(&follow), 0, "round {round}");
        assert!(processors == 1 || shared(&fixed) > 0, "round {round}");
    }
}
