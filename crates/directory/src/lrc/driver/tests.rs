//! Each rule of lazy release consistency as a sequence worked by hand.

use homenode_protocol::Labelled;

use super::*;
use crate::protocol::{CoherenceTable, DirectoryProtocol};

/// The page of all sequences.
const PAGE: u32 = 3;

struct Nodes {
    driver: PageDriver,
}

impl Nodes {
    fn new(nodes: u16) -> Self {
        Self::under("lrc", nodes)
    }

    fn under(protocol: &str, nodes: u16) -> Self {
        let CoherenceTable::Pages(table) = DirectoryProtocol::parse(protocol).unwrap().table()
        else {
            panic!("{protocol} keeps pages coherent")
        };
        let mut driver = PageDriver::new(table, nodes);
        driver.reach(PAGE);
        Self { driver }
    }

    /// Makes one call; returns its effects in words.
    fn effects_of(&mut self, call: impl FnOnce(&mut PageDriver) -> Answered) -> String {
        self.driver.effects.clear();
        let answer = call(&mut self.driver).unwrap();
        let mut words: Vec<String> = self.driver.effects.iter().map(in_words).collect();
        if answer == PageAnswer::Waits {
            words.push("waits".to_owned());
        }
        words.join(", ")
    }

    fn is_weak(&self) -> bool {
        self.driver.table.is_weak(self.driver.homes.head(PAGE).state)
    }

    fn access(&mut self, node: u16, store: bool) -> String {
        self.effects_of(|driver| driver.access(node, PAGE, store))
    }

    fn stored(&mut self, node: u16) {
        assert_eq!(self.effects_of(|driver| driver.stored(node, PAGE)), "");
    }

    fn acquire(&mut self, node: u16) -> String {
        self.effects_of(|driver| driver.acquire(node))
    }

    fn release(&mut self, node: u16) -> String {
        self.effects_of(|driver| driver.release(node))
    }

    fn sent_lines(&mut self, node: u16, lines: u32) -> String {
        self.effects_of(|driver| driver.sent_lines(node, PAGE, lines))
    }

    fn home(&mut self, from: u16, message: PageMessage) -> String {
        let sent = SentPageMessage::to_home(from, PAGE, message);
        self.effects_of(|driver| driver.deliver(&sent))
    }

    /// A message arrives at a node, on behalf of another or announcing acknowledgements.
    fn node(&mut self, to: u16, message: PageMessage, requester: u16, due: i32) -> String {
        let sent =
            SentPageMessage { requester, due, ..SentPageMessage::to_node(to, PAGE, message) };
        self.effects_of(|driver| driver.deliver(&sent))
    }

    /// A node maps the page, and its write takes place.
    fn map(&mut self, node: u16, store: bool) {
        let fault = if store { PageMessage::WriteFault } else { PageMessage::ReadFault };
        assert_eq!(self.access(node, store), format!("{} to home", fault.name()));
        assert_eq!(self.home(node, fault), format!("mapped to {node}"));
        assert_eq!(self.node(node, PageMessage::Mapped, node, 0), format!("{node} completes"));
        if store {
            self.stored(node);
        }
    }

    /// A node with dirty words in one line releases, up to its message to the home.
    fn begin_release(&mut self, node: u16) {
        assert_eq!(self.release(node), format!("{node} writes back"));
        assert_eq!(self.sent_lines(node, 1), "");
        assert_eq!(
            self.home(node, PageMessage::WriteBack),
            format!("words, written back to {node}")
        );
        assert_eq!(self.node(node, PageMessage::WrittenBack, node, 0), "modified to home");
    }
}

fn in_words(effect: &PageEffect) -> String {
    match *effect {
        PageEffect::Send(SentPageMessage { message, to: PageEnd::Home, .. }) => {
            format!("{} to home", message.name())
        }
        PageEffect::Send(SentPageMessage { message, to: PageEnd::Node(to), due, .. }) => {
            let due = if due == 0 { String::new() } else { format!(" ({due})") };
            format!("{}{due} to {to}", message.name())
        }
        PageEffect::Complete(node, _) => format!("{node} completes"),
        PageEffect::Flush(node, _) => format!("{node} flushes"),
        PageEffect::WriteBack(node, _) => format!("{node} writes back"),
        PageEffect::TakeWords => "words".to_owned(),
        PageEffect::Released(node) => format!("{node} released"),
    }
}

