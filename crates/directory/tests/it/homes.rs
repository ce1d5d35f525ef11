//! Where pages are under every policy, and what moves them. Pages have 256 bytes.

use crate::support::{dash, homes, run, setup, try_run, with_homes};
use homenode_directory::{
    DemandCollection, DirectoryProtocol, DirectorySetup, HomeCost, HomeError, HomeSetup, HomeSpec,
    NodeDemand, PageAllocators, PageDemand, PageDemands, ServedBlocks, home,
};

/// Fills, those that are local, and pages that moved.
fn local(home: &str, text: &str) -> (u64, u64, u64) {
    let counts = run(&setup(4), home, text).counts;
    (counts.fills, counts.local_fills, counts.pages_moved)
}

#[test]
fn round_robin_deals_pages_out_in_the_order_of_first_references() {
    // The fifth page is node 0's again.
    let text = "0 R 900; 1 R 100; 2 R 500; 3 R 0; 0 R 300; 1 R 980; 0 R 340";
    assert_eq!(local("round-robin", text), (7, 6, 0));
    // From node 1 on, pages 9 and 3 are node 1's; only its own read of page 9 is local.
    assert_eq!(local("round-robin:first=1", text), (7, 1, 0));
    assert_eq!(local("round-robin:first=5", text), (7, 1, 0));
}

#[test]
fn fixed_homes_are_at_the_node_that_is_named() {
    let text = "0 R 0; 3 R 100; 3 R 200";
    assert_eq!(local("fixed", text), (3, 1, 0));
    assert_eq!(local("fixed:node=3", text), (3, 2, 0));
}

#[test]
fn random_homes_depend_on_the_seed_alone() {
    let text: String = (0..64).map(|page| format!("0 R {:x};", page * 256)).collect();
    let homes = |seed| {
        let setup = HomeSetup { seed, ..HomeSetup::new(4) };
        let mut policy = HomeSpec::parse("random").unwrap().build(&setup).unwrap();
        let page = |page| home::PlacedPage { page, nth: page, node: 0 };
        (0..64).map(|nth| policy.place(page(nth))).collect::<Vec<u16>>()
    };
    assert_eq!(homes(7), homes(7));
    assert_ne!(homes(7), homes(8));
    let at_0 = homes(7).iter().filter(|&&node| node == 0).count() as u64;
    assert!((8..=24).contains(&at_0), "{at_0} of 64 pages");
    assert_eq!(local("random", &text), (64, at_0, 0));
}

#[test]
fn first_touch_stays_with_who_initialised_the_page() {
    assert_eq!(local("first-touch", "0 W 0; done; 1 R 0; 1 R 40; 0 R 80"), (4, 2, 0));
}

#[test]
fn first_use_moves_a_page_to_who_references_it_first_after_initialisation() {
    assert_eq!(local("first-use", "0 W 0; done; 1 R 0; 1 R 40; 0 R 80"), (4, 3, 1));
    // A hit is a use as well: the page stays with node 0, which reads its own copy.
    assert_eq!(local("first-use", "0 W 0; done; 0 R 0; 1 R 40"), (2, 1, 0));
    assert_eq!(local("first-use", "0 W 0; 1 R 0; done; 1 R 0; 1 R 40"), (3, 2, 1));
    // A page that was not touched before is touched now.
    assert_eq!(local("first-use", "0 W 0; done; 1 R 100; 1 R 140"), (3, 3, 0));
    // It moves once.
    assert_eq!(local("first-use", "0 W 0; done; 1 R 0; done; 2 R 0; 2 R 40"), (4, 2, 1));
}

#[test]
fn first_use_without_the_event_is_first_touch_and_says_so() {
    let text = "0 W 0; 1 R 0; 1 R 100; 2 R 140; 0 R 40";
    let [use_, touch] = ["first-use", "first-touch"].map(|home| run(&setup(4), home, text));
    assert_eq!(use_.counts, touch.counts);
    assert!(touch.notes.is_empty());
    assert!(use_.notes.len() == 1 && use_.notes[0].contains("no event init-done"));
    assert!(run(&setup(4), "first-use", "0 W 0; done").notes.is_empty());
}

