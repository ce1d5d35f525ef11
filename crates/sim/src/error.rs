//! Errors of simulations.

use homenode_analysis::AnalysisError;
use homenode_machine::MachineError;
use homenode_placement::PolicyError;
use homenode_trace::TraceError;

/// Why a simulation failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SimError {
    /// A machine is unknown or its prices are not valid.
    #[error(transparent)]
    Machine(#[from] MachineError),
    /// A policy is unknown, its parameters are wrong, or it does not fit a machine.
    #[error(transparent)]
    Policy(#[from] PolicyError),
    /// A TLB is unknown or cannot be built.
    #[error(transparent)]
    Tlb(#[from] homenode_tlb::TlbError),
    /// A coherence protocol is unknown, or has no such parameter.
    #[error(transparent)]
    Protocol(#[from] homenode_snoop::ProtocolError),
    /// A machine on a bus cannot be built.
    #[error(transparent)]
    Cache(#[from] homenode_snoop::BusSetupError),
    /// A machine with a directory cannot be built.
    #[error(transparent)]
    Directory(#[from] homenode_directory::DirectorySetupError),
    /// A policy of homes does not fit a machine.
    #[error(transparent)]
    Home(#[from] homenode_directory::HomeError),
    /// A coherence protocol violated an invariant.
    #[error(transparent)]
    Check(#[from] homenode_snoop::CheckError),
    /// A coherence protocol violated an invariant under a clock.
    #[error(transparent)]
    Clock(#[from] homenode_snoop::ClockError),
    /// A page policy is unknown.
    #[error(transparent)]
    PagePolicy(#[from] homenode_pmap::CachePolicyError),
    /// A kernel cost is unknown or its value is invalid.
    #[error(transparent)]
    KernelCost(#[from] homenode_pmap::CostError),
    /// A block size is invalid.
    #[error("{0}; give a power of two such as 64 or 4096")]
    BlockSize(#[from] homenode_base::BlockSizeError),
    /// Something else in the configuration is wrong.
    #[error("{problem}")]
    Config {
        /// The problem and its remedy.
        problem: String,
    },
    /// The trace cannot be read.
    #[error(transparent)]
    Trace(#[from] TraceError),
    /// The placement output cannot be written.
    #[error("cannot write the placement: {0}; is the disk full?")]
    Output(#[source] std::io::Error),
    /// The caller interrupted the simulation.
    #[error("interrupted")]
    Interrupted,
}

/// What a simulation finds, or a step of it.
pub type SimResult<T> = Result<T, SimError>;

impl SimError {
    /// Whether the cause is the configuration, as opposed to the trace.
    #[must_use]
    pub fn is_config(&self) -> bool {
        match self {
            Self::Machine(_)
            | Self::Policy(_)
            | Self::Tlb(_)
            | Self::Protocol(_)
            | Self::Cache(_)
            | Self::Directory(_)
            | Self::Home(_)
            | Self::PagePolicy(_)
            | Self::KernelCost(_)
            | Self::BlockSize(_)
            | Self::Config { .. } => true,
            Self::Trace(_)
            | Self::Check(_)
            | Self::Clock(_)
            | Self::Output(_)
            | Self::Interrupted => false,
        }
    }
}

impl From<AnalysisError> for SimError {
    fn from(error: AnalysisError) -> Self {
        match error {
            AnalysisError::Trace(error) => Self::Trace(error),
            AnalysisError::Interrupted => Self::Interrupted,
        }
    }
}

impl From<homenode_optimal::CurveError> for SimError {
    fn from(error: homenode_optimal::CurveError) -> Self {
        Self::Config { problem: format!("--curve: {error}") }
    }
}

/// Checks that no list of an option is empty, given what it is of, which is also the option's name,
/// and its length.
pub(crate) fn check_given(lists: &[(&str, usize)]) -> SimResult<()> {
    let Some((what, _)) = lists.iter().find(|(_, length)| *length == 0) else { return Ok(()) };
    let flag = what.replace(' ', "-").to_lowercase();
    Err(config_error(format!("no {what} is given: name at least one with --{flag}")))
}

pub(crate) fn config_error(problem: impl Into<String>) -> SimError {
    SimError::Config { problem: problem.into() }
}
