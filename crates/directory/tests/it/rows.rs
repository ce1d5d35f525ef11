//! Every row of the table of messages, worked by hand. The home is node 0 of four.

use crate::support::{run, setup};
use homenode_directory::{DirectoryCounts, DirectorySetup, MessageCounts};

/// What the last reference adds to the counts: messages by kind, then whatever else.
fn last_on(setup: &DirectorySetup, text: &str) -> String {
    let (before, _) = text.rsplit_once(';').unwrap_or(("", text));
    let [before, after] = [before, text].map(|text| run(setup, "fixed:node=0", text).counts);
    let mut added = Vec::new();
    let mut add = |name: &str, before: u64, after: u64| match after - before {
        0 => {}
        1 => added.push(name.to_owned()),
        many => added.push(format!("{many} {name}")),
    };
    for kind in MessageCounts::kinds() {
        add(kind, before.messages.of_kind(kind), after.messages.of_kind(kind));
    }
    type Count = fn(&DirectoryCounts) -> u64;
    let others: [(&str, Count); 6] = [
        ("fill", |c| c.fills),
        ("local", |c| c.local_fills),
        ("upgrade", |c| c.upgrades),
        ("written back", |c| c.write_backs),
        ("locally", |c| c.local_write_backs),
        ("bytes", |c| c.message_bytes),
    ];
    for (name, count) in others {
        add(name, count(&before), count(&after));
    }
    added.join(", ")
}

fn last(text: &str) -> String {
    last_on(&setup(4), text)
}

#[test]
fn read_miss_memory_valid() {
    assert_eq!(last("1 R 0"), "request, reply, fill, 80 bytes");
    assert_eq!(last("0 R 0"), "fill, local");
    assert_eq!(last("2 R 0; 3 R 0; 1 R 0"), "request, reply, fill, 80 bytes", "others have copies");
    assert_eq!(last("1 R 0; 1 R 0"), "", "a hit");
    assert_eq!(last("1 R 0; 1 R 400; 1 R 0"), "request, reply, fill, 80 bytes", "listed still");
}

#[test]
fn read_miss_dirty_at_the_home() {
    assert_eq!(last("0 W 0; 1 R 0"), "request, reply, fill, 80 bytes");
    assert_eq!(last("0 W 0; 1 R 0; 0 R 0"), "", "the owner keeps a copy");
    assert_eq!(last("0 W 0; 1 R 0; 0 W 0"), "invalidate, ack, upgrade, 16 bytes", "a shared one");
}

#[test]
fn read_miss_dirty_elsewhere_by_the_home() {
    assert_eq!(last("1 W 0; 0 R 0"), "reply, forward, fill, local, 80 bytes");
    assert_eq!(last("1 W 0; 0 R 0; 1 R 0"), "", "the owner keeps a copy");
    assert_eq!(last("1 W 0; 0 R 0; 2 R 0"), "request, reply, fill, 80 bytes", "memory is valid");
}

#[test]
fn read_miss_dirty_elsewhere_by_a_third_node() {
    let three = "request, reply, forward, sharing_write_back, fill, 160 bytes";
    assert_eq!(last("1 W 0; 2 R 0"), three);
    assert_eq!(last("1 W 0; 2 R 0; 1 R 0"), "", "the owner keeps a copy");
    assert_eq!(last("1 W 0; 2 R 0; 3 R 0"), "request, reply, fill, 80 bytes", "memory is valid");
    let both = "request, reply, 2 invalidate, 2 ack, fill, 112 bytes";
    assert_eq!(last("1 W 0; 2 R 0; 3 W 0"), both, "owner and reader are listed");
}

#[test]
fn write_miss_memory_valid() {
    assert_eq!(last("1 W 0"), "request, reply, fill, 80 bytes");
    assert_eq!(last("0 W 0"), "fill, local");
    let expected = "request, reply, 2 invalidate, 2 ack, fill, 112 bytes";
    assert_eq!(last("2 R 0; 3 R 0; 1 W 0"), expected);
    assert_eq!(last("2 R 0; 3 R 0; 0 R 0; 1 W 0"), expected, "a sharer at home needs neither");
    assert_eq!(last("2 R 0; 3 R 0; 0 W 0"), "2 invalidate, 2 ack, fill, local, 32 bytes");
    assert_eq!(last("0 R 0; 1 W 0; 0 R 0"), "reply, forward, fill, local, 80 bytes", "it is gone");
}