/// Directory entries move with the page: an owner and sharers from before are known after.
#[test]
fn nothing_is_lost_when_a_page_moves() {
    let before = "0 W 0; 2 R 40; 3 R 40; done; 1 R 80";
    let after = |more: &str| {
        let [one, all] = [before.to_owned(), format!("{before}; {more}")]
            .map(|text| run(&setup(4), "first-use", &text).counts.messages);
        ["request", "forward", "invalidate"].map(|kind| all.of_kind(kind) - one.of_kind(kind))
    };
    assert_eq!(after("1 R 0"), [0, 1, 0], "node 0 is the owner, node 1 the home");
    assert_eq!(after("1 W 40"), [0, 0, 2], "nodes 2 and 3 are listed");
    assert_eq!(after("2 R 0"), [1, 1, 0]);
    let replaced = run(&setup(4), "first-use", &format!("{before}; 0 R 400")).counts;
    assert_eq!(replaced.messages.of_kind("write_back"), 1, "the write-back goes to node 1");
}

#[test]
fn first_fill_waits_for_the_nth_fill_of_a_node() {
    // The page is node 0's by round robin; node 1 makes its second fill, which is not local yet.
    let text = "1 R 0; 2 R 0; 1 R 40; 1 R 80";
    assert_eq!(local("first-fill:n=2", text), (4, 1, 1));
    assert_eq!(local("first-fill:n=1", text), (4, 2, 1));
    assert_eq!(local("first-fill:n=3", text), (4, 0, 1));
    assert_eq!(local("first-fill", text), (4, 0, 0), "four by default");
    // It moves once, and not to where it is.
    assert_eq!(local("first-fill:n=1", "0 R 0; 1 R 0; 2 R 0; 0 R 40"), (4, 2, 0));
}

/// Who makes the input says nothing of who uses a page.
#[test]
fn fills_of_initialisation_make_no_home_where_the_trace_says_when_it_is_over() {
    let text = "1 R 0; 1 R 40; done; 2 R 80; 2 R c0; 2 R 0";
    let local = |marks_init_done| {
        let homes = HomeSetup { marks_init_done, ..homes(4, None) };
        let off = DirectorySetup { collect_demands: DemandCollection::Off, ..setup(4) };
        let counts = with_homes(&off, dash(), "first-fill:n=2", &homes, text).unwrap().counts;
        (counts.fills, counts.local_fills, counts.pages_moved)
    };
    // Node 2 makes its second fill; else the page is node 1's before.
    assert_eq!(local(true), (5, 1, 1));
    assert_eq!(local(false), (5, 0, 1));
}

#[test]
fn homes_with_hindsight_may_leave_initialisation_out() {
    let text = "1 W 0; 1 R 400; 1 R 100; done; 2 R 0";
    let later = DirectorySetup { collect_demands: DemandCollection::AfterInitDone, ..setup(4) };
    let found = run(&later, "round-robin", text).demands.unwrap();
    let users: Vec<(u64, usize)> =
        found.0.iter().map(|page| (page.page, page.nodes.len())).collect();
    assert_eq!(users, [(0, 1), (4, 0), (1, 0)]);
    // Pages without users stay where their turn puts them: the last one at node 2.
    let counts = |home: &str, text: &str| {
        try_run(&setup(4), dash(), home, Some(&found), text).unwrap().counts.local_fills
    };
    for home in ["best-static", "optimal-static"] {
        assert_eq!(
            (counts(home, "2 R 0"), counts(home, "0 R 0; 0 R 400; 2 R 100")),
            (1, 1),
            "{home}"
        );
    }
}