#[test]
fn a_first_access_faults_and_later_ones_do_not() {
    let mut nodes = Nodes::new(2);
    assert_eq!(nodes.driver.permission(0, PAGE), PagePermission::None);
    nodes.map(0, false);
    assert_eq!(nodes.driver.permission(0, PAGE), PagePermission::Read);
    assert_eq!(nodes.access(0, false), "0 completes");
    // A write to a page that is mapped read-only faults as well. No other node maps it: not weak.
    assert_eq!(nodes.access(0, true), "upgrade to home");
    assert_eq!(nodes.home(0, PageMessage::Upgrade), "mapped to 0");
    assert_eq!(nodes.node(0, PageMessage::Mapped, 0, 0), "0 completes");
    nodes.stored(0);
    assert_eq!(nodes.driver.permission(0, PAGE), PagePermission::Write);
    assert!(!nodes.is_weak());
}

#[test]
fn a_page_is_weak_when_its_only_mapping_was_read_write() {
    for store in [false, true] {
        let mut nodes = Nodes::new(2);
        nodes.map(1, true);
        assert!(!nodes.is_weak());
        nodes.map(0, store);
        assert!(nodes.is_weak());
    }
}

#[test]
fn a_page_is_weak_at_a_write_fault_when_all_mappings_were_read_only() {
    let mut nodes = Nodes::new(130);
    nodes.map(0, false);
    nodes.map(129, false);
    assert!(!nodes.is_weak());
    nodes.map(64, true);
    assert!(nodes.is_weak());

    let mut nodes = Nodes::new(2);
    nodes.map(0, false);
    nodes.map(1, false);
    nodes.access(1, true);
    assert_eq!(nodes.home(1, PageMessage::Upgrade), "mapped to 1");
    assert!(nodes.is_weak());
}

#[test]
fn a_release_of_a_page_that_is_not_weak_sends_no_notice() {
    let mut nodes = Nodes::new(2);
    assert_eq!(nodes.release(0), "0 released");
    nodes.map(0, true);
    nodes.begin_release(0);
    assert_eq!(nodes.home(0, PageMessage::Modified), "notices sent to 0");
    assert_eq!(nodes.node(0, PageMessage::NoticesSent, 0, 0), "0 released");
    // Nothing was written since.
    assert_eq!(nodes.release(0), "0 released");
}

#[test]
fn a_release_takes_effect_when_everything_is_acknowledged() {
    let mut nodes = Nodes::new(3);
    nodes.map(0, true);
    nodes.map(1, false);
    nodes.map(2, true);
    nodes.begin_release(0);
    assert_eq!(
        nodes.home(0, PageMessage::Modified),
        "write notice to 1, write notice to 2, notices sent (2) to 0"
    );
    // An acknowledgement may arrive before the home's message.
    assert_eq!(nodes.node(1, PageMessage::WriteNotice, 0, 0), "acknowledge to 0");
    assert_eq!(nodes.node(0, PageMessage::Acknowledge, 0, 0), "");
    assert_eq!(nodes.node(0, PageMessage::NoticesSent, 0, 2), "");
    assert_eq!(nodes.node(2, PageMessage::WriteNotice, 0, 0), "acknowledge to 0");
    assert_eq!(nodes.node(0, PageMessage::Acknowledge, 0, 0), "0 released");
}

#[test]
fn a_release_waits_for_write_backs_of_lines_replaced_before() {
    let mut nodes = Nodes::new(2);
    nodes.map(0, true);
    assert_eq!(nodes.sent_lines(0, 1), "");
    assert_eq!(nodes.release(0), "0 writes back");
    assert_eq!(nodes.sent_lines(0, 0), "");
    assert_eq!(nodes.node(0, PageMessage::WrittenBack, 0, 0), "modified to home");
}

#[test]
fn a_release_of_one_trip_waits_at_home_for_its_write_backs() {
    let mut nodes = Nodes::under("lrc-one-trip", 3);
    nodes.map(0, true);
    nodes.map(1, true);
    // A line that was replaced before, and one of this release; those of node 1 do not matter.
    assert_eq!(nodes.sent_lines(0, 1), "");
    assert_eq!(nodes.sent_lines(1, 1), "");
    assert_eq!(nodes.release(0), "0 writes back, modified to home");
    assert_eq!(nodes.sent_lines(0, 1), "");
    assert_eq!(nodes.home(0, PageMessage::Modified), "waits");
    assert_eq!(nodes.home(0, PageMessage::WriteBack), "words, written back to 0");
    assert_eq!(nodes.home(0, PageMessage::Modified), "waits");
    assert_eq!(nodes.home(0, PageMessage::WriteBack), "words, written back to 0");
    let notices = "write notice to 1, notices sent (1) to 0";
    assert_eq!(nodes.home(0, PageMessage::Modified), notices);
    assert_eq!(nodes.node(0, PageMessage::NoticesSent, 0, 1), "");
    assert_eq!(nodes.node(0, PageMessage::Acknowledge, 0, 0), "0 released");
    // The acknowledgements of the write-backs come later, and matter only to an unmap.
    nodes.node(0, PageMessage::WriteNotice, 1, 0);
    assert_eq!(nodes.acquire(0), "0 flushes");
    assert_eq!(nodes.sent_lines(0, 0), "");
    assert_eq!(nodes.node(0, PageMessage::WrittenBack, 0, 0), "");
    assert_eq!(nodes.node(0, PageMessage::WrittenBack, 0, 0), "unmap to home");
}

