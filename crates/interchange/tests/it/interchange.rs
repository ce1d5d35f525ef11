//! Import and export of every format in the tables.

use std::ops::ControlFlow;
use std::path::Path;

use crate::support::{Step, any_steps, read, small_chunks, steps, write};
use crate::text::{accesses, exported, imported, refused};
use homenode_interchange::import::{self, ImportInput};
use homenode_trace::{Columns, TraceReader, WriterOptions};
use proptest::prelude::*;

proptest! {
    #[test]
    fn text_and_csv_round_trip(steps in any_steps()) {
        let (bytes, _) = write(&steps, small_chunks(25));
        let trace = TraceReader::from_bytes(bytes, "memory").unwrap();
        for format in ["text", "csv"] {
            let text = exported(format, &trace);
            let again = imported(format, text.as_bytes()).unwrap();
            prop_assert_eq!(read(&again), steps.clone(), "{}", format);
            prop_assert_eq!(exported(format, &again), text);
        }
    }

    #[test]
    fn no_importer_panics(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        for entry in import::TABLE {
            let _ = imported(entry.name, &bytes);
        }
    }

    #[test]
    fn no_importer_panics_on_likely_lines(
        text in "[0-9a-zA-Z@#,=. \t\"x\n-]{0,120}"
    ) {
        for entry in import::TABLE {
            let _ = imported(entry.name, text.as_bytes());
        }
    }
}

#[test]
fn every_event_survives_text_and_csv() {
    let (bytes, summary) = write(&steps(), small_chunks(25));
    let trace = TraceReader::from_bytes(bytes, "memory").unwrap();
    for format in ["text", "csv"] {
        let again = imported(format, exported(format, &trace).as_bytes()).unwrap();
        assert_eq!(again.checksum(), summary.checksum, "{format}");
    }
}

#[test]
fn din_round_trips_the_properties_that_it_has() {
    let (bytes, _) = write(&steps(), small_chunks(25));
    let trace = TraceReader::from_bytes(bytes, "memory").unwrap();
    let again = imported("din", exported("din", &trace).as_bytes()).unwrap();
    assert_eq!(again.columns(), Columns::default());
    let plain = |step: Step| match step {
        Step::Access(a) => Some((a.thread, a.kind.writes(), a.addr, a.size)),
        Step::Event(_) => None,
    };
    let [before, after] =
        [&trace, &again].map(|trace| read(trace).into_iter().filter_map(plain).collect::<Vec<_>>());
    assert_eq!(before, after);
}

#[test]
fn text_is_parsed_as_documented() {
    let text =
        "\u{feff}# comment\r\n\n0 W 1000\n1 r 0X20 8 0x400 gap=2 pid=3 flags=private,sync # why\n";
    let expected = ["0 W 0x1000 4", "1 R 0x20 8 0x400 gap=2 pid=3 flags=private,sync"];
    assert_eq!(accesses("text", text), expected);
}

#[test]
fn lackey_lines_become_references_with_the_instruction_as_program_counter() {
    let text = "==12== Lackey\nI  04001a40,3\n L 1fff0002a8,8\n M 0421c7cc,4\n S 1000,100\n";
    let expected = [
        "0 I 0x4001a40 3 0x4001a40",
        "0 R 0x1fff0002a8 8 0x4001a40",
        "0 R 0x421c7cc 4 0x4001a40",
        "0 W 0x421c7cc 4 0x4001a40",
        "0 W 0x1000 64 0x4001a40",
        "0 W 0x1040 36 0x4001a40",
    ];
    assert_eq!(accesses("lackey", text), expected);
}

/// The third case is what Valgrind 3.19 makes of `printf hi`.
#[test]
fn output_of_the_program_among_lackeys_lines_is_left_out_or_an_error() {
    let text = "==1== Lackey\nI  0400,3\nSB 0401ab70\nhello, 1,2\n\u{e4} x\n S 1000,8\n";
    assert_eq!(accesses("lackey", text), ["0 I 0x400 3 0x400", "0 W 0x1000 8 0x400"]);
    let notes = imported("lackey", text.as_bytes()).unwrap().metadata().provenance.clone();
    assert_eq!(notes, ["2 lines are not lackey's and were left out"]);
    let bytes = imported("lackey", b"==1== Lackey\nI  0400,3\n\xff\xfe\n").unwrap();
    assert_eq!(bytes.metadata().provenance.len(), 1);
    for joined in ["hiI  0493f350,6\n", "50% L 1000,8\n"] {
        let message = refused("lackey", &format!("==1== Lackey\nI  0400,3\n{joined}"));
        assert!(message.contains("--log-file=FILE"), "{message}");
    }
}

