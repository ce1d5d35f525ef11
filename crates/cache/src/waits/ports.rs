//! What the ports of processors wait for.

use rustc_hash::FxHashMap;

use super::{AwaitedTransaction, WaitCollector};

/// What a port asked for.
#[derive(Clone, Copy, Debug)]
enum Awaited {
    /// Something of which it is not known yet which transaction brings it, and the cycles that were
    /// waited for it.
    Requested(u64),
    /// A transaction.
    Served(AwaitedTransaction),
}

/// Which transaction each port of a processor waits for, by the port's number.
#[derive(Clone, Debug, Default)]
pub struct AwaitedPorts(FxHashMap<u32, Awaited>);

impl AwaitedPorts {
    /// A port asks for something; it will be known what that takes.
    pub fn requested(&mut self, port: u32) {
        self.0.insert(port, Awaited::Requested(0));
    }

    /// What the port asked for comes with a transaction: what was waited for it before belongs to
    /// that.
    pub fn served(
        &mut self,
        port: u32,
        transaction: AwaitedTransaction,
        waits: &mut WaitCollector,
    ) {
        let before = self.0.insert(port, Awaited::Served(transaction));
        if let Some(Awaited::Requested(cycles)) = before {
            waits.waited_before(transaction, cycles);
        }
    }

    /// A processor waited so many cycles at a port, until `now`.
    pub fn waited(&mut self, now: u64, (port, cycles): (u32, u64), waits: &mut WaitCollector) {
        match self.0.get_mut(&port) {
            Some(Awaited::Served(transaction)) => waits.waited(now, *transaction, cycles),
            Some(Awaited::Requested(before)) => *before += cycles,
            None => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::waits::WaitCause;

    #[test]
    fn what_was_waited_before_the_transaction_was_known_belongs_to_it() {
        let (mut ports, mut waits) = (AwaitedPorts::default(), WaitCollector::new(1));
        let cause = WaitCause::TrueSharing;
        waits.announce(5, cause);
        ports.waited(10, (0, 10), &mut waits);
        ports.requested(0);
        ports.waited(20, (0, 7), &mut waits);
        let transaction = AwaitedTransaction::Announcement { word: 5, cause };
        ports.served(0, transaction, &mut waits);
        ports.waited(30, (0, 3), &mut waits);
        let total = waits.finish().total();
        assert_eq!((total.of(cause).transactions, total.of(cause).cycles), (1, 10));
    }
}
