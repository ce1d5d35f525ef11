//! The state of a block in a cache, and how its messages are handled.

use super::letters::{Letter, Link, Says};
use super::{PlainLists, Turn};

/// The state of a block in a cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Has {
    Nothing,
    Shared,
    Modified,
    /// A copy is in flight; whether its next recipient is known.
    Reads {
        follower: bool,
    },
    /// A copy to be handed on once the recipient is known.
    Owes,
    /// The only copy is in flight; whether the cache had one before, and whether others are gone.
    Writes {
        had: bool,
        gone: bool,
    },
    /// The only copy, once the others are gone.
    AwaitsAck,
    /// Replaced; the copies behind it are not gone yet.
    Walks,
    /// Written back; whether home had forwarded a request before, and whether a forwarded request
    /// was served.
    WroteBack {
        late: bool,
        served: bool,
    },
    /// A copy was requested for clients; it is only handed on.
    Relays,
}

impl Has {
    pub(super) fn rests(self) -> bool {
        matches!(self, Self::Nothing | Self::Shared | Self::Modified)
    }

    pub(super) fn permits(self, write: bool) -> bool {
        match self {
            Self::Modified => true,
            Self::Shared | Self::Owes => !write,
            _ => false,
        }
    }
}

/// A frame that has or had a block, or a block that was replaced or is only handed on.
#[derive(Clone, Copy, Debug)]
pub(super) struct PlainFrame {
    pub(super) block: u64,
    pub(super) has: Has,
    /// The request that brought the copy.
    pub(super) tag: u64,
    pub(super) behind: Option<Link>,
    /// Greater for the frame that was used later.
    pub(super) used: u64,
}

impl PlainLists {
    pub(super) fn in_frame(&mut self, cache: usize, block: u64) -> Option<&mut PlainFrame> {
        self.caches[cache].frames.iter_mut().find(|frame| frame.block == block)
    }

    /// The state of a block, even after its replacement.
    fn known(&mut self, cache: usize, block: u64) -> Option<&mut PlainFrame> {
        if self.caches[cache].left.contains_key(&block) {
            return self.caches[cache].left.get_mut(&block);
        }
        self.in_frame(cache, block)
    }

    pub(super) fn has(&mut self, cache: usize, block: u64) -> Has {
        self.known(cache, block).map_or(Has::Nothing, |frame| frame.has)
    }

    pub(super) fn set(&mut self, cache: usize, block: u64, has: Has) {
        self.known(cache, block).unwrap().has = has;
    }

    pub(super) fn take_behind(&mut self, cache: usize, block: u64) -> Option<Link> {
        self.known(cache, block).unwrap().behind.take()
    }

    /// The cache's own copy.
    pub(super) fn own(&mut self, cache: usize, block: u64) -> Link {
        let tag = self.known(cache, block).unwrap().tag;
        Link { cache, tag }
    }

    /// A message arrives that is not for a home.
    pub(super) fn comes_to_copy(&mut self, turn: &mut Turn, letter: Letter) {
        let (cache, block) = (turn.cache, letter.block);
        let before = self.has(cache, block);
        match letter.says {
            Says::Data { behind, clients, ahead } => {
                self.data_come(turn, block, behind, clients, ahead);
            }
            Says::Exclusive { due } => self.only_copy_comes(turn, block, due),
            Says::Permission => self.permission_comes(turn, letter),
            Says::Acknowledge => self.others_are_gone(turn, block),
            Says::Invalidate { copy } => self.has_to_go(turn, letter, copy),
            Says::Forward { write } => self.is_wanted(turn, letter, write),
            Says::WrittenBack { late } => self.home_has_it(cache, block, late),
            Says::ProxyRead => self.client_asks(turn, letter),
            Says::Bounce { from_proxy } => self.read_is_back(turn, letter, from_proxy),
            Says::Follower { client } => self.learns_follower(turn, block, client),
            _ => panic!("{letter:?} is for a home"),
        }
        if self.has(cache, block) != before {
            self.changed(turn, block);
        }
    }

    /// Messages that wait for another state are retried, before everything else.
    fn changed(&mut self, turn: &mut Turn, block: u64) {
        let cache = turn.cache;
        let waiting = std::mem::take(&mut self.caches[cache].waiting);
        let (of_block, others) = waiting.into_iter().partition(|letter| letter.block == block);
        self.caches[cache].waiting = others;
        let of_block: Vec<Letter> = of_block;
        for letter in of_block.into_iter().rev() {
            turn.own.push_front(letter);
        }
        let of_processor = cache == turn.node && self.has(cache, block).rests();
        if of_processor && std::mem::take(&mut self.nodes[cache].put_off) {
            self.begin(turn);
        }
    }

