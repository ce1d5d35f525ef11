//! Classes of misses, and of the sharing behind coherence transactions.
//!
//! A frame records the words that its processor touched during the lifetime of its copy. When
//! another processor takes the copy away, the frame stays and collects the words that others write:
//! a miss on it is true sharing if one of these is used, else false sharing.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::access::BlockAccess;
use crate::frames::{CacheArrays, CacheFrame, MAY_READ, MAY_WRITE, MissStatus, READ, WRITTEN};
use crate::holders::BlockHolders;
use crate::system::CacheSystem;
use crate::waits::WaitCause;
use crate::words::WordMask;

/// When an invalidation miss is true sharing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum MissRule {
    /// When words that others wrote since the copy was lost are used before the new copy is lost:
    /// the essential misses of Dubois et al. 1993.
    #[default]
    Dubois,
    /// When the word that misses was written by others since the copy was lost: decided at the miss
    /// (Torrellas, Lam and Hennessy 1994).
    Torrellas,
}

/// The classes of [`crate::MissCounts`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum MissClass {
    /// The processor never had the block.
    Cold,
    /// The copy was replaced.
    Replacement,
    /// Words that others wrote since the invalidation are used before this copy is lost.
    InvalidationTrue,
    /// No word that others wrote is used.
    InvalidationFalse,
    /// The copy was invalidated, although its area is private.
    InvalidationPassive,
    /// The copy went with its process to another processor.
    Removal,
}

/// The classes of [`crate::CoherenceCounts`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SharingClass {
    /// Another holder touched the written word.
    True,
    /// None did.
    False,
    /// The block is of a private area.
    Passive,
}

impl From<MissClass> for WaitCause {
    fn from(class: MissClass) -> Self {
        match class {
            MissClass::Cold => Self::Cold,
            MissClass::Replacement | MissClass::Removal => Self::Replacement,
            MissClass::InvalidationTrue => Self::TrueSharing,
            MissClass::InvalidationFalse | MissClass::InvalidationPassive => Self::FalseSharing,
        }
    }
}

impl From<SharingClass> for WaitCause {
    fn from(class: SharingClass) -> Self {
        match class {
            SharingClass::True => Self::TrueSharing,
            SharingClass::False | SharingClass::Passive => Self::FalseSharing,
        }
    }
}

impl<F: CacheArrays<W>, W: WordMask, const WORDS: usize> CacheSystem<F, W, WORDS> {
    /// Counts a miss on a frame that lost its copy to another processor, or leaves its class
    /// undecided. Returns which.
    pub fn coherence_miss(
        &mut self,
        access: &BlockAccess<W>,
        at: usize,
        record: &BlockHolders<WORDS>,
    ) -> MissStatus {
        self.tell_writes(access.block, record);
        self.told_coherence_miss(access, at)
    }

    /// The same if the frames that lost the block have already collected all writes.
    pub fn told_coherence_miss(&mut self, access: &BlockAccess<W>, at: usize) -> MissStatus {
        let word = self.word_of(access);
        self.waits.iter_mut().for_each(|waits| waits.miss(at, word));
        let CacheFrame { status, remote_written, .. } = *self.frame(at);
        let class = if status == MissStatus::Removed {
            MissClass::Removal
        } else if access.private {
            MissClass::InvalidationPassive
        } else if remote_written.meets(access.words) {
            MissClass::InvalidationTrue
        } else if self.rule == MissRule::Torrellas || remote_written.is_empty() {
            MissClass::InvalidationFalse
        } else if access.is_kernel() {
            return MissStatus::UndecidedKernel;
        } else {
            return MissStatus::Undecided;
        };
        self.settle(at, class, access.is_kernel());
        MissStatus::Settled
    }

    /// Counts a miss on a block that the processor replaced (`had`) or never had. Its frame is free
    /// already.
    #[inline]
    pub fn cold_or_replacement_miss(&mut self, access: &BlockAccess<W>, at: usize, had: bool) {
        self.counts.add_cold_or_replacement(had, access.is_kernel());
        if self.waits.is_some() {
            self.collect_cold_or_replacement(access, at, had);
        }
    }

    #[cold]
    fn collect_cold_or_replacement(&mut self, access: &BlockAccess<W>, at: usize, had: bool) {
        let word = self.word_of(access);
        let cause = if had { WaitCause::Replacement } else { WaitCause::Cold };
        if let Some(waits) = &mut self.waits {
            waits.miss(at, word);
            waits.decide(at, cause);
        }
    }