fn demands(text: &str) -> PageDemands {
    run(&setup(4), "round-robin", text).demands.unwrap()
}

#[test]
fn a_first_run_tells_who_uses_each_page() {
    let found = demands("1 W 0; 2 R 40; 1 R 400; 1 R 0; 2 R 440");
    let node = |node, fills, write_backs| NodeDemand { node, fills, write_backs };
    let page = |page, nodes| PageDemand { page, nodes };
    assert_eq!(
        found.0,
        [page(0, vec![node(1, 2, 1), node(2, 1, 0)]), page(4, vec![node(1, 1, 0), node(2, 1, 0)]),]
    );
    let none = DirectorySetup { collect_demands: DemandCollection::Off, ..setup(4) };
    assert_eq!(run(&none, "first-fill", "1 W 0").demands, None);
}

/// Whether a policy knows all that it needs at a page's first reference.
fn needs_nothing(entry: &home::Entry) -> bool {
    !entry.needs_first_run && !entry.needs_allocations
}

/// Nodes 2 and 3 allocate: node 2 first the end of page 0 and the beginning of page 1, node 3 the
/// rest of page 1 and pages 2 to 4; node 2 then page 3, freed meanwhile, up to page 5.
#[test]
fn a_page_is_with_the_node_that_allocated_it_first() {
    let mut allocators = PageAllocators::new(256);
    allocators.add(0xf0, 0x20, 2);
    allocators.add(0x110, 0x3f0, 3);
    allocators.add(0x300, 0x300, 2);
    // Nothing is allocated, so that page 6 has no allocator.
    allocators.add(0x600, 0, 1);
    let setup = HomeSetup { allocators: Some(&allocators), ..homes(4, None) };
    let mut policy = HomeSpec::parse("allocator").unwrap().build(&setup).unwrap();
    let mut home = |page, nth| policy.place(home::PlacedPage { page, nth, node: 0 });
    let pages = (0..6).map(|page| home(page, page)).collect::<Vec<u16>>();
    assert_eq!(pages, [2, 2, 3, 3, 3, 2]);
    // Static data go to the nodes in turn.
    assert_eq!([home(6, 6), home(7, 7), home(8, 8)], [2, 3, 0]);
}

#[test]
fn a_new_allocation_gets_only_pages_between_earlier_ones() {
    let mut allocators = PageAllocators::new(256);
    for (page, node) in [(2, 1), (4, 2)] {
        allocators.add(page * 256, 256, node);
    }
    allocators.add(0, 7 * 256, 3);
    allocators.add(u64::MAX - 255, u64::MAX, 1);
    let nodes = (0..8).map(|page| allocators.node(page)).collect::<Vec<_>>();
    let wanted = [3, 3, 1, 3, 2, 3, 3].map(Some);
    assert_eq!((&nodes[..7], nodes[7]), (&wanted[..], None));
    assert_eq!(allocators.node(u64::MAX / 256), Some(1));
}

/// It is the same whatever the homes are.
#[test]
fn homes_do_not_change_who_uses_a_page() {
    let text = "1 W 0; 2 R 40; done; 1 R 400; 1 R 0; 2 R 440; 3 W 40; 3 R 440";
    for entry in home::TABLE.iter().filter(|entry| needs_nothing(entry)) {
        assert_eq!(run(&setup(4), entry.name, text).demands.unwrap(), demands(text));
    }
}

