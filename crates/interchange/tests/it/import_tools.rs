//! Import of the output of tracers and profilers.

use std::path::Path;

use crate::text::{accesses, exported, imported, refused};
use homenode_trace::TraceReader;

fn fixture(name: &str) -> Vec<u8> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/formats");
    std::fs::read(folder.join(format!("import.{name}"))).unwrap()
}

fn lines(trace: &TraceReader) -> Vec<String> {
    exported("text", trace).lines().skip(1).map(str::to_owned).collect()
}

/// Lines of a view, with the prefix they all have.
fn view(records: &[&str]) -> String {
    let number = |(i, record): (usize, &&str)| format!("{i:>12}{:>12}:        1234 {record}\n", 1);
    records.iter().enumerate().map(number).collect()
}

#[test]
fn a_view_becomes_references_events_and_kernel_flags() {
    let trace = imported("drmemtrace", &fixture("drmemtrace")).unwrap();
    let expected = "\
@ 0 thread-start 0x0 0x0
@ 0 marker version 5
@ 0 marker filetype 0xe40
@ 0 marker cache line size 64
@ 0 marker timestamp 13319413770947383
@ 0 marker tid 2765542 on core 10
0 I 0x404a7e 5 0x404a7e
0 R 0x7fdf64e2adc8 8 0x404a7e
0 I 0x401012 8 0x401012
0 I 0x401020 8 0x401020
0 A 0x402027 4 0x401020
0 I 0x401028 2 0x401028
@ 0 syscall-enter 202
@ 0 marker maybe-blocking system call
@ 0 marker trace start for system call number 202
0 I 0xffffffff81000130 4 0xffffffff81000130 flags=kernel
0 W 0xffffc90000003f58 8 0xffffffff81000130 flags=kernel
@ 0 marker trace end for system call number 202
@ 1 thread-start 0x0 0x0
@ 1 marker version 5
@ 1 marker filetype 0xe40
@ 1 marker timestamp 13319413770949383
@ 1 marker tid 2765543 on core 9
1 I 0x404a78 6 0x404a78
1 I 0x404a90 3 0x404a90
@ 1 marker kernel xfer from 0x404a94 to handler
1 I 0x404b00 3 0x404b00
1 W 0x7fdf64e2ac00 64 0x404b00
1 W 0x7fdf64e2ac40 36 0x404b00
@ 1 thread-exit
@ 0 syscall-exit 202
0 I 0x40102a 2 0x40102a
@ 0 thread-exit";
    assert_eq!(lines(&trace), expected.lines().collect::<Vec<_>>());
    let metadata = trace.metadata();
    let notes = [
        "threads, counted from 0, were 2765542, 2765543",
        "1 prefetches and flushes were left out",
    ];
    assert_eq!(metadata.provenance, notes);
    assert_eq!(metadata.wall_time_s, Some(0.002));
    assert!(metadata.sampling.is_empty());
}

/// Only a write to the same place by the same instruction completes an atomic reference.
#[test]
fn a_read_without_its_write_stays_a_read() {
    let fetch = "ifetch       3 byte(s) @ 0x0000000000000400 87 08 00 xchg   %ecx (%rax)[4byte]";
    let read = "read         4 byte(s) @ 0x0000000000001000 by PC 0x0000000000000400";
    let other = "write        4 byte(s) @ 0x0000000000001004 by PC 0x0000000000000400";
    let same = "write        4 byte(s) @ 0x0000000000001000 by PC 0x0000000000000400";
    let plain = "ifetch       3 byte(s) @ 0x0000000000000400 01 08 00 add    %ecx (%rax)[4byte]";
    let found = |records: &[&str]| accesses("drmemtrace", &view(records))[2..].join(", ");
    assert_eq!(found(&[fetch, read, other]), "0 R 0x1000 4 0x400, 0 W 0x1004 4 0x400");
    assert_eq!(found(&[fetch, read, same]), "0 A 0x1000 4 0x400");
    assert_eq!(found(&[plain, read, same]), "0 R 0x1000 4 0x400, 0 W 0x1000 4 0x400");
    assert_eq!(found(&[fetch, read]), "0 R 0x1000 4 0x400");
}

