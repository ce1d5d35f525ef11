//! One process: a stream of references with the statistics of its group.

use homenode_base::{Access, AccessKind, Flags, Rng};

use crate::odds::{Odds, floored};
use crate::session::SessionWalk;
use crate::walk::{CodeWalk, DataWalk};

/// What a process does in user mode, or in the kernel.
pub(crate) struct ModeWalks<'a> {
    pub(crate) code: CodeWalk<'a>,
    pub(crate) data: DataWalk<'a>,
    /// None if it uses no shared data in this mode.
    pub(crate) shared: Option<SessionWalk<'a>>,
    /// That a reference to data is to shared data.
    pub(crate) is_shared: Odds,
    pub(crate) flags: Flags,
}

/// The decisions that do not depend on the mode.
#[derive(Clone, Copy)]
pub(crate) struct KindOdds {
    /// That a reference is a fetch.
    pub(crate) is_fetch: Odds,
    /// That a reference to private data is a write.
    pub(crate) writes_private: Odds,
    /// That one to shared data is.
    pub(crate) writes_shared: Odds,
}

/// How a process enters and leaves the kernel.
#[derive(Clone, Copy)]
pub(crate) struct Calls {
    /// That the kernel makes another reference.
    pub(crate) goes_on: Odds,
    /// References in user mode for each one of the kernel.
    pub(crate) user_for_kernel: f64,
}

/// The kernel, for a process that uses it.
pub(crate) struct InKernel<'a> {
    pub(crate) mode: ModeWalks<'a>,
    pub(crate) calls: Calls,
}

/// Numbers that each reference of the process has.
#[derive(Clone, Copy)]
pub(crate) struct Identity {
    pub(crate) thread: u16,
    pub(crate) pid: u32,
    pub(crate) word_bytes: u8,
}

/// A process.
pub(crate) struct ServerProcess<'a> {
    pub(crate) identity: Identity,
    pub(crate) rng: Rng,
    pub(crate) mix: KindOdds,
    pub(crate) user: ModeWalks<'a>,
    pub(crate) kernel: Option<InKernel<'a>>,
    /// References until the next call.
    pub(crate) until_call: f64,
    pub(crate) in_kernel: bool,
}

impl ServerProcess<'_> {
    /// The next reference.
    pub(crate) fn next(&mut self) -> Access {
        let Self { identity, rng, mix, user, kernel, until_call, in_kernel } = self;
        let mode = match kernel {
            Some(kernel) if *in_kernel || *until_call < 1.0 => {
                *until_call += kernel.calls.user_for_kernel;
                *in_kernel = kernel.calls.goes_on.happens(rng);
                &mut kernel.mode
            }
            Some(_) => {
                *until_call -= 1.0;
                user
            }
            None => user,
        };
        reference(*identity, *mix, mode, rng)
    }
}

fn reference(identity: Identity, mix: KindOdds, mode: &mut ModeWalks<'_>, rng: &mut Rng) -> Access {
    let (kind, addr, private) = if mix.is_fetch.happens(rng) {
        (AccessKind::Fetch, mode.code.next(rng), false)
    } else {
        let shared = mode.shared.as_mut().filter(|_| mode.is_shared.happens(rng));
        let private = shared.is_none();
        let writes = if private { mix.writes_private } else { mix.writes_shared };
        let addr = match shared {
            Some(walk) => walk.next(rng),
            None => mode.data.next(rng),
        };
        let kind = if writes.happens(rng) { AccessKind::Write } else { AccessKind::Read };
        (kind, addr, private)
    };
    let mut access = Access::new(identity.thread, kind, addr, identity.word_bytes);
    access.pid = identity.pid;
    access.flags = if private { mode.flags.union(Flags::PRIVATE) } else { mode.flags };
    access
}

/// A number of references below the given mean length.
pub(crate) fn offset(mean: f64, rng: &mut Rng) -> f64 {
    rng.below(floored(mean).max(1)) as f64
}
