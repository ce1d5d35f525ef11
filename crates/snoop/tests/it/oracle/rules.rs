//! The protocols in sentences: how a read or write changes the states of all caches.
//!
//! Written independently of the crate's tables, and differently: a function changes a map from
//! processor to state and returns the transactions.

use std::collections::BTreeMap;

/// State of each processor's copy; a processor without a copy is absent.
pub type States = BTreeMap<usize, &'static str>;

/// The transactions on the bus, in order, and the processors that lost a copy.
#[derive(Default)]
pub struct Happened {
    pub bus: Vec<&'static str>,
    pub lost: Vec<usize>,
    /// The copies that others held at a write or invalidate on the bus.
    pub remote: Vec<usize>,
}

/// The protocols whose rules are here. Other protocols have tests in their own files.
pub const PROTOCOLS: [&str; 8] =
    ["mesi", "amsd", "pscr", "moesi", "dragon", "mesi-memory", "amsd-memory", "pscr-memory"];

/// The protocol without its rule for clean blocks, and whether memory supplies these.
fn with_rule(protocol: &str) -> (&str, bool) {
    protocol.strip_suffix("-memory").map_or((protocol, false), |base| (base, true))
}

/// Whether a cache supplies a block: one that has it, or under the rule one that owns it.
fn is_from_cache(states: &States, others: &[usize], clean_from_memory: bool) -> bool {
    let owns = |other: &usize| ["M", "MD", "SM", "O"].contains(&states[other]);
    if clean_from_memory { others.iter().any(owns) } else { !others.is_empty() }
}

pub fn reference(
    protocol: &str,
    states: &mut States,
    who: usize,
    write: bool,
    private: bool,
) -> Happened {
    let mut happened = Happened::default();
    let (protocol, clean_from_memory) = with_rule(protocol);
    let from_cache = is_from_cache(states, &others(states, who), clean_from_memory);
    match protocol {
        "mesi" | "moesi" | "amsd" => {
            if write {
                invalidating_write(protocol, states, who, from_cache, &mut happened);
            } else {
                invalidating_read(protocol, states, who, from_cache, &mut happened);
            }
        }
        "pscr" | "dragon" => {
            let private = private && protocol == "pscr";
            if !states.contains_key(&who) {
                updating_miss(states, who, private, from_cache, &mut happened);
            }
            if write {
                updating_write_hit(states, who, &mut happened);
            }
        }
        _ => panic!("no such protocol"),
    }
    happened
}

/// The states that are written back when replaced.
pub fn written_back(protocol: &str) -> &'static [&'static str] {
    match with_rule(protocol).0 {
        "mesi" => &["M"],
        "moesi" => &["M", "O"],
        "amsd" => &["M", "MD"],
        "pscr" | "dragon" => &["M", "SM"],
        _ => panic!("no such protocol"),
    }
}

fn others(states: &States, who: usize) -> Vec<usize> {
    states.keys().copied().filter(|&other| other != who).collect()
}

fn invalidating_read(
    protocol: &str,
    states: &mut States,
    who: usize,
    from_cache: bool,
    happened: &mut Happened,
) {
    if states.contains_key(&who) {
        return;
    }
    let rest = others(states, who);
    happened.bus.push(if from_cache { "read_block_cache" } else { "read_block_memory" });
    if rest.is_empty() {
        states.insert(who, "E");
        return;
    }
    if protocol == "amsd" && rest.len() == 1 {
        let holder = rest[0];
        match states[&holder] {
            "M" => {
                states.insert(holder, "S");
                states.insert(who, "S2");
                return;
            }
            "MD" => {
                states.remove(&holder);
                happened.lost.push(holder);
                states.insert(who, "MC");
                return;
            }
            _ => {}
        }
    }
    for holder in rest {
        let next = match (protocol, states[&holder]) {
            ("moesi", "M" | "O") => "O",
            _ => "S",
        };
        states.insert(holder, next);
    }
    states.insert(who, "S");
}

fn invalidating_write(
    protocol: &str,
    states: &mut States,
    who: usize,
    from_cache: bool,
    happened: &mut Happened,
) {
    let rest = others(states, who);
    let next = match states.get(&who).copied() {
        Some("M" | "E") => "M",
        Some("MD" | "MC") => "MD",
        Some(shared) => {
            happened.bus.push("invalidate");
            happened.remote.clone_from(&rest);
            if shared == "S2" { "MD" } else { "M" }
        }
        None => {
            let sent = if from_cache { "read_invalidate_cache" } else { "read_invalidate_memory" };
            happened.bus.push(sent);
            let migrates = protocol == "amsd" && rest.len() == 1 && states[&rest[0]] == "MD";
            if migrates { "MD" } else { "M" }
        }
    };
    for holder in rest {
        states.remove(&holder);
        happened.lost.push(holder);
    }
    states.insert(who, next);
}

fn updating_miss(
    states: &mut States,
    who: usize,
    private: bool,
    from_cache: bool,
    happened: &mut Happened,
) {
    let rest = others(states, who);
    happened.bus.push(if from_cache { "read_block_cache" } else { "read_block_memory" });
    if rest.is_empty() {
        states.insert(who, "E");
        return;
    }
    if private {
        let dirty = rest.iter().any(|holder| ["M", "SM"].contains(&states[holder]));
        for holder in rest {
            states.remove(&holder);
            happened.lost.push(holder);
        }
        states.insert(who, if dirty { "M" } else { "E" });
        return;
    }
    for holder in rest {
        let next = if ["M", "SM"].contains(&states[&holder]) { "SM" } else { "S" };
        states.insert(holder, next);
    }
    states.insert(who, "S");
}

fn updating_write_hit(states: &mut States, who: usize, happened: &mut Happened) {
    if ["E", "M"].contains(&states[&who]) {
        states.insert(who, "M");
        return;
    }
    happened.bus.push("write");
    let rest = others(states, who);
    happened.remote.clone_from(&rest);
    states.insert(who, if rest.is_empty() { "M" } else { "SM" });
    for holder in rest {
        states.insert(holder, "S");
    }
}
