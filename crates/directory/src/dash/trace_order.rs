//! The counting engine of `--order trace`: each reference completes before the next one begins.
//!
//! [`TraceOrderEngine`], shared by all machines with caches, reads the rows; the protocol driver
//! performs the references.

use homenode_cache::{CacheArrays, CheckError, TraceOrderEngine, WordMask, boxed_for_geometry};
use homenode_trace::{Batch, EventKind};

use crate::counts::DirectoryCounts;
use crate::dash::driver::DirectoryDriver;
use crate::dash::table::DirectoryTable;
use crate::home::{HomePolicy, NO_INIT_DONE, PageDemands, PageUsage};
use crate::setup::{DirectorySetup, DirectorySetupError};

/// Simulates one protocol in one machine with one policy of homes, in the order of the trace.
///
/// Time: O(ways) for a hit, O(messages) for any other reference. Memory: the caches' frames, and
/// for every block of the trace 8 bytes and four bits a node, rounded up to words.
///
/// ```
/// use homenode_directory::{
///     DirectoryProtocol, DirectorySetup, DirectorySimulation, HomeSetup, HomeSpec,
/// };
/// use homenode_machine::CacheShape;
/// use homenode_trace::Batch;
///
/// let protocol = DirectoryProtocol::parse("dash")?;
/// let cache = CacheShape { size_bytes: 1024, block_size_bytes: 64, associativity: 1 };
/// let setup = DirectorySetup { check: true, ..DirectorySetup::new(2, cache, 4096) };
/// let homes = HomeSpec::parse("first-touch")?.build(&HomeSetup::new(2))?;
/// let table = protocol.table().blocks().ok_or("a protocol of pages")?;
/// let mut simulation = DirectorySimulation::new(&setup, table, homes)?;
/// // Node 0 writes a word, which makes it the home; then node 1 reads it.
/// simulation.push(&Batch {
///     turns: [0, 1].into_iter().collect(),
///     kind: vec![1, 0],
///     size: vec![4, 4],
///     addr: vec![0x1000, 0x1000],
///     ..Batch::default()
/// })?;
/// let counts = simulation.finish().counts;
/// assert_eq!((counts.fills, counts.local_fills), (2, 1));
/// assert_eq!(["request", "reply"].map(|kind| counts.messages.of_kind(kind)), [1, 1]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct DirectorySimulation(Box<dyn DirectoryEngine>);

/// The result of a simulation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DirectoryResult {
    /// Counts.
    pub counts: DirectoryCounts,
    /// Demands on pages, if collected.
    pub demands: Option<PageDemands>,
    /// Use of pages, if collected.
    pub uses: Option<Vec<PageUsage>>,
    /// Notes for readers of the counts.
    pub notes: Vec<String>,
}

impl DirectorySimulation {
    /// A machine with empty caches.
    ///
    /// # Errors
    /// When the configuration is invalid.
    pub fn new(
        setup: &DirectorySetup,
        table: DirectoryTable,
        homes: Box<dyn HomePolicy>,
    ) -> Result<Self, DirectorySetupError> {
        let (block, geometry) = setup.geometry()?;
        Ok(Self(boxed_for_geometry!(
            (block.words(), geometry.ways, usize::from(setup.nodes)),
            [DirectMapped, UpTo16Ways],
            rows,
            (setup, table, homes)
        )))
    }

    /// Adds the references of a batch. Batches come in the order of the trace.
    ///
    /// # Errors
    /// When the protocol breaks an invariant.
    pub fn push(&mut self, batch: &Batch) -> Result<(), CheckError> {
        self.0.push(batch)
    }

    /// The result.
    #[must_use]
    pub fn finish(self) -> DirectoryResult {
        self.0.finish()
    }
}

fn rows<F: CacheArrays<W>, W: WordMask, const WORDS: usize>(
    setup: &DirectorySetup,
    table: DirectoryTable,
    homes: Box<dyn HomePolicy>,
) -> Result<DirectoryRows<F, W, WORDS>, DirectorySetupError> {
    DirectoryRows::new(setup, table, homes)
}

/// [`DirectorySimulation`] for one kind of cache arrays and one width of word masks and of sets of
/// caches.
pub(crate) trait DirectoryEngine: Send {
    fn push(&mut self, batch: &Batch) -> Result<(), CheckError>;
    fn finish(self: Box<Self>) -> DirectoryResult;
}

/// All nodes, and how rows are read.
pub(crate) struct DirectoryRows<F, W, const WORDS: usize> {
    pub(crate) engine: TraceOrderEngine<DirectoryDriver<F, W, WORDS>>,
    pub(crate) writes: u64,
}

impl<F: CacheArrays<W>, W: WordMask, const WORDS: usize> DirectoryRows<F, W, WORDS> {
    pub(crate) fn new(
        setup: &DirectorySetup,
        table: DirectoryTable,
        homes: Box<dyn HomePolicy>,
    ) -> Result<Self, DirectorySetupError> {
        let (block, _) = setup.geometry()?;
        let driver = DirectoryDriver::new(setup, table, homes)?;
        Ok(Self { engine: TraceOrderEngine::new(driver, &setup.rows(block)), writes: 0 })
    }
}

impl<F: CacheArrays<W>, W: WordMask, const WORDS: usize> DirectoryEngine
    for DirectoryRows<F, W, WORDS>
{
    fn push(&mut self, batch: &Batch) -> Result<(), CheckError> {
        self.writes += self.engine.writes(batch, 0..batch.len());
        let mut done = 0;
        for (before, event) in &batch.events {
            if event.what == EventKind::InitDone {
                let row = usize::try_from(*before).unwrap_or(usize::MAX).min(batch.len());
                self.engine.push(batch, done..row)?;
                self.engine.driver.init_done();
                done = row;
            }
        }
        self.engine.push(batch, done..batch.len())
    }

    fn finish(mut self: Box<Self>) -> DirectoryResult {
        let driver = &mut self.engine.driver;
        let lacking = driver.homes.lacks_init_done().then(|| NO_INIT_DONE.to_owned());
        DirectoryResult {
            counts: driver.finish(self.writes),
            demands: driver.homes.take_demands(),
            uses: driver.homes.take_uses(),
            notes: lacking.into_iter().collect(),
        }
    }
}
