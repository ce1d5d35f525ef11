//! Which objects of a program to align, pad, group by thread or split.
//!
//! Markatos and Chronaki (section 3.4) move single words between pages with an off-line oracle, to
//! see what a better layout would save. No programmer can move single words. Here the unit is the
//! object: a symbol, the heap blocks of one call, the rows or elements of an array. [`UseSurveyor`]
//! finds the users of each word, [`data_objects`] which words are one object, each kind of advice
//! in [`kind::TABLE`] proposes layouts for one object, and a [`Layout`] is a one-to-one map of
//! words under which the trace can be simulated again. The savings of a layout
//! are found by simulating it, outside of this crate.
//!
//! Invariant: a layout keeps every word, and words of one value together.

mod candidate;
mod chance;
mod concurrency;
pub mod kind;
mod layout;
mod line_filter;
mod objects;
mod pattern;
mod sharing;
mod survey;
pub mod text;
mod uses;
mod words;

pub use candidate::{Candidate, Packer, Proposal, ProposalText};
pub use chance::{ApparentSaving, ChanceRange, PairedRepetitions};
pub use concurrency::RunningThreads;
pub use layout::{Layout, MovedBytes};
pub use objects::{DataObject, PartOfObject, UniformRun, WordExtent, data_objects, uniform_runs};
pub use sharing::{FalselyShared, false_sharing};
pub use survey::{ContendedUse, UseSurvey, UseSurveyor, WordLabel};
