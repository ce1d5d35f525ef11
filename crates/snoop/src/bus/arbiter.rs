//! The arbiter of the bus.

use std::collections::VecDeque;

use homenode_clock::Requester;
use homenode_machine::Arbitration;

#[derive(Clone, Copy, Debug)]
pub(super) struct BusRequest {
    /// The processor and port that it serves.
    pub(super) requester: Requester,
    pub(super) block: u64,
    /// Cycles for which memory needs the bus to send the block; `None` for a new transaction.
    pub(super) answer: Option<u64>,
}

/// Buckets of blocks. Requests for new transactions are counted by bucket, so that the queue is
/// searched for a block only if it may contain one.
const BUCKETS: usize = 256;

fn bucket(block: u64) -> usize {
    usize::try_from(block % BUCKETS as u64).unwrap_or(0)
}

/// The queue of requests, and the state of the bus.
pub(super) struct Arbiter {
    policy: Arbitration,
    processors: usize,
    /// The requests in order of arrival, and whether each can be granted.
    requests: VecDeque<(BusRequest, bool)>,
    /// The number of requests that can be granted.
    grantable: usize,
    /// The number of requests for new transactions, by bucket of the block.
    in_bucket: [u16; BUCKETS],
    /// Blocks that memory has yet to send: no new transaction on them is granted.
    expected: Vec<u64>,
    /// The processor after the one that was served last.
    turn: usize,
    pub(super) free_at: u64,
    pub(super) busy: u64,
}

impl Arbiter {
    pub(super) fn new(policy: Arbitration, processors: usize) -> Self {
        Self {
            policy,
            processors,
            requests: VecDeque::new(),
            grantable: 0,
            in_bucket: [0; BUCKETS],
            expected: Vec::new(),
            turn: 0,
            free_at: 0,
            busy: 0,
        }
    }

    pub(super) fn request(&mut self, request: BusRequest) {
        let grantable = request.answer.is_some() || !self.expected.contains(&request.block);
        self.grantable += usize::from(grantable);
        self.in_bucket[bucket(request.block)] += u16::from(request.answer.is_none());
        self.requests.push_back((request, grantable));
    }

    /// The cycle of the next grant, at `now` or later; `None` if no request can be granted.
    #[inline]
    pub(super) fn next_grant(&self, now: u64) -> Option<u64> {
        (self.grantable > 0).then_some(self.free_at.max(now))
    }

    /// Records that memory has to send the block.
    pub(super) fn expect(&mut self, block: u64) {
        self.expected.push(block);
        self.set_grantable(block, false);
    }

    /// Sets whether new transactions on a block can be granted.
    fn set_grantable(&mut self, block: u64, can: bool) {
        if self.in_bucket[bucket(block)] == 0 {
            return;
        }
        for (request, grantable) in &mut self.requests {
            if request.block == block && request.answer.is_none() && *grantable != can {
                *grantable = can;
                if can { self.grantable += 1 } else { self.grantable -= 1 }
            }
        }
    }

    /// Grants the bus, if it is free and requested. In most cycles it is not: only this test is
    /// inlined.
    #[inline]
    pub(super) fn grant(&mut self, now: u64) -> Option<BusRequest> {
        if self.free_at > now || self.grantable == 0 { None } else { self.grant_next() }
    }

    /// Grants the free bus to the next request by the policy.
    fn grant_next(&mut self) -> Option<BusRequest> {
        let distance = |request: &BusRequest| {
            (request.requester.processor() + self.processors - self.turn) % self.processors
        };
        let mut grantable = (0..self.requests.len()).filter(|&i| self.requests[i].1);
        let next = match self.policy {
            Arbitration::Fifo => grantable.next(),
            Arbitration::RoundRobin => grantable.min_by_key(|&i| distance(&self.requests[i].0)),
        };
        let (request, _) = self.requests.remove(next?)?;
        self.grantable -= 1;
        if request.answer.is_some() {
            if let Some(at) = self.expected.iter().position(|&block| block == request.block) {
                self.expected.swap_remove(at);
            }
            self.set_grantable(request.block, true);
        } else {
            self.in_bucket[bucket(request.block)] -= 1;
        }
        self.turn = (request.requester.processor() + 1) % self.processors;
        Some(request)
    }

    /// Holds the bus from now on.
    pub(super) fn hold(&mut self, now: u64, cycles: u64) {
        self.free_at = now + cycles;
        self.busy += cycles;
    }
}