/// The view lists each round of a repeated instruction, but the processor fetches it once.
#[test]
fn rounds_of_a_repeated_instruction_are_one_fetch() {
    let fetch = "ifetch       3 byte(s) @ 0x0000000000402680 f3 48 a5             rep movsq";
    let read = "read         8 byte(s) @ 0x0000000000001000 by PC 0x0000000000402680";
    let jump = "ifetch       2 byte(s) @ 0x0000000000402680 eb fe                jmp    $0x402680";
    let named = "ifetch       3 byte(s) @ 0x0000000000402680 non-fetched instruction";
    let newer = "non-fetched  3 byte(s) @ 0x0000000000402680 f3 48 a5             rep movsq";
    let fetches = |records: &[(u32, &str)]| {
        let line = |(number, record): &(u32, &str)| format!("1 {number}: 9 {record}\n");
        let text: String = records.iter().map(line).collect();
        accesses("drmemtrace", &text).iter().filter(|line| line.starts_with("0 I")).count()
    };
    assert_eq!(fetches(&[(1, fetch), (1, read), (1, fetch), (1, read), (2, fetch)]), 2);
    assert_eq!(fetches(&[(1, jump), (2, jump)]), 2);
    assert_eq!(fetches(&[(1, fetch), (1, named), (1, newer)]), 1);
    let text = format!("1: T9 {fetch}\n2: T9 {read}\n3: T9 {fetch}\n4: T9 {jump}\n5: T9 {jump}\n");
    let expected = ["0 I 0x402680 3 0x402680", "0 R 0x1000 8 0x402680"];
    let found = accesses("drmemtrace", &text);
    assert_eq!(found[1..3], expected);
    assert_eq!(found[3..], ["0 I 0x402680 2 0x402680", "0 I 0x402680 2 0x402680"]);
}

/// Instructions of release 9.0.1 have no size, and its data no program counter.
#[test]
fn a_view_of_release_9_gives_sizes_by_encodings() {
    let text = "\
Output format:
<record#>: T<tid> <record details>
------------------------------------------------------------
        1: T7 <marker: version 3>
        2: T7   0x0000000000401020  f0 0f c1 05 00 10 00 lock xadd %eax <rel> 0x402027 -> %eax
        2: T7                       00
        3: T7     read  4 byte(s) @ 0x402027
        4: T7     write 4 byte(s) @ 0x402027
        5: T7   0x0000000000402680  f3 48 a5             rep movsq
        6: T7     read  8 byte(s) @ 0x1000
        7: T7   0x0000000000402680  f3 48 a5             rep movsq
        8: T7   0x0000000000402683  31 ff                xor    %edi %edi -> %edi
";
    let expected = [
        "@ 0 thread-start 0x0 0x0",
        "@ 0 marker version 3",
        "0 I 0x401020 8 0x401020",
        "0 A 0x402027 4 0x401020",
        "0 I 0x402680 3 0x402680",
        "0 R 0x1000 8 0x402680",
        "0 I 0x402683 2 0x402683",
    ];
    assert_eq!(accesses("drmemtrace", text), expected);
    let message = refused("drmemtrace", "1: T7   0x0000000000402680 xor\n");
    assert!(message.contains("expected an address with the bytes"), "{message}");
}

/// The view of 2026: all threads with their workload, and markers that it does not close.
#[test]
fn a_view_of_2026_is_read() {
    let text = "\
           1           0:     W0.T7 <marker: version 10>
           2           0:     W0.T7 <marker: skipped memref 0x7ffe
           3           0:     W0.T7 <marker: current thread going unscheduled
           4           0:     W-1.T281474976710655 <marker: core is idle>
           5           1:     W0.T7 non-fetched  3 byte(s) @ 0x0000000000000400 f3 a5 rep movsd
           6           1:     W0.T7 <thread W0.T7 exited>
";
    let expected = [
        "@ 0 thread-start 0x0 0x0",
        "@ 0 marker version 10",
        "@ 0 marker skipped memref 0x7ffe",
        "@ 0 marker current thread going unscheduled",
        "@ 0 thread-exit",
    ];
    assert_eq!(accesses("drmemtrace", text), expected);
}

#[test]
fn elided_locks_are_atomic() {
    for (prefix, kind) in [("xacquire lock cmpxchg", "A"), ("xrelease xchg", "A"), ("mov", "W")] {
        let fetch = format!("ifetch       6 byte(s) @ 0x0000000000000400 f2 f0 {prefix} %rdx");
        let read = "read         8 byte(s) @ 0x0000000000001000 by PC 0x0000000000000400";
        let write = "write        8 byte(s) @ 0x0000000000001000 by PC 0x0000000000000400";
        let found = accesses("drmemtrace", &view(&[&fetch, read, write]));
        assert!(found.last().unwrap().starts_with(&format!("0 {kind} 0x1000 8")), "{found:?}");
    }
}