#[test]
fn a_load_and_a_modify_of_one_instruction_are_one_atomic_reference() {
    let locked = "I  400,9\n L 1000,8\n M 1000,8\n";
    assert_eq!(accesses("lackey", locked), ["0 I 0x400 9 0x400", "0 A 0x1000 8 0x400"]);
    // Of two instructions, of other bytes, or in a log without instructions they are not.
    let two = "I  400,3\n L 1000,8\nI  403,9\n M 1000,8\n";
    let expected = [
        "0 I 0x400 3 0x400",
        "0 R 0x1000 8 0x400",
        "0 I 0x403 9 0x403",
        "0 R 0x1000 8 0x403",
        "0 W 0x1000 8 0x403",
    ];
    assert_eq!(accesses("lackey", two), expected);
    let other = "I  400,3\n L 1000,8\n M 1000,4\n L 8,8\n";
    let expected = [
        "0 I 0x400 3 0x400",
        "0 R 0x1000 8 0x400",
        "0 R 0x1000 4 0x400",
        "0 W 0x1000 4 0x400",
        "0 R 0x8 8 0x400",
    ];
    assert_eq!(accesses("lackey", other), expected);
    let expected = ["0 R 0x1000 8", "0 R 0x1000 8", "0 W 0x1000 8"];
    assert_eq!(accesses("lackey", " L 1000,8\n M 1000,8\n"), expected);
}

#[test]
fn din_lines_may_have_a_size_or_a_thread_and_a_size_or_a_comment() {
    assert_eq!(
        accesses("din", "0 1000\nw 0x10 3 8\n2 ff 1\nr 40 10 load\nr 40 face\nr 40 4010a2 f\n"),
        ["0 R 0x1000 4", "3 W 0x10 8", "0 I 0xff 1", "0 R 0x40 16", "0 R 0x40 4", "0 R 0x40 4"]
    );
    assert_eq!(accesses("din", "w 40 50\n"), ["0 W 0x40 64", "0 W 0x80 16"]);
    let note = "2 lines have a comment, which was left out";
    let trace = imported("din", b"0 10 4 # why\n0 10\n0 10 main\n").unwrap();
    assert_eq!(trace.metadata().provenance, [note]);
}

/// Thread numbers of the operating system; `thread-create` names one too.
#[test]
fn foreign_thread_numbers_are_renumbered_and_noted() {
    let note = "threads were renumbered: 0 was 4000, 1 was 4008";
    for (format, text) in [
        ("text", "4000 W 10\n4008 R 10\n4000 W 10\n"),
        ("csv", "thread,kind,addr\n4000,W,16\n4008,R,16\n4000,W,16\n"),
        ("din", "w 10 4000 4\nr 10 4008 4\nw 10 4000 4\n"),
    ] {
        assert_eq!(accesses(format, text), ["0 W 0x10 4", "1 R 0x10 4", "0 W 0x10 4"], "{format}");
        let trace = imported(format, text.as_bytes()).unwrap();
        assert_eq!(trace.metadata().provenance, [note], "{format}");
    }
    let text = "@ 182628 thread-create 182630\n182630 R 10\n182628 W 10\n0 W 10\n";
    let expected = ["@ 0 thread-create 1", "1 R 0x10 4", "0 W 0x10 4", "2 W 0x10 4"];
    assert_eq!(accesses("text", text), expected);
    // Numbers near those seen are homenode's, as are all below the first line of an export.
    assert_eq!(accesses("text", "63 W 10\n5 R 10\n"), ["63 W 0x10 4", "5 R 0x10 4"]);
    let export = "# thread kind address size [pc] [gap=] [pid=] [flags=]\n400 W 0x10 4\n";
    assert_eq!(accesses("text", export), ["400 W 0x10 4"]);
    assert!(refused("text", &export.replace("400", "65535")).contains("at most 65535 threads"));
    // Once some were renumbered, numbers that are near by chance are foreign as well.
    let text: String = (100..140).map(|thread| format!("{thread} R 10\n")).collect();
    assert!(accesses("text", &text).last().unwrap().starts_with("39 R"));
}

