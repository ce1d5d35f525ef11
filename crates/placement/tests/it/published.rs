//! Markatos and Chronaki's own tables against the prices that we read from them: all 168 rows of
//! their appendix, the exceptions by name. What does not follow here is in
//! `docs/page-coherence.md`.

use homenode_base::BlockSize;
use homenode_machine::{EventPrices, PricedMachine};

/// A number is printed with three decimals.
const HALF_DIGIT: f64 = 0.0005;

#[derive(Clone, Debug)]
struct Row {
    table: u32,
    program: String,
    policy: String,
    page_log2: u32,
    local: f64,
    remote: f64,
    replication: f64,
    multicast: f64,
    os: f64,
    replication_packets: f64,
    remote_packets: f64,
    multicast_packets: f64,
    mls: f64,
    events: EventPrices,
}

fn rows() -> Vec<Row> {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
    let path =
        "reproduction/python/homenode_studies/studies/published/markatos-chronaki/tables.csv";
    let text = std::fs::read_to_string(format!("{root}/{path}")).unwrap();
    let machine = PricedMachine::parse("markatos").unwrap();
    let row = |line: &str| {
        let cells: Vec<&str> = line.split(',').collect();
        let [table, program, _, policy, page_log2, rest @ ..] = cells.as_slice() else {
            panic!("{line}")
        };
        let numbers: Vec<f64> = rest.iter().map(|n| n.parse().unwrap()).collect();
        let [local, remote, replication, multicast, os, rep, rem, multi, mls] = numbers[..] else {
            panic!("{line}")
        };
        let page_log2: u32 = page_log2.parse().unwrap();
        let block = BlockSize::new(1u64 << page_log2).unwrap();
        Row {
            table: table.parse().unwrap(),
            program: (*program).to_owned(),
            policy: (*policy).to_owned(),
            page_log2,
            local,
            remote,
            replication,
            multicast,
            os,
            replication_packets: rep,
            remote_packets: rem,
            multicast_packets: multi,
            mls,
            events: *machine.price_list(block, false).unwrap().events().unwrap(),
        }
    };
    text.lines().skip(1).map(row).collect()
}

fn float(n: u64) -> f64 {
    f64::from(u32::try_from(n).unwrap())
}

impl Row {
    fn name(&self) -> String {
        format!("table {} {} {}", self.table, self.policy, self.page_log2)
    }

    fn updates(&self) -> bool {
        self.policy.starts_with("upt")
    }

    fn delayed(&self) -> bool {
        self.policy.ends_with(".del")
    }

    fn words(&self) -> f64 {
        float(self.events.replication_packets)
    }

    /// Replications a reference, from their packets, which agree with the sums better.
    fn replications(&self) -> f64 {
        self.replication_packets / self.words()
    }

    /// Remote reads a reference. Under an update policy the remote column holds reads alone.
    fn remote_reads(&self) -> f64 {
        let (read, write) = (float(self.events.remote_read), float(self.events.remote_write));
        if self.updates() {
            self.remote / read
        } else {
            (self.remote - write * self.remote_packets) / (read - write)
        }
    }

    fn remote_writes(&self) -> f64 {
        self.remote_packets - self.remote_reads()
    }
}

/// How far `found` is from `expected`, relatively, beyond what rounding explains.
fn off(found: f64, expected: f64, rounding: f64) -> f64 {
    ((found - expected).abs() - rounding).max(0.0) / expected
}

/// Checks that all rows are within 2 %, and `close` of them within 0.2 %.
fn all_close(what: &str, deviation: impl Fn(&Row) -> f64, close: usize) {
    let rows = rows();
    for row in &rows {
        assert!(deviation(row) <= 0.02, "{what}: {} is {} off", row.name(), deviation(row));
    }
    let found = rows.iter().filter(|row| deviation(row) <= 0.002).count();
    assert_eq!(found, close, "{what}: rows within 0.2 %");
}

#[test]
fn the_fixture_is_the_whole_appendix() {
    let rows = rows();
    assert_eq!(rows.len(), 168);
    let of = |table| rows.iter().filter(|r| r.table == table).count();
    let counts: Vec<usize> = (2..=13).map(of).collect();
    assert_eq!(counts, [12, 12, 10, 10, 12, 12, 10, 10, 20, 20, 20, 20]);
}

/// Every replication sends w packets and takes 90 + 4 w cycles.
#[test]
fn replication_latency_and_traffic_belong_together() {
    all_close(
        "replication",
        |row| {
            let price = float(row.events.replication) / row.words();
            off(row.replication, row.replication_packets * price, HALF_DIGIT * (1.0 + price))
        },
        143,
    );
}