    /// Counts the miss that fetched the copy of a frame, now that its class is known.
    fn settle(&mut self, at: usize, class: MissClass, kernel: bool) {
        self.counts.add_miss(class, kernel);
        self.waits.iter_mut().for_each(|waits| waits.decide(at, class.into()));
    }

    /// Decides an undecided miss as true sharing when the reference touches a word that others
    /// wrote. Returns whether the reference is complete: its copy's miss was undecided and it needs
    /// no transaction. `permissions` maps a state to what it allows.
    #[inline]
    pub fn touch_undecided(
        &mut self,
        access: &BlockAccess<W>,
        at: usize,
        permissions: impl Fn(u8) -> u64,
    ) -> bool {
        let frame = self.frame(at);
        let Some(kernel) = frame.status.undecided() else { return false };
        let permissions = permissions(frame.state);
        if frame.remote_written.meets(access.words) {
            frame.status = MissStatus::Settled;
            frame.permit(permissions);
            self.settle(at, MissClass::InvalidationTrue, kernel);
        }
        let need = if access.write { MAY_WRITE } else { MAY_READ };
        let permitted = permissions & need != 0;
        if permitted {
            self.mark_touched(access, at);
        }
        permitted
    }

    /// Records the words that the frame's processor touches.
    #[inline]
    pub fn mark_touched(&mut self, access: &BlockAccess<W>, at: usize) {
        let kind = if access.write { WRITTEN } else { READ };
        self.frame(at).touched[kind].add(access.words);
    }

    /// Counts a coherence transaction that affects copies in these frames of other caches.
    pub fn count_coherence(
        &mut self,
        access: &BlockAccess<W>,
        mut copies: impl Iterator<Item = usize>,
    ) {
        let frames = self.frames.all();
        let class = if access.private {
            SharingClass::Passive
        } else if copies.any(|at| frames[at].all_touched().meets(access.words)) {
            SharingClass::True
        } else {
            SharingClass::False
        };
        self.counts.add_coherence(class, access.is_kernel());
        let word = self.word_of(access);
        self.waits.iter_mut().for_each(|waits| waits.announce(word, class.into()));
    }

    /// Records a transaction on a copy that no other cache has as waiting for this cause.
    pub fn count_without_sharing(&mut self, access: &BlockAccess<W>, cause: WaitCause) {
        let word = self.word_of(access);
        self.waits.iter_mut().for_each(|waits| waits.announce(word, cause));
    }

    /// Adds the words that holders wrote since the last call to the frames that lost the block.
    /// Must be called before a copy is lost and before a miss on a lost one. Until then writes are
    /// collected in the writer's frame, so that a write hit accesses no other cache.
    pub fn tell_writes(&mut self, block: u64, record: &BlockHolders<WORDS>) {
        for holder in record.holders.members().map(usize::from) {
            let at = self.known_frame(holder, block);
            let written = self.frame(at).take_written();
            if written.is_empty() {
                continue;
            }
            for loser in record.lost.members().map(usize::from) {
                let at = self.known_frame(loser, block);
                self.frame(at).remote_written.add(written);
            }
        }
    }

    /// Takes a copy away because of another processor's transaction.
    pub fn lose(&mut self, block: u64, holder: usize, at: usize, status: MissStatus) {
        self.end_copy(at);
        let set = self.frames.set_of(holder, block);
        self.frames.invalidate(set, at);
        let frame = self.frame(at);
        (frame.remote_written, frame.state, frame.status) = (W::default(), 0, status);
    }

    /// Ends a copy: if the miss that fetched it is still undecided, it was false sharing.
    #[inline]
    pub fn end_copy(&mut self, at: usize) {
        if let Some(kernel) = std::mem::take(&mut self.frame(at).status).undecided() {
            self.settle(at, MissClass::InvalidationFalse, kernel);
        }
    }

    /// Ends all copies at the end of the trace.
    pub fn end_all_copies(&mut self) {
        for at in 0..self.frames.all().len() {
            // Reading a frame that was never used allocates no memory; writing it would.
            if self.frames.all()[at].status != MissStatus::Settled {
                self.end_copy(at);
            }
        }
    }
}
