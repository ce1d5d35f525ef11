//! The transactions that ports of processors wait for.

use super::{AwaitedTransaction, WaitCollector};

/// The state of a request.
#[derive(Clone, Copy, Debug)]
enum Awaited {
    /// Its transaction is not known yet; the cycles waited so far.
    Requested(u64),
    /// Its transaction is known.
    Served(AwaitedTransaction),
}

/// Which transaction each port of a processor waits for, by the numbers of the processor and of the
/// port there. Both are small.
#[derive(Clone, Debug, Default)]
pub struct AwaitedPorts(Vec<Vec<Option<Awaited>>>);

impl AwaitedPorts {
    /// The last request of a port; `None` before the first.
    #[inline]
    fn of(&mut self, processor: usize, port: usize) -> &mut Option<Awaited> {
        if self.0.len() <= processor {
            self.0.resize(processor + 1, Vec::new());
        }
        let ports = &mut self.0[processor];
        if ports.len() <= port {
            ports.resize(port + 1, None);
        }
        &mut ports[port]
    }

    /// Records a request of a port.
    pub fn requested(&mut self, processor: usize, port: usize) {
        *self.of(processor, port) = Some(Awaited::Requested(0));
    }

    /// Records the transaction that serves the request of a port, and attributes the time waited so
    /// far to it.
    pub fn served(
        &mut self,
        processor: usize,
        port: usize,
        transaction: AwaitedTransaction,
        waits: &mut WaitCollector,
    ) {
        let before = self.of(processor, port).replace(Awaited::Served(transaction));
        if let Some(Awaited::Requested(cycles)) = before {
            waits.waited_before(transaction, cycles);
        }
    }

    /// Records that a processor waited this number of cycles at a port, until `now`.
    pub fn waited(
        &mut self,
        now: u64,
        processor: usize,
        port: usize,
        cycles: u64,
        waits: &mut WaitCollector,
    ) {
        match self.of(processor, port) {
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
        ports.waited(10, 0, 2, 10, &mut waits);
        ports.requested(0, 2);
        ports.waited(20, 0, 2, 7, &mut waits);
        let transaction = AwaitedTransaction::Announcement { word: 5, cause };
        ports.served(0, 2, transaction, &mut waits);
        ports.waited(30, 0, 2, 3, &mut waits);
        let total = waits.finish().total();
        assert_eq!((total.of(cause).transactions, total.of(cause).cycles), (1, 10));
    }
}
