//! What is known to happen, by when.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::arbiter::Port;

/// What happens by itself at a known time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Moment {
    /// Memory can send the block; the bus is needed for so long.
    Due(Port, u64, u64),
    /// What a processor asked for is there.
    Done(Port),
    /// A process is ready again.
    Ready,
}

/// Moments by cycle, then by processor or process, then in the order of [`Moment`]'s values.
#[derive(Default)]
pub(super) struct Moments {
    /// Cycle; whom and what it is about, in one number; block and cycles of [`Moment::Due`].
    queue: BinaryHeap<Reverse<(u64, u64, u64, u64)>>,
}

/// Bits of a port, and of what happens, in the number that says whom it is about.
const PORT_BITS: u32 = 12;
const KIND_BITS: u32 = 4;

const PORT_STORE: u64 = 1 << 8;
const PORT_WAIT: u64 = PORT_STORE + 1;

fn number(port: Port) -> u64 {
    match port {
        Port::Load(slot) => u64::from(slot),
        Port::Store => PORT_STORE,
        Port::Wait => PORT_WAIT,
    }
}

fn port(number: u64) -> Port {
    match u8::try_from(number) {
        Ok(slot) => Port::Load(slot),
        Err(_) if number == PORT_STORE => Port::Store,
        Err(_) => Port::Wait,
    }
}

impl Moments {
    pub(super) fn push(&mut self, cycle: u64, who: usize, moment: Moment) {
        let (what, block, cycles) = match moment {
            Moment::Due(port, block, cycles) => (number(port), block, cycles),
            Moment::Done(port) => (1 << PORT_BITS | number(port), 0, 0),
            Moment::Ready => (2 << PORT_BITS, 0, 0),
        };
        let about = (who as u64) << (PORT_BITS + KIND_BITS) | what;
        self.queue.push(Reverse((cycle, about, block, cycles)));
    }

    pub(super) fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }

    /// When the next one is.
    #[inline]
    pub(super) fn next(&self) -> Option<u64> {
        self.queue.peek().map(|&Reverse((cycle, ..))| cycle)
    }

    /// What is next, if it is now.
    #[inline]
    pub(super) fn take(&mut self, now: u64) -> Option<(usize, Moment)> {
        if self.next() != Some(now) {
            return None;
        }
        let Reverse((_, about, block, cycles)) = self.queue.pop()?;
        let who = usize::try_from(about >> (PORT_BITS + KIND_BITS)).unwrap_or(usize::MAX);
        let port = port(about & ((1 << PORT_BITS) - 1));
        let moment = match (about >> PORT_BITS) & ((1 << KIND_BITS) - 1) {
            0 => Moment::Due(port, block, cycles),
            1 => Moment::Done(port),
            _ => Moment::Ready,
        };
        Some((who, moment))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_come_in_order_and_as_they_went() {
        let mut moments = Moments::default();
        let all = [
            (3, 0, Moment::Due(Port::Load(7), 5, 64)),
            (3, 0, Moment::Due(Port::Wait, 6, 1)),
            (3, 0, Moment::Done(Port::Load(0))),
            (3, 0, Moment::Done(Port::Load(255))),
            (3, 0, Moment::Done(Port::Store)),
            (3, 63, Moment::Due(Port::Store, u64::MAX >> 4, 2)),
            (3, 70_000, Moment::Ready),
            (4, 0, Moment::Ready),
        ];
        for &(cycle, who, moment) in all.iter().rev() {
            moments.push(cycle, who, moment);
        }
        for (cycle, who, moment) in all {
            assert_eq!(moments.next(), Some(cycle));
            assert_eq!(moments.take(cycle - 1), None);
            assert_eq!(moments.take(cycle), Some((who, moment)));
        }
        assert!(moments.is_empty());
    }
}