#[test]
fn write_miss_memory_valid_and_stale_sharers() {
    let stale = "2 R 0; 2 R 400; 1 W 0";
    assert_eq!(last(stale), "request, reply, invalidate, ack, fill, 96 bytes");
    assert_eq!(last(&format!("{stale}; 2 R 400")), "", "what replaced it stays");
    let own = "1 R 0; 1 R 400; 1 W 0";
    assert_eq!(last(own), "request, reply, fill, 80 bytes", "no message to the requester itself");
}

#[test]
fn write_miss_dirty_at_the_home() {
    assert_eq!(last("0 W 0; 1 W 0"), "request, reply, fill, 80 bytes");
    assert_eq!(last("0 W 0; 1 W 0; 0 R 0"), "reply, forward, fill, local, 80 bytes");
}

#[test]
fn write_miss_dirty_elsewhere_by_the_home() {
    assert_eq!(last("1 W 0; 0 W 0"), "reply, forward, fill, local, 80 bytes");
    assert_eq!(last("1 W 0; 0 W 0; 1 R 0"), "request, reply, fill, 80 bytes");
}

#[test]
fn write_miss_dirty_elsewhere_by_a_third_node() {
    let three = "request, reply, forward, ownership_transfer, fill, 96 bytes";
    assert_eq!(last("1 W 0; 2 W 0"), three);
    assert_eq!(last("1 W 0; 2 W 0; 1 W 0"), three, "and back");
    assert_eq!(last("1 W 0; 2 W 0; 2 W 0"), "", "a hit");
}

#[test]
fn write_hit_on_a_shared_copy() {
    assert_eq!(last("1 R 0; 1 W 0"), "request, reply, upgrade, 16 bytes");
    assert_eq!(last("0 R 0; 0 W 0"), "upgrade");
    let expected = "request, reply, 2 invalidate, 2 ack, upgrade, 48 bytes";
    assert_eq!(last("1 R 0; 2 R 0; 3 R 0; 1 W 0"), expected);
    assert_eq!(
        last("1 R 0; 2 R 0; 3 R 0; 0 R 0; 1 W 0"),
        expected,
        "a sharer at home needs neither"
    );
    let by_home = "0 R 0; 1 R 0; 2 R 0; 0 W 0";
    assert_eq!(last(by_home), "2 invalidate, 2 ack, upgrade, 32 bytes");
    assert_eq!(last("1 R 0; 1 W 0; 1 W 0"), "", "a hit");
}

#[test]
fn replacement_of_a_dirty_block() {
    let written = "request, reply, write_back, fill, written back, 152 bytes";
    assert_eq!(last("1 W 0; 1 R 400"), written);
    assert_eq!(last("0 W 0; 0 R 400"), "fill, local, written back, locally");
    assert_eq!(
        last("1 W 0; 1 R 400; 2 W 0"),
        "request, reply, fill, 80 bytes",
        "no node is listed"
    );
}

#[test]
fn replacement_of_a_clean_block() {
    assert_eq!(last("1 R 0; 1 R 400"), "request, reply, fill, 80 bytes");
    let after_sharing = "1 W 0; 2 R 0; 1 R 400";
    assert_eq!(last(after_sharing), "request, reply, fill, 80 bytes", "memory has the data");
}

#[test]
fn a_directory_with_too_few_pointers_tells_all() {
    let one = DirectorySetup { pointers: Some(1), ..setup(4) };
    let all = "request, reply, 2 invalidate, 2 ack, fill, 112 bytes";
    assert_eq!(last_on(&one, "2 R 0; 0 R 0; 1 W 0"), all, "but the home");
    let exact = "request, reply, invalidate, ack, fill, 96 bytes";
    assert_eq!(last_on(&one, "2 R 0; 1 W 0"), exact, "one fits");
    let two = DirectorySetup { pointers: Some(2), ..setup(4) };
    assert_eq!(last_on(&two, "2 R 0; 0 R 0; 1 W 0"), exact);
    // Who is not listed is sent the block, for the home does not know that it has a copy.
    let unlisted = "request, reply, 2 invalidate, 2 ack, upgrade, 112 bytes";
    assert_eq!(last_on(&one, "2 R 0; 1 R 0; 1 W 0"), unlisted);
    let listed = "request, reply, 2 invalidate, 2 ack, upgrade, 48 bytes";
    assert_eq!(last_on(&one, "2 R 0; 1 R 0; 2 W 0"), listed);
}