/// Every replication enters the operating system once, a delayed one twice, 500 cycles each.
#[test]
fn entries_into_the_operating_system_follow_from_replications() {
    all_close(
        "operating system",
        |row| {
            let entries = if row.delayed() { 2.0 } else { 1.0 };
            let price = entries * float(row.events.os_entry) / float(row.events.replication);
            off(row.os, row.replication * price, HALF_DIGIT * (1.0 + price))
        },
        142,
    );
}

/// A remote read takes 100 cycles and a remote write 10, each sends one packet. Plain policies
/// never read remotely; under the update policies the latency of remote writes is not in "remote".
#[test]
fn remote_latency_and_traffic_belong_together() {
    for row in rows() {
        match (row.updates(), row.delayed()) {
            (true, false) => assert_eq!(row.remote, 0.0, "{}", row.name()),
            (false, false) => {
                let expected = float(row.events.remote_write) * row.remote_packets;
                let rounding = HALF_DIGIT * 11.0 + 1e-9;
                assert!((row.remote - expected).abs() <= rounding, "{}", row.name());
            }
            (_, true) => {
                assert!(row.remote_reads() > 0.0 && row.remote_writes() > 0.0, "{}", row.name());
            }
        }
    }
}

/// Local, remote and replicating references are all references: a read that replicates is not also
/// charged as local. To four digits in FFT; other programs miss up to 14.3 %, most of all under
/// UPT, and the paper does not say why.
#[test]
fn references_add_up() {
    for row in rows() {
        let local = row.local / float(row.events.local);
        let sum = local + row.remote_packets + row.replications();
        let least = match row.program.as_str() {
            "fft" => 0.9994,
            "simple" => 0.922,
            "speech" => 0.856,
            "weather" => 0.933,
            program => panic!("{program}"),
        };
        assert!((least..1.0006).contains(&sum), "{}: {sum}", row.name());
    }
}

/// The counter starts at words / 8 and counts reads: never fewer remote reads for a replication,
/// and exactly as many in the first row of table 6.
#[test]
fn remote_reads_for_each_replication_tell_where_the_counter_starts() {
    let delayed: Vec<Row> = rows().into_iter().filter(Row::delayed).collect();
    assert_eq!(delayed.len(), 84);
    for row in &delayed {
        let each = row.remote_reads() / row.replications();
        let counter = row.words() / 8.0;
        assert!(each >= counter - 1.0, "{}: {each} for a counter of {counter}", row.name());
        // Bytes / 8, which the text says, is ruled out.
        if row.table == 6 && row.page_log2 == 6 && row.updates() {
            assert!((each - 1.0).abs() < 0.001, "{each}");
        }
    }
    let below_bytes = delayed
        .iter()
        .filter(|r| r.remote_reads() / r.replications() < 4.0 * r.words() / 8.0 - 1.0);
    assert!(below_bytes.count() >= 10, "the text's counter would allow none");
}

/// An update packet takes about 10 cycles, once the remote writes that stand in the same column are
/// taken out. SPEECH is an exception: there all ten rows of tables 4 and 8 print the same latency,
/// whatever the traffic. So are rows with fewer than 0.01 packets, where three decimals say little.
#[test]
fn an_update_packet_takes_about_ten_cycles() {
    let mut speech = 0;
    for row in rows().into_iter().filter(Row::updates) {
        if row.program == "speech" && row.table < 10 {
            assert_eq!(row.multicast, 22.820, "{}", row.name());
            speech += 1;
            continue;
        }
        if row.multicast_packets < 0.01 {
            assert!(matches!(row.table, 9 | 10 | 13), "{}", row.name());
            continue;
        }
        let writes = float(row.events.remote_write) * row.remote_writes();
        let each = (row.multicast - writes) / row.multicast_packets;
        assert!((8.2..11.1).contains(&each), "{}: {each}", row.name());
    }
    assert_eq!(speech, 10);
}

#[test]
fn invalidate_policies_send_no_updates() {
    for row in rows().into_iter().filter(|row| !row.updates()) {
        assert_eq!((row.multicast, row.multicast_packets, row.mls), (0.0, 0.0, 0.0));
    }
}

/// On 64 processors a multicast updates at most 63 copies, and there cannot be more multicasts than
/// references.
#[test]
fn multicasts_reach_at_most_all_other_processors() {
    for row in rows().into_iter().filter(Row::updates) {
        assert!((1.0..=63.0).contains(&row.mls), "{}: {}", row.name(), row.mls);
        assert!(row.multicast_packets / row.mls < 1.0, "{}", row.name());
    }
}