    fn waits(&mut self, turn: &Turn, letter: Letter, what: &'static str) {
        self.see(what);
        self.caches[turn.cache].waiting.push(letter);
    }

    fn data_come(
        &mut self,
        turn: &mut Turn,
        block: u64,
        behind: Option<Link>,
        clients: u64,
        ahead: bool,
    ) {
        let cache = turn.cache;
        if self.has(cache, block) == Has::Relays {
            self.relays(turn, block, behind);
            return;
        }
        self.use_second_level(turn, false, true);
        let ready = turn.time;
        let Has::Reads { follower } = self.has(cache, block) else {
            panic!("no request is outstanding")
        };
        self.known(cache, block).unwrap().behind = behind;
        self.owes(cache, block, clients, ahead);
        let owes = clients > 0 && !follower;
        self.set(cache, block, if owes { Has::Owes } else { Has::Shared });
        self.complete(cache, block, ready);
        if owes {
            self.see("a block comes before it is known to whom it goes next");
        } else {
            self.hand_on(turn, block);
        }
    }

    /// The node has the only copy, and all others are gone.
    fn owns(&mut self, cache: usize, block: u64, ready: u64) {
        let tag = self.nodes[cache].request.unwrap().tag.unwrap();
        let frame = self.known(cache, block).unwrap();
        (frame.has, frame.tag, frame.behind) = (Has::Modified, tag, None);
        self.complete(cache, block, ready);
    }

    fn only_copy_comes(&mut self, turn: &mut Turn, block: u64, due: bool) {
        let cache = turn.cache;
        self.use_second_level(turn, false, true);
        let Has::Writes { gone, .. } = self.has(cache, block) else {
            panic!("no write is outstanding")
        };
        assert!(due || !gone, "who is gone?");
        if due && !gone {
            self.set(cache, block, Has::AwaitsAck);
        } else {
            if gone {
                self.see("the others are gone before the block comes");
            }
            self.owns(cache, block, turn.time);
        }
    }

    fn permission_comes(&mut self, turn: &mut Turn, letter: Letter) {
        let (cache, block) = (turn.cache, letter.block);
        self.use_second_level(turn, true, false);
        assert_eq!(self.has(cache, block), Has::Writes { had: true, gone: false });
        match self.take_behind(cache, block) {
            None => self.owns(cache, block, turn.time),
            Some(behind) => {
                let requester = self.own(cache, block);
                let says = Says::Invalidate { copy: behind };
                self.post(
                    turn,
                    Letter { from: cache, to: behind.cache, block, requester, via: None, says },
                );
                self.set(cache, block, Has::AwaitsAck);
                self.see("the head of the list tells those behind it");
            }
        }
    }

    fn others_are_gone(&mut self, turn: &mut Turn, block: u64) {
        let cache = turn.cache;
        self.use_second_level(turn, true, false);
        match self.has(cache, block) {
            Has::Writes { had, gone: false } => {
                self.set(cache, block, Has::Writes { had, gone: true });
            }
            Has::AwaitsAck => self.owns(cache, block, turn.time),
            Has::Walks => {
                self.caches[cache].left.remove(&block);
            }
            other => panic!("{other:?} waits for no message"),
        }
    }

    fn has_to_go(&mut self, turn: &mut Turn, letter: Letter, copy: Link) {
        let (cache, block) = (turn.cache, letter.block);
        self.use_second_level(turn, true, false);
        let known = self.known(cache, block).filter(|frame| frame.has != Has::Nothing);
        if known.is_none_or(|frame| frame.tag != copy.tag) {
            self.see("a copy has to go that is gone");
            let says = Says::Acknowledge;
            self.post(turn, Letter { from: cache, to: letter.requester.cache, says, ..letter });
            return;
        }
        match self.has(cache, block) {
            Has::Shared => self.loses(cache, block),
            Has::Writes { had: true, gone: false } | Has::AwaitsAck => {
                self.see("a copy has to go that its node writes");
                self.forget(cache, block);
            }
            Has::Reads { .. } | Has::Owes => {
                self.waits(turn, letter, "a copy has to go that is on its way");
                return;
            }
            Has::Walks => {
                self.waits(turn, letter, "a walk waits for a replaced copy");
                return;
            }
            other => panic!("{other:?} is in no list"),
        }
        let (to, says) = match self.take_behind(cache, block) {
            Some(behind) => (behind.cache, Says::Invalidate { copy: behind }),
            None => (letter.requester.cache, Says::Acknowledge),
        };
        self.post(turn, Letter { from: cache, to, says, ..letter });
    }