#[test]
fn csv_columns_may_stand_in_any_order() {
    let text = "Address,thread,kind,pc\n4096,0,W,\n0x20,1,atomic,0x400\n";
    assert_eq!(accesses("csv", text), ["0 W 0x1000 4", "1 A 0x20 4 0x400"]);
    let text = "kernel,thread,kind,addr,private,flags,pid\n1,0,R,0x10,0,,7\n0,0,R,0x10,1,sync,\n";
    assert_eq!(
        accesses("csv", text),
        ["0 R 0x10 4 pid=7 flags=kernel", "0 R 0x10 4 flags=private,sync"]
    );
    let text = "thread,kind,addr,transfer,flags\n0,W,0x10,1,\n0,W,0x10,0,kernel+transfer\n";
    assert_eq!(
        accesses("csv", text),
        ["0 W 0x10 4 flags=transfer", "0 W 0x10 4 flags=kernel,transfer"]
    );
}

#[test]
fn errors_have_file_line_and_column() {
    for (format, text, expected) in [
        ("text", "0 W 10\n0 X 10\n", "in.txt:2: column 3: expected R, W, A or I, found \"X\""),
        ("text", "0 W\n", "in.txt:1: column 4: expected a hexadecimal address, found the end"),
        ("text", "0 W 10 65\n", "column 8: expected a size from 1 to 64 bytes, found \"65\""),
        ("text", "-1 W 10\n", "column 1: expected the number of a thread"),
        ("text", "0 W 12345678123456781\n", "column 5: expected a hexadecimal address"),
        ("text", "0 W 10 4 5 6\n", "column 12: expected gap=N"),
        ("text", "0 W 10 flags=odd\n", "column 14: expected flags"),
        ("text", "@ 0 lock-acquire\n", "column 17: expected addr"),
        ("text", "@ 0 sleep\n", "column 5: expected the name of an event"),
        ("text", "@ 0 marker a\\b\n", "column 13: expected \\n, \\r or \\\\"),
        ("csv", "thread,kind\n", "expected a header line with the column addr"),
        ("csv", "thread,kind,addr,colour\n", "column 18: expected a column name"),
        ("csv", "thread,kind,addr,kernel\n0,W,1,2\n", "in.txt:2: column 7: expected 0 or 1"),
        ("csv", "thread,kind,addr\n0,W\n", "in.txt:2: column 1: expected 3 values"),
        ("csv", "thread,kind,addr\n0,W,\"1\n", "in.txt:2: column 7: expected a closing quote"),
        ("lackey", "I  0400,3\nX 1,1\n", "in.txt:2: column 1: expected I, L, S, M"),
        ("lackey", " L 1000\n", "column 4: expected an address and a size"),
        ("lackey", " L 1000,0\n", "column 9: expected a size from 1 to 65536"),
        ("din", "3 1000\n", "column 1: expected 0 (read), 1 (write) or 2"),
        ("din", "0 1000 0\n", "column 8: expected a size from 1 in hexadecimal, or a thread"),
        ("din", "0 1000 0 4 5\n", "column 12: expected the end of the line"),
    ] {
        let message = refused(format, text);
        assert!(message.contains(expected), "{format}: {message}");
    }
    let long = "0".repeat(1 << 21);
    assert!(refused("text", &long).contains("a line of less than 1048576 bytes"));
    let error = imported("text", b"0 W 10\n\xff\n").unwrap_err();
    assert!(error.to_string().contains("in.txt:2: column 1: expected UTF-8 text"), "{error}");
}

#[test]
fn a_failed_or_interrupted_import_leaves_no_file() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("t.hnt");
    for (text, stop) in [("0 W 10\nbad\n", false), ("0 W 10\n", true)] {
        let mut reader = text.as_bytes();
        let input = ImportInput { reader: &mut reader, name: Path::new("in.txt"), bytes: None };
        let mut progress = |_: u64, _: Option<u64>| {
            if stop { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        let result =
            import::import_file("text", input, &out, WriterOptions::default(), &mut progress);
        assert!(result.is_err());
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
    }
    let known: Vec<&str> = import::TABLE.iter().map(|entry| entry.name).collect();
    let error = import::find("elf").unwrap_err().to_string();
    assert_eq!(error, format!("unknown format \"elf\"; known: {}", known.join(", ")));
}
