//! Results of `sharing` as they are reported.

use homenode_analysis::sharing::{
    CollectedAccesses, Components, Estimate, Findings, Shares, SharingCounts, SharingDetail,
    SharingQuestions, SizeCounted, estimate, report,
};
use homenode_analysis::{ByClass, Names};
use homenode_base::BlockSize;
use homenode_machine::{PriceParts, PricedMachine};
use homenode_placement::{Amount, Cost, Tally};
use serde::Serialize;

use super::config::SharingConfig;
use crate::error::SimResult;
use crate::placement::{MatrixPlan, PlacementOutcome, PlacementProvenance};
use crate::references::PrivateReferences;

/// The counts at one block size.
#[derive(Clone, Debug, Serialize)]
pub struct SharingSizeRow {
    /// Bytes in a block.
    pub block_size: u64,
    /// The counts, which are the same for every machine.
    pub counts: SharingCounts,
    /// The bounds on false sharing as fractions of all transfers, the same for every machine.
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
    /// The components of the cost (figures 7.2 to 7.5); `null` if it is infinite.
    pub components: Option<Components>,
    /// Chapter 7's estimates on this machine without remote references and global memory; `null` if
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
    /// Objects, blocks and source lines with sharing, at the requested block size.
    pub detail: Option<SharingDetail>,
    /// The provenance of the report.
    pub provenance: PlacementProvenance,
}

pub(super) struct PlacedCounts {
    references: u64,
    tally: Tally,
}

impl PlacedCounts {
    pub(super) fn of(outcome: &PlacementOutcome) -> Self {
        Self { references: outcome.references, tally: outcome.counts }
    }

    /// The counts of a machine that can only move blocks: every access is local, after the fewest
    /// possible moves.
    pub(super) fn of_moves(
        plan: &MatrixPlan,
        machine: usize,
        size: usize,
        findings: &Findings,
        accesses: &CollectedAccesses,
    ) -> Self {
        let CollectedAccesses { shared, private } = accesses;
        let counts = plan.private(&plan.machines[machine]) != PrivateReferences::Exclude;
        let own = if counts { (private.references, private.at(size)) } else { (0, 0) };
        let tally = Tally {
            local_reads: shared.at(size) + own.1,
            remote_moves: findings.counts[size].transfers,
            ..Tally::default()
        };
        Self { references: shared.references + own.0, tally }
    }
}

/// Assembles the report: prices the counts, and adds names. Placements are in order of machine,
/// then block size.
pub(super) fn assemble(
    config: &SharingConfig,
    plan: &MatrixPlan,
    questions: &SharingQuestions,
    names: &Names<'_>,
    placed: &[PlacedCounts],
    findings: &Findings,
    provenance: PlacementProvenance,
) -> SimResult<SharingReport> {
    let counted = |(size, counts): (&BlockSize, &SharingCounts)| SizeCounted {
        block: *size,
        counts: *counts,
    };
    let sizes: Vec<SizeCounted> =
        questions.sizes.iter().zip(&findings.counts).map(counted).collect();
    let mut costs = Vec::new();
    for (machine, placed) in plan.machines.iter().zip(placed.chunks(sizes.len())) {
        for (size, placed) in placed.iter().enumerate() {
            let list = &plan.sizes[size].prices[costs.len() / sizes.len()];
            let cost = Cost::on(&placed.tally, list).total();
            let words = findings.word_transfers;
            costs.push(cost_row(machine, &placed.tally, cost, size, &sizes, words)?);
        }
    }
    let row = |(i, size): (usize, &SizeCounted)| SharingSizeRow {
        block_size: size.block.bytes(),
        counts: size.counts,
        shares: Shares::of(i, &sizes, findings.word_transfers),
    };
    Ok(SharingReport {
        trace: provenance.trace.clone(),
        processors: plan.processors,
        references: placed.first().map_or(0, |placed| placed.references),
        words: findings.words,
        word_transfers: findings.word_transfers,
        merge_transfers: config.merge_transfers,
        sizes: sizes.iter().enumerate().map(row).collect(),
        costs,
        detail: questions.detail.map(|size| report(findings, names, size, config.count)),
        provenance,
    })
}

fn cost_row(
    machine: &PricedMachine,
    tally: &Tally,
    total_cost: Amount,
    size: usize,
    sizes: &[SizeCounted],
    words: u64,
) -> SimResult<SharingCostRow> {
    let prices = machine.breakdown(sizes[size].block)?;
    let moves = |price: PriceParts| estimate(size, sizes, words, price);
    Ok(SharingCostRow {
        machine: machine.name().to_owned(),
        block_size: sizes[size].block.bytes(),
        accesses: tally.accesses(),
        total_cost,
        mcpr: total_cost.per(tally.accesses()),
        components: Components::of(tally, &prices),
        estimate: prices.remote_move.map(moves),
    })
}
