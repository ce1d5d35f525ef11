//! Lazy release consistency in software: several nodes write a page at once, and learn of each
//! other's writes when they synchronise.

pub(super) mod because;
pub(super) mod home;
pub(super) mod mapping;
pub(super) mod release;

use homenode_cache::walk::Example;

use crate::entry::FamilyProtocol;
use crate::lrc::table::{PagedRules, PagedTable};
use crate::lrc::vocabulary::PagePermission;
use home::PageHomeState;
use mapping::MappingState;
use release::ReleaseState;

/// Source: Marchetti, Kontothanassis, Bianchini and Scott 1995, section 3.1 and its footnote: page
/// faults notify the home, which keeps a list of sharers; a page goes on the weak list when its
/// only mapping was read-write, or at a write fault when all were read-only; a release writes dirty
/// words back and sends write notices, an acquire unmaps and flushes pages for which a notice has
/// arrived.
///
/// # Deviations
/// Choices where the paper is silent: at a release, a node notifies the home of each page that it
/// wrote since its last release, according to the modified bit of its page table; the home sends
/// notices if the page is weak. The node does so when the write-backs of the page are acknowledged:
/// otherwise another node could map the page after the notices and fetch a line before the words
/// arrive. Recipients of a notice acknowledge it to the releasing node. An unmap follows the
/// acknowledgements of the page's write-backs, and is not itself acknowledged: a fault of a node
/// that is still listed waits at the home for it. Messages between two nodes may overtake each
/// other.
pub(crate) const ENTRY: FamilyProtocol<PagedTable> = FamilyProtocol {
    name: "lrc",
    summary: "lazy release consistency in software: pages, several writers, notices at a release",
    source: "Marchetti et al. 1995, section 3.1",
    params: &[],
    example: EXAMPLE,
    build: PagedTable::of::<Lrc>,
};

pub(super) const EXAMPLE: Example = Example {
    name: "write-notices",
    summary: "Two writers of one page, and when other nodes see their writes",
    about: "Nodes 0 and 1 write two words of one line, and no copy is taken away: the page, which \
            node 0 mapped alone for writing, is on the weak list as soon as node 1 maps it. Node 2 \
            reads the first word and, after node 0 has released, still reads the old value, for it \
            has only a notice; its acquire unmaps the page and flushes the line, and its next read \
            faults and finds what node 0 wrote. At its own acquire node 1 writes its word back \
            first, and tells of it at its next release. Then node 2 writes a page that it maps \
            read-only, and node 0 acquires.",
    protocol: Some("lrc"),
    text: "0 W a0; 1 W a1; 2 R a0; 0 rel; 2 R a0; 2 acq; 2 R a0; 1 acq; 1 R a0; 1 rel; 2 W b0; \
           0 R a1; 0 acq; 0 R a1",
};

pub(super) struct Lrc;

impl PagedRules for Lrc {
    type Mapping = MappingState;
    type Release = ReleaseState;
    type Home = PageHomeState;

    fn permission(state: MappingState) -> PagePermission {
        use MappingState as S;
        match state {
            S::Unmapped | S::ReadFault | S::WriteFault | S::Leaving => PagePermission::None,
            S::ReadOnly | S::ReadOnlyNoticed | S::Upgrade | S::UpgradeNoticed => {
                PagePermission::Read
            }
            S::ReadWrite | S::ReadWriteNoticed => PagePermission::Write,
        }
    }

    fn is_noticed(state: MappingState) -> bool {
        use MappingState as S;
        matches!(state, S::ReadOnlyNoticed | S::ReadWriteNoticed | S::UpgradeNoticed)
    }

    fn knows_due(state: ReleaseState) -> bool {
        state == ReleaseState::Acknowledging
    }

    fn is_weak(state: PageHomeState) -> bool {
        state == PageHomeState::Weak
    }
}