#[test]
fn an_acquire_unmaps_pages_with_a_notice_and_no_others() {
    let mut nodes = Nodes::new(2);
    nodes.map(0, false);
    nodes.map(1, true);
    assert_eq!(nodes.acquire(0), "");
    assert_eq!(nodes.node(0, PageMessage::WriteNotice, 1, 0), "acknowledge to 1");
    // Until then the page may be used.
    assert_eq!(nodes.access(0, false), "0 completes");
    assert_eq!(nodes.acquire(0), "0 flushes, unmap to home");
    assert_eq!(nodes.sent_lines(0, 0), "");
    assert_eq!(nodes.driver.permission(0, PAGE), PagePermission::None);
    assert_eq!(nodes.acquire(0), "");
    // A fault that overtakes the unmap waits for it. The other node still maps the page: weak.
    assert_eq!(nodes.access(0, false), "read fault to home");
    assert_eq!(nodes.home(0, PageMessage::ReadFault), "waits");
    assert_eq!(nodes.home(0, PageMessage::Unmap), "");
    assert!(nodes.is_weak());
    assert_eq!(nodes.home(0, PageMessage::ReadFault), "mapped to 0");
}

#[test]
fn dirty_words_are_written_back_before_the_home_learns_of_an_unmap_and_are_released_later() {
    let mut nodes = Nodes::new(2);
    nodes.map(0, true);
    nodes.map(1, true);
    nodes.node(0, PageMessage::WriteNotice, 1, 0);
    assert_eq!(nodes.acquire(0), "0 flushes");
    assert_eq!(nodes.sent_lines(0, 2), "");
    assert_eq!(nodes.access(0, false), "waits");
    assert_eq!(nodes.node(0, PageMessage::WrittenBack, 0, 0), "");
    assert_eq!(nodes.node(0, PageMessage::WrittenBack, 0, 0), "unmap to home");
    assert_eq!(nodes.home(0, PageMessage::Unmap), "");
    // What was written is not released yet, although the page is not mapped any more.
    assert_eq!(nodes.release(0), "0 writes back");
    assert_eq!(nodes.sent_lines(0, 0), "modified to home");
    assert_eq!(nodes.home(0, PageMessage::Modified), "write notice to 1, notices sent (1) to 0");
}

#[test]
fn a_page_is_weak_until_no_node_maps_it() {
    let mut nodes = Nodes::new(2);
    nodes.map(0, true);
    nodes.map(1, true);
    for node in [0, 1] {
        nodes.node(node, PageMessage::WriteNotice, 1 - node, 0);
        nodes.acquire(node);
        assert_eq!(nodes.sent_lines(node, 0), "unmap to home");
        assert!(nodes.is_weak());
        nodes.home(node, PageMessage::Unmap);
    }
    assert!(!nodes.is_weak());
    nodes.map(0, false);
    assert!(!nodes.is_weak());
}

#[test]
fn a_notice_during_a_fault_matters_for_lines_in_the_cache() {
    let mut nodes = Nodes::new(2);
    nodes.access(0, false);
    nodes.home(0, PageMessage::ReadFault);
    // The home has listed the node: lines fetched from now on have the words.
    assert_eq!(nodes.node(0, PageMessage::WriteNotice, 1, 0), "acknowledge to 1");
    assert_eq!(nodes.node(0, PageMessage::Mapped, 0, 0), "0 completes");
    assert_eq!(nodes.acquire(0), "");
    // With the page mapped read-only there may be old lines.
    assert_eq!(nodes.access(0, true), "upgrade to home");
    nodes.home(0, PageMessage::Upgrade);
    assert_eq!(nodes.node(0, PageMessage::WriteNotice, 1, 0), "acknowledge to 1");
    assert_eq!(nodes.node(0, PageMessage::Mapped, 0, 0), "0 completes");
    nodes.stored(0);
    assert_eq!(nodes.acquire(0), "0 flushes");
}

#[test]
fn faults_are_errors() {
    let mut nodes = Nodes::new(2);
    let sent = SentPageMessage::to_home(0, PAGE, PageMessage::Fetch);
    let why = nodes.driver.deliver(&sent).unwrap_err();
    assert!(why.starts_with("the requester maps the page"));
    let lost = SentPageMessage { to: PageEnd::Node(1), ..sent };
    assert_eq!(nodes.driver.deliver(&lost), Err("a message has no recipient"));
}