#[test]
fn encodings_of_dependencies_fill_a_second_line() {
    let records = [
        "ifetch      10 byte(s) @ 0x0000000000000400 00001931 04020204 load [4byte] %rv0 -> %rv0",
        "                                            00000026",
        "                                            00000026 00000007",
        "read         4 byte(s) @ 0x0000000000001000 by PC 0x0000000000000400",
    ];
    assert_eq!(accesses("drmemtrace", &view(&records)).len(), 3);
    let message = refused("drmemtrace", &view(&["00000026 read"]));
    assert!(message.contains("expected ifetch, read, write, a marker"), "{message}");
}

#[test]
fn workloads_of_a_view_are_processes() {
    let text = "\
           8           1:     W0.T1234 ifetch       5 byte(s) @ 0x0000000000404a7e non-branch
           9           1:     W1.T1234 ifetch       5 byte(s) @ 0x0000000000404a7e non-branch
          10           1:          -1 <marker: core is idle>
          11           2:     W0.T1234 ifetch       5 byte(s) @ 0x0000000000404a83 non-branch
";
    let found = accesses("drmemtrace", text);
    assert_eq!(found.iter().filter(|line| line.starts_with('@')).count(), 2);
    assert_eq!(found.last().unwrap(), "0 I 0x404a83 5 0x404a83 pid=1");
    assert!(found.contains(&"1 I 0x404a7e 5 0x404a7e pid=2".to_owned()));
}

#[test]
fn samples_become_references_and_the_metadata_says_so() {
    let trace = imported("perf", &fixture("perf")).unwrap();
    let expected = "\
0 W 0x555555558030 1 0x55555555518d pid=22930
1 R 0x7f125bba7e06 1 0x55555555518d pid=22945
2 W 0x7f125bba7e10 1 0x55555555519d
3 A 0x7f125bba7e18 1 0xffffffff817554ea pid=22945 flags=kernel
3 W 0x7f125bba7e20 1 0x55555555518d pid=22945";
    assert_eq!(lines(&trace), expected.lines().collect::<Vec<_>>());
    let metadata = trace.metadata();
    assert!(metadata.sampling.starts_with("by perf"), "{}", metadata.sampling);
    let notes = [
        "threads, counted from 0, were 22936, 22950, 22945, 22951",
        "1 of 7 samples say neither load nor store and were left out",
        "1 of 7 samples have no address and were left out",
    ];
    assert_eq!(metadata.provenance, notes);
}

/// The last three lines are of perf 6.1: `perf record -d --phys-data -e page-faults/name=loads/`.
#[test]
fn names_and_physical_addresses_are_no_program_counters() {
    for (rest, pc) in [
        ("7f125bba7e06 facade 55555555518d work (/home/u/prog)", "0x55555555518d"),
        ("7f125bba7e06 buffer 55555555518d facade", "0x55555555518d"),
        ("7f125bba7e06 accede\n\t55555555518d work", "0x55555555518d"),
        ("7f125bba7e06 5080021 |OP LOAD|LVL L1 hit|LCK No 7 401136 operator|(A1, B)", "0x401136"),
        ("7f125bba7e06 68100142 |OP LOAD|LCK No|BLK  N/A 12345 401136 10f2bba7e06", "0x401136"),
        ("7f125bba7e06 (/tmp/abcdef0 x/add1234 y) 401136 main", "0x401136"),
        ("7f125bba7e06 12345", "0x12345"),
        ("          40a040 add256           40110d facade               0", "0x40110d"),
        ("    7faeaf3ac3e0 _exit     7faeaf3ac3e0 _exit               0", "0x7faeaf3ac3e0"),
        ("          40b040 [unknown]           40110d facade      10f2bba7e06", "0x40110d"),
    ] {
        let text = format!("p 29658/29658 78356.093422: loads: {rest}\n");
        let found = accesses("perf", &text);
        assert_eq!(found[0].split(' ').nth(4), Some(pc), "{rest}");
    }
}