#[test]
fn each_fill_is_reported_with_the_home_that_served_it() {
    let collecting = DirectorySetup { collect_uses: true, ..setup(4) };
    let uses = |home: &str, text: &str| run(&collecting, home, text).uses.unwrap();
    // Page 0 begins at node 0, and goes to node 1 when that has made two fills of it.
    let moved = uses("first-fill:n=2", "1 W 0; 1 R 40; 2 R 40; 2 R 400");
    let served = |home, fills: [u64; 4]| ServedBlocks { home, fills: fills.to_vec() };
    assert_eq!(moved[0].served, [served(0, [1, 1, 0, 0]), served(1, [0, 1, 0, 0])]);
    assert_eq!((moved[0].page, moved[0].home, moved[0].fills()), (0, 1, 3));
    assert_eq!((moved[1].page, moved[1].home, moved[1].fills()), (4, 1, 1));
    let text = "1 W 0; 2 R 40; done; 1 R 400; 1 R 0; 2 R 440; 3 W 40; 3 R 440";
    for entry in home::TABLE.iter().filter(|entry| needs_nothing(entry)) {
        let (found, demands) = (uses(entry.name, text), demands(text));
        let used: Vec<_> = found.iter().map(|page| (page.page, page.nodes.clone())).collect();
        let wanted: Vec<_> = demands.0.into_iter().map(|page| (page.page, page.nodes)).collect();
        assert_eq!(used, wanted, "{}", entry.name);
        for page in found {
            let served: u64 = page.served.iter().flat_map(|served| &served.fills).sum();
            assert_eq!(served, page.fills(), "{}", entry.name);
        }
    }
    assert_eq!(run(&setup(4), "first-fill", "1 W 0").uses, None);
}

#[test]
fn hindsight_chooses_by_fills_or_by_cost() {
    // Page 0: node 1 makes two fills and no write-back; node 2 two fills and two write-backs; node
    // 3 three fills. Node 2 saves most: six messages, as many as node 3, and has the lower number.
    let text = "1 R 0; 1 R 40; 2 W 80; 2 R 480; 2 W 80; 2 R 480; 3 R 0; 3 R 40; 3 R c0";
    let found = demands(text);
    let local = |home: &str| {
        let run = try_run(&setup(4), dash(), home, Some(&found), text).unwrap();
        (run.counts.local_fills, run.counts.local_write_backs)
    };
    // Page 4 is node 2's, which makes two fills of it.
    assert_eq!(local("best-static"), (3 + 2, 0));
    assert_eq!(local("optimal-static"), (2 + 2, 2));
    // Where only the way to node 0 is short, everything goes there.
    struct Near;
    impl HomeCost for Near {
        fn fill(&self, _: u16, home: u16) -> u64 {
            u64::from(home) + 1
        }
        fn write_back(&self, _: u16, home: u16) -> u64 {
            u64::from(home) + 1
        }
    }
    let machine = HomeSetup { first_run: Some(&found), cost: &Near, ..HomeSetup::new(4) };
    let mut policy = HomeSpec::parse("optimal-static").unwrap().build(&machine).unwrap();
    assert_eq!(policy.place(home::PlacedPage { page: 0, nth: 3, node: 3 }), 0);
    assert_eq!(policy.place(home::PlacedPage { page: 99, nth: 3, node: 0 }), 3, "unknown page");
}

#[test]
fn homes_that_cannot_be_are_refused() {
    let setup = HomeSetup::new(4);
    let error = |home: &str| HomeSpec::parse(home).unwrap().build(&setup).err().unwrap();
    assert_eq!(error("fixed:node=4"), HomeError::Node { node: 4, nodes: 4 });
    assert_eq!(error("best-static"), HomeError::NoFirstRun { name: "best-static" });
    assert_eq!(
        error("optimal-static").to_string(),
        "optimal-static chooses homes by a first run of the same trace, and was given none"
    );
    assert_eq!(error("allocator"), HomeError::NoAllocations { name: "allocator" });
    let parse = |text: &str| HomeSpec::parse(text).unwrap_err().to_string();
    assert_eq!(
        parse("first-fill:n=0"),
        "home \"first-fill:n=0\": n is a number from 1 to 1000000, found \"0\""
    );
    assert_eq!(
        DirectoryProtocol::parse("mesi").unwrap_err().to_string(),
        "unknown protocol \"mesi\": expected one of dash, lrc, lrc-one-trip, sdd"
    );
}
