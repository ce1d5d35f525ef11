//! Translation lookaside buffers (Bolosky §6.3): how often each design misses at each page size.
//!
//! Every processor has a TLB of its own, and no processor affects another's. Replacement is by
//! least recent use within a set, which is a stack algorithm (Mattson, Gecsei, Slutz and Traiger
//! 1970): all TLBs with the same number of sets at the same page size are counted from one LRU
//! stack for each set, however many ways they have. One pass serves every design and page size.
//!
//! ```
//! use homenode_base::{BlockSize, ReferenceFilter};
//! use homenode_tlb::{TlbCounter, ProcessorShare, TlbSetup, TlbSpec};
//! use homenode_trace::Batch;
//! let tlbs = TlbSpec::parse_list(&["entries=2,ways=2"])?.into_iter().map(|t| t.geometry);
//! let setup = TlbSetup {
//!     tlbs: tlbs.collect(),
//!     page_sizes: vec![BlockSize::new(4096)?],
//!     processors: 1,
//!     filter: ReferenceFilter::default(),
//! };
//! let mut counter = TlbCounter::new(&setup, ProcessorShare::WHOLE);
//! let addr = vec![0x1000, 0x2000, 0x1004, 0x3000, 0x2000];
//! let [kind, size] = [vec![0; 5], vec![4; 5]];
//! let turns = [0; 5].into_iter().collect();
//! counter.push(&Batch { turns, kind, size, addr, ..Batch::default() });
//! // The third page takes the place of the second, which therefore misses again.
//! assert_eq!(counter.finish().misses(0, 0), 4);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![forbid(unsafe_code)]

pub mod design;
mod engine;
mod layout;
mod spec;

pub use design::{Entry, TABLE, TlbGeometry};
pub use engine::{ProcessorShare, TlbCounter, TlbCounts};
pub use layout::TlbSetup;
pub use spec::{ENTRIES_MAX, TlbError, TlbSpec};