#[test]
fn addresses_of_raw_perf_mem_samples_are_corrected() {
    let expected = "\
0 R 0x7f125bba7e06 1 0x55555555518d pid=22097
1 A 0xffff888100004000 1 0xffffffff817554ea pid=22097 flags=kernel";
    let blanks = imported("perf", &fixture("perf-mem")).unwrap();
    assert_eq!(lines(&blanks), expected.lines().collect::<Vec<_>>());
    let commas = "\
# PID, TID, IP, ADDR, PHYS ADDR, DATA PAGE SIZE, LOCAL WEIGHT, DSRC, SYMBOL
22097,22098,0x55555555518d,0x7f125bba7e06,0x0000000001234567,4K,7,0x68100142,/tmp/a b:work
22097,22099,0xffffffff817554ea,0xffff888100004000,0x0000000000004000,4K,0,0x6a100144,x:y";
    assert_eq!(accesses("perf", commas), expected.lines().collect::<Vec<_>>());
}

#[test]
fn packets_of_gem5_are_distinguished_by_their_fields() {
    let trace = imported("gem5", &fixture("gem5")).unwrap();
    let expected = "\
0 I 0x401000 64
0 R 0x7fffffffdc00 8
0 W 0x7fffffffdc00 8 0x40130e
0 W 0xffffffff81000000 64 flags=kernel
0 W 0xffffffff81000040 64 flags=kernel
0 R 0x1000 4";
    assert_eq!(lines(&trace), expected.lines().collect::<Vec<_>>());
    let note = "1 of 6 packets are no requests and were left out";
    assert_eq!(trace.metadata().provenance, [note]);
}

/// gem5 has no released version with it: the form that its request 2842 describes.
#[test]
fn columns_of_gem5_packets_may_have_names() {
    let text = "# <<< header\n# tick,cmd,addr,size,flags,pkt_id,pc\n1000,1,4096,8,0,7,4198400\n\
                1500,4,4104,8,32768,,\n1600,ReadReq,64,64,256,,\n1700,22,0,64,0,,\n";
    let expected = ["0 R 0x1000 8 0x401000", "0 W 0x1008 8 flags=kernel", "0 I 0x40 64"];
    assert_eq!(accesses("gem5", text), expected);
    let message = refused("gem5", "tick,cmd,addr,size\n1,1,2\n");
    assert!(message.contains("in.txt:2: column 1: expected the columns tick,cmd"), "{message}");
}

#[test]
fn instructions_of_champsim_become_reads_writes_and_gaps() {
    let trace = imported("champsim", &fixture("champsim")).unwrap();
    let expected = "\
0 R 0x7fff0010 1 0x401010 gap=2
0 R 0x7fff0018 1 0x401010
0 W 0x7fff0010 1 0x401010
0 R 0x601000 1 0x401014";
    assert_eq!(lines(&trace), expected.lines().collect::<Vec<_>>());
}

/// Bytes of a record with its words, each at its byte.
fn record(bytes: usize, words: &[(usize, u64)]) -> Vec<u8> {
    let mut record = vec![0; bytes];
    for &(at, word) in words {
        record[at..at + 8].copy_from_slice(&word.to_le_bytes());
    }
    record
}

#[test]
fn the_records_of_cloudsuite_are_told_by_their_fields() {
    let one = record(96, &[(0, 0xffff_8000_0040_0000), (56, 0x7ffe_1000), (24, 0x6000), (88, 257)]);
    let two = record(96, &[(0, 0x40_0004), (56, 0x8000), (64, 0x9000), (72, 0x9008), (80, 0x9010)]);
    for (records, references) in [(vec![&one; 2], 4), (vec![&two; 3], 12), (vec![&one, &two], 6)] {
        let trace =
            imported("champsim", &records.into_iter().flatten().copied().collect::<Vec<_>>());
        let lines = lines(&trace.unwrap());
        assert_eq!(lines.len(), references, "{lines:?}");
        let addresses = ["0x7ffe1000", "0x6000", "0x8000", "0x9000", "0x9008", "0x9010"];
        let known = |line: &String| addresses.contains(&line.split(' ').nth(2).unwrap());
        assert!(lines.iter().all(known), "{lines:?}");
    }
    // A prefetch of a low address among usual records.
    let usual = record(64, &[(0, 0x40_0000), (32, 0x10)]);
    assert_eq!(accesses_of(&usual.repeat(3)).len(), 3);
    let not_a_branch = record(64, &[(0, 0x40_0000), (8, 0x100)]);
    let error = imported("champsim", &not_a_branch).unwrap_err();
    assert!(error.to_string().contains("expected 0, as the instruction is no branch"), "{error}");
    let error = imported("champsim", &[0; 64]).unwrap_err();
    assert!(error.to_string().contains("expected a program counter from 0x1000"), "{error}");
}