    /// The frame keeps the block's number.
    fn loses(&mut self, cache: usize, block: u64) {
        self.set(cache, block, Has::Nothing);
        self.forget(cache, block);
    }

    /// The first level, a subset of the second, loses a block.
    pub(super) fn forget(&mut self, cache: usize, block: u64) {
        if let Some(node) = self.nodes.get_mut(cache) {
            node.first_level.retain(|_, &mut had| had != block);
        }
    }

    /// Home has forwarded a request.
    fn is_wanted(&mut self, turn: &mut Turn, letter: Letter, write: bool) {
        let (cache, block) = (turn.cache, letter.block);
        self.use_second_level(turn, true, true);
        let had = self.has(cache, block);
        if matches!(had, Has::Writes { .. } | Has::AwaitsAck) {
            self.waits(turn, letter, "a forwarded request waits for the owner to be one");
            return;
        }
        let own = self.own(cache, block);
        let behind = (had == Has::Modified).then_some(own);
        let says = if write {
            Says::Exclusive { due: false }
        } else {
            Says::Data { behind, clients: 0, ahead: false }
        };
        self.post(turn, Letter { from: cache, to: letter.receiver(), says, ..letter });
        match had {
            Has::Modified if write => self.loses(cache, block),
            Has::Modified => {
                let (to, says) = (self.home_of(block), Says::SharingWriteBack { copy: own });
                self.post(turn, Letter { from: cache, to, via: None, says, ..letter });
                self.set(cache, block, Has::Shared);
            }
            Has::WroteBack { late: true, served: false } => {
                self.caches[cache].left.remove(&block);
            }
            Has::WroteBack { late: false, served: false } => {
                self.see("a request is forwarded to a block that was written back");
                self.set(cache, block, Has::WroteBack { late: false, served: true });
            }
            other => panic!("{other:?} owns nothing"),
        }
    }

    /// Home has acknowledged a write-back.
    fn home_has_it(&mut self, cache: usize, block: u64, late: bool) {
        match self.has(cache, block) {
            Has::WroteBack { late: false, served: false } if late => {
                self.see("a write-back is acknowledged before a forwarded request comes");
                self.set(cache, block, Has::WroteBack { late: true, served: false });
            }
            Has::WroteBack { late: false, served } if served == late => {
                self.caches[cache].left.remove(&block);
            }
            other => panic!("{other:?} was not written back"),
        }
    }

    /// Finds a frame for a block that has none, and replaces its content. There is none while a
    /// request for that content is pending.
    pub(super) fn find_frame(&mut self, turn: &mut Turn, block: u64) -> bool {
        let cache = turn.cache;
        let (sets, ways) = self.caches[cache].sets_and_ways;
        let in_set = |frame: &&PlainFrame| frame.block % sets == block % sets;
        let frames: Vec<_> = self.caches[cache].frames.iter().filter(in_set).copied().collect();
        if (frames.len() as u64) < ways {
            return true;
        }
        let victim = frames.iter().min_by_key(|frame| (frame.has != Has::Nothing, frame.used));
        let victim = *victim.unwrap();
        if !victim.has.rests() {
            return false;
        }
        self.replace(turn, victim);
        self.caches[cache].frames.retain(|frame| frame.block != victim.block);
        self.forget(cache, victim.block);
        true
    }

    fn replace(&mut self, turn: &mut Turn, victim: PlainFrame) {
        let (cache, block) = (turn.cache, victim.block);
        let requester = Link { cache, tag: victim.tag };
        let home = self.home_of(block);
        let letter = |to, says| Letter { from: cache, to, block, requester, via: None, says };
        let has = match (victim.has, victim.behind) {
            (Has::Modified, _) => {
                self.add("write_backs", 1);
                self.add("local_write_backs", u64::from(home == cache));
                self.use_second_level(turn, false, true);
                self.post(turn, letter(home, Says::WriteBack { copy: requester }));
                Has::WroteBack { late: false, served: false }
            }
            (Has::Shared, Some(behind)) => {
                self.see("a copy with others behind it is replaced");
                self.post(turn, letter(behind.cache, Says::Invalidate { copy: behind }));
                Has::Walks
            }
            _ => return,
        };
        self.caches[cache].left.insert(block, PlainFrame { has, behind: None, ..victim });
    }
}
