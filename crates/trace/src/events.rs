//! Events as numbers and at most one text: one table for the file format, the text format and CSV.

use crate::model::EventKind;

/// Name and fields of one kind of event.
pub struct EventShape {
    /// Name in text formats; its index in [`SHAPES`] is its number in `.hnt` files.
    pub name: &'static str,
    /// Names of the numeric fields, in order.
    pub numbers: &'static [&'static str],
    /// A bit for each numeric field that is an address (written in hexadecimal).
    pub addresses: u8,
    /// Whether a text follows the numbers.
    pub text: bool,
}

const fn shape(
    name: &'static str,
    numbers: &'static [&'static str],
    addresses: u8,
    text: bool,
) -> EventShape {
    EventShape { name, numbers, addresses, text }
}

/// All kinds of event. The order is part of the `.hnt` format: append only.
pub const SHAPES: &[EventShape] = &[
    shape("thread-start", &["stack_low", "stack_high"], 0b11, false),
    shape("thread-exit", &[], 0, false),
    shape("thread-create", &["child"], 0, false),
    shape("thread-join", &["child"], 0, false),
    shape("lock-acquire", &["addr"], 1, false),
    shape("lock-release", &["addr"], 1, false),
    shape("barrier-enter", &["addr"], 1, false),
    shape("barrier-leave", &["addr"], 1, false),
    shape("condition-wait", &["addr"], 1, false),
    shape("condition-wake", &["addr"], 1, false),
    shape("alloc", &["addr", "size", "site"], 0b101, false),
    shape("free", &["addr"], 1, false),
    shape("map", &["addr", "size", "shared"], 1, true),
    shape("unmap", &["addr", "size"], 1, false),
    shape("syscall-enter", &["number"], 0, false),
    shape("syscall-exit", &["number"], 0, false),
    shape("fork", &["pid"], 0, false),
    shape("init-done", &[], 0, false),
    shape("phase", &["id"], 0, false),
    shape("marker", &[], 0, true),
];

impl EventShape {
    /// Whether numeric field `i` is an address.
    pub const fn is_address(&self, i: usize) -> bool {
        self.addresses >> i & 1 == 1
    }

    /// Whether numeric field `i` is the number of a thread.
    pub fn is_thread(&self, i: usize) -> bool {
        self.numbers[i] == "child"
    }
}

/// Most numeric fields an event has.
pub const FIELDS: usize = 3;

/// Number of the kind, its fields (unused ones 0) and its text.
pub fn flatten(kind: &EventKind) -> (u8, [u64; FIELDS], &str) {
    use EventKind as K;
    let one = |tag, a: u64| (tag, [a, 0, 0], "");
    match kind {
        K::ThreadStart { stack_low, stack_high } => (0, [*stack_low, *stack_high, 0], ""),
        K::ThreadExit => one(1, 0),
        K::ThreadCreate { child } => one(2, u64::from(*child)),
        K::ThreadJoin { child } => one(3, u64::from(*child)),
        K::LockAcquire { addr } => one(4, *addr),
        K::LockRelease { addr } => one(5, *addr),
        K::BarrierEnter { addr } => one(6, *addr),
        K::BarrierLeave { addr } => one(7, *addr),
        K::ConditionWait { addr } => one(8, *addr),
        K::ConditionWake { addr } => one(9, *addr),
        K::Alloc { addr, size, site } => (10, [*addr, *size, *site], ""),
        K::Free { addr } => one(11, *addr),
        K::Map { addr, size, shared, object } => (12, [*addr, *size, u64::from(*shared)], object),
        K::Unmap { addr, size } => (13, [*addr, *size, 0], ""),
        K::SyscallEnter { number } => one(14, u64::from(*number)),
        K::SyscallExit { number } => one(15, u64::from(*number)),
        K::Fork { pid } => one(16, u64::from(*pid)),
        K::InitDone => one(17, 0),
        K::Phase { id } => one(18, u64::from(*id)),
        K::Marker { text } => (19, [0; FIELDS], text),
    }
}

/// The event with this number, fields and text, or `None` if a field is out of range.
pub fn build(tag: u8, fields: [u64; FIELDS], text: String) -> Option<EventKind> {
    use EventKind as K;
    let [a, b, c] = fields;
    let small = |value: u64| u32::try_from(value).ok();
    let thread = |value: u64| u16::try_from(value).ok();
    Some(match tag {
        0 => K::ThreadStart { stack_low: a, stack_high: b },
        1 => K::ThreadExit,
        2 => K::ThreadCreate { child: thread(a)? },
        3 => K::ThreadJoin { child: thread(a)? },
        4 => K::LockAcquire { addr: a },
        5 => K::LockRelease { addr: a },
        6 => K::BarrierEnter { addr: a },
        7 => K::BarrierLeave { addr: a },
        8 => K::ConditionWait { addr: a },
        9 => K::ConditionWake { addr: a },
        10 => K::Alloc { addr: a, size: b, site: c },
        11 => K::Free { addr: a },
        12 if c <= 1 => K::Map { addr: a, size: b, shared: c == 1, object: text },
        13 => K::Unmap { addr: a, size: b },
        14 => K::SyscallEnter { number: small(a)? },
        15 => K::SyscallExit { number: small(a)? },
        16 => K::Fork { pid: small(a)? },
        17 => K::InitDone,
        18 => K::Phase { id: small(a)? },
        19 => K::Marker { text },
        _ => return None,
    })
}

/// Number and shape of the kind of event with this name.
pub fn by_name(name: &str) -> Option<(u8, &'static EventShape)> {
    let place = SHAPES.iter().position(|shape| shape.name == name)?;
    Some((u8::try_from(place).ok()?, &SHAPES[place]))
}

/// Name and fields of every kind of event, in the order of the text formats; *x* marks those that
/// are written in hexadecimal.
#[must_use]
pub fn event_table() -> Vec<(&'static str, String)> {
    let fields = |shape: &EventShape| {
        let numbers = shape.numbers.iter().enumerate().map(|(i, name)| {
            if shape.is_address(i) { format!("`{name}` *x*") } else { format!("`{name}`") }
        });
        let text = shape.text.then(|| "*text*".to_owned());
        numbers.chain(text).collect::<Vec<_>>().join(", ")
    };
    SHAPES.iter().map(|shape| (shape.name, fields(shape))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_shape_builds_and_flattens_to_itself() {
        for (place, shape) in SHAPES.iter().enumerate() {
            let tag = u8::try_from(place).unwrap();
            let mut fields = [0; FIELDS];
            for (i, field) in fields.iter_mut().take(shape.numbers.len()).enumerate() {
                *field = 1 - (i as u64 & 1);
            }
            let text = if shape.text { "a b" } else { "" };
            let kind = build(tag, fields, text.to_owned()).unwrap();
            assert_eq!(flatten(&kind), (tag, fields, text), "{}", shape.name);
            assert_eq!(by_name(shape.name).unwrap().0, tag);
            // The name is the one serde uses too, so JSON and text agree.
            let json = serde_json::to_value(&kind).unwrap();
            assert_eq!(json["event"], shape.name);
        }
    }

    #[test]
    fn fields_out_of_range_build_nothing() {
        assert_eq!(build(2, [65_536, 0, 0], String::new()), None);
        assert_eq!(build(12, [0, 0, 2], String::new()), None);
        assert_eq!(build(14, [1 << 32, 0, 0], String::new()), None);
        assert_eq!(build(20, [0; FIELDS], String::new()), None);
    }
}
