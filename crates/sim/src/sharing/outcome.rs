//! Results, as the command line prints them.

use homenode_analysis::sharing::{
    Components, Estimate, Findings, Shares, SharingCounts, SharingDetail, SharingQuestions,
    SizeCounted, estimate, report,
};
use homenode_analysis::{ByClass, Names};
use homenode_base::BlockSize;
use homenode_machine::{Breakdown, PriceParts};
use homenode_placement::Amount;
use serde::Serialize;

use super::config::SharingConfig;
use crate::error::SimError;
use crate::placement::{MatrixPlan, PlacementOutcome, PlacementProvenance, PlacementSimulation};

/// The counts at one block size.
#[derive(Clone, Debug, Serialize)]
pub struct SharingSizeRow {
    /// Bytes in a block.
    pub block_size: u64,
    /// The counts, which are the same for every machine.
    pub counts: SharingCounts,
    /// The bounds on false sharing as shares of all transfers, the same for every machine.
    pub shares: Shares,
}

/// The cost on one machine at one block size.
#[derive(Clone, Debug, Serialize)]
pub struct SharingCostRow {
    /// The machine.
    pub machine: String,
    /// Bytes in a block.
    pub block_size: u64,
    /// Accesses to blocks.
    pub accesses: u64,
    /// Cost of the machine's optimal placement.
    pub total_cost: Amount,
    /// Mean cost per reference of it.
    pub mcpr: Option<f64>,
    /// The cost in components (figures 7.2 to 7.5); `null` if it is infinite.
    pub components: Option<Components>,
    /// Chapter 7's estimates on this machine without remote reference and global memory; `null` if
    /// it cannot move blocks.
    pub estimate: Option<Estimate>,
}

/// The results of the study.
#[derive(Clone, Debug, Serialize)]
pub struct SharingReport {
    /// Name of the trace.
    pub trace: String,
    /// Processors of the machines.
    pub processors: u16,
    /// Data references taken into account.
    pub references: u64,
    /// Words referenced, by class.
    pub words: ByClass,
    /// Transfers of the optimal placement at one-word blocks, Phi_1.
    pub word_transfers: u64,
    /// The price of a merge, in block moves.
    pub merge_transfers: u64,
    /// One for each block size.
    pub sizes: Vec<SharingSizeRow>,
    /// One for each machine and block size.
    pub costs: Vec<SharingCostRow>,
    /// Objects, blocks and source lines that share, at the block size asked for.
    pub detail: Option<SharingDetail>,
    /// Everything that the results depend on.
    pub provenance: PlacementProvenance,
}

/// Assembles the report: prices the counts, and adds names.
pub(super) fn assemble(
    config: &SharingConfig,
    plan: &MatrixPlan,
    (questions, names): (&SharingQuestions, &Names<'_>),
    (simulation, findings): (PlacementSimulation, &Findings),
) -> Result<SharingReport, SimError> {
    let counted = |(size, counts): (&BlockSize, &SharingCounts)| SizeCounted {
        block: *size,
        counts: *counts,
    };
    let sizes: Vec<SizeCounted> =
        questions.sizes.iter().zip(&findings.counts).map(counted).collect();
    let mut costs = Vec::new();
    for (row, outcome) in simulation.outcomes.iter().enumerate() {
        let (machine, size) = (row / sizes.len(), row % sizes.len());
        let prices = plan.machines[machine].breakdown(sizes[size].block)?;
        costs.push(cost(outcome, &prices, (size, &sizes, findings.word_transfers)));
    }
    let row = |(i, size): (usize, &SizeCounted)| SharingSizeRow {
        block_size: size.block.bytes(),
        counts: size.counts,
        shares: Shares::of(i, &sizes, findings.word_transfers),
    };
    Ok(SharingReport {
        trace: simulation.provenance.trace.clone(),
        processors: plan.processors,
        references: simulation.outcomes.first().map_or(0, |o| o.references),
        words: findings.words,
        word_transfers: findings.word_transfers,
        merge_transfers: config.merge_transfers,
        sizes: sizes.iter().enumerate().map(row).collect(),
        costs,
        detail: questions.detail.map(|size| report(findings, names, size, config.count)),
        provenance: simulation.provenance,
    })
}

fn cost(
    outcome: &PlacementOutcome,
    prices: &Breakdown,
    (size, sizes, words): (usize, &[SizeCounted], u64),
) -> SharingCostRow {
    let moves = |price: PriceParts| estimate(size, sizes, words, price);
    SharingCostRow {
        machine: outcome.machine.clone(),
        block_size: outcome.block_size,
        accesses: outcome.accesses,
        total_cost: outcome.total_cost,
        mcpr: outcome.mcpr,
        components: Components::of(&outcome.counts, prices),
        estimate: prices.remote_move.map(moves),
    }
}