fn accesses_of(records: &[u8]) -> Vec<String> {
    lines(&imported("champsim", records).unwrap())
}

#[test]
fn errors_in_records_have_an_offset() {
    let mut bytes = fixture("champsim");
    let refused = |bytes: &[u8]| {
        let error = imported("champsim", bytes).unwrap_err();
        (error.offset().unwrap(), error.to_string())
    };
    let (at, message) = refused(&bytes[..100]);
    assert_eq!(at, 64);
    assert!(message.ends_with("at byte 64 expected a record of 64 bytes, found 36 bytes"));
    assert_eq!(refused(b"").0, 0);
    bytes[64 + 9] = 7;
    let (at, message) = refused(&bytes);
    assert_eq!(at, 73);
    assert!(message.contains("expected 0 or 1: is the file of another kind"), "{message}");
}

#[test]
fn errors_in_lines_have_line_and_column() {
    let view = |record: &str| format!("           1           0:        1234 {record}\n");
    for (format, text, expected) in [
        ("drmemtrace", "Hello\n".to_owned(), "in.txt:1: column 1: expected the number of a record"),
        ("drmemtrace", "1 2 3\n".to_owned(), "column 3: expected the number of an instruction"),
        ("drmemtrace", view("jump"), "column 39: expected ifetch, read, write, a marker"),
        ("drmemtrace", view("read 0 byte(s) @ 0x1 by PC 0x2"), "column 44: expected a size from 1"),
        ("drmemtrace", view("read 8 bytes @ 0x1 by PC 0x2"), "column 46: expected byte(s)"),
        ("drmemtrace", view("read 8 byte(s) @ 0x1"), "column 59: expected by, found the end"),
        ("drmemtrace", view("read 8 byte(s) @ 0x1 by PC x"), "expected a hexadecimal program"),
        ("drmemtrace", view("<marker: version 5"), "expected the text of a marker and >"),
        ("drmemtrace", view("<marker: system call x>"), "column 60: expected the number of a sys"),
        ("drmemtrace", view("x").replace("1234", "W1.5"), "expected a thread: 1234, or W0.T1234"),
        ("gem5", "r,1,2\n".into(), "column 1: expected [packet,]cmd,address,size,[flags,]tick"),
        ("gem5", "x,1,2,3\n".into(), "column 1: expected r, w or u"),
        ("gem5", "r,0x10,4,0,9\n".into(), "column 3: expected an address, in decimal"),
        ("gem5", "5,r,16,0,0,9\n".into(), "column 8: expected a size from 1"),
        ("gem5", "u,16,4,0,9\n".into(), "in.txt:2: column 1: expected read and write requests"),
        ("perf", "p 1/2 ev: 1000\n".into(), "column 1: expected a time such as 123.456789"),
        ("perf", "1.5: ev: 1000\n".into(), "column 1: expected a command and a thread"),
        ("perf", "p x 1.5: ev: 1000\n".into(), "column 3: expected a thread, or a process"),
        ("perf", "p 1 1.5: ev 1000\n".into(), "column 10: expected an event and a colon"),
        ("perf", "p 1 1.5: load: zz\n".into(), "column 16: expected an address and a"),
        ("perf", "p 1 1.5: load: 400000 main\n".into(), "in.txt:2: column 1: expected an address"),
        ("perf", "p 1 1.5: load: 7 400000\n".into(), "in.txt:2: column 1: expected samples"),
        ("perf", "\tzz main\n".into(), "column 2: expected a hexadecimal program counter"),
        ("perf", "p 1 1.5: cycles: 1000 400000\n".into(), "in.txt:2: column 1: expected samples"),
        ("perf", "# PID, TID, IP, ADDR, DSRC\n1 2 0x3 0x4\n".into(), "in.txt:2: column 12:"),
    ] {
        let message = refused(format, &text);
        assert!(message.contains(expected), "{format} {text}: {message}");
    }
}
