//! Objects, blocks and source lines that share, with their names.

use std::collections::BTreeMap;

use homenode_base::{BlockSize, ProcId};
use serde::Serialize;

use super::attribution::MissCharges;
use super::findings::{BlockFindings, Findings, ObjectFindings};
use crate::detail::ByClass;
use crate::identity::Object;
use crate::objects::{Names, UNKNOWN};
use crate::source::SourceSite;

const FIELDS_MAX: usize = 16;
const STACKS_MAX: usize = 4;

/// Objects, blocks and source lines that share, at one block size.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct SharingDetail {
    /// Bytes in a block.
    pub block_size: u64,
    /// Objects with misses other than the first processor's cold ones, most false sharing first.
    pub objects: Vec<ObjectSharing>,
    /// Blocks with sharing misses, most false sharing first.
    pub blocks: Vec<BlockSharing>,
    /// Source lines that suffer or cause sharing misses, most false sharing first; none if the
    /// trace has no program counters.
    pub lines: Vec<LineSharing>,
}

/// How an object is shared.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ObjectSharing {
    /// The object; all heap blocks that one line allocated are one.
    #[serde(flatten)]
    pub object: Object,
    /// Its short name for people.
    pub label: String,
    /// Bytes of all its parts.
    pub bytes: u64,
    /// Reads of it.
    pub reads: u64,
    /// Writes and atomics.
    pub writes: u64,
    /// Processors that reference it.
    pub processors: u32,
    /// Words of it, by class.
    pub words: ByClass,
    /// Words that need not lie in a block that another processor writes (thesis section 7.1.4).
    pub separable_words: u64,
    /// Misses at its words.
    pub misses: MissCharges,
    /// The fields of its elements, if their type is known: most false sharing first, at most
    /// sixteen.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub fields: Vec<FieldSharing>,
    /// Of heap blocks, the call stacks by which most bytes were allocated, the allocator's caller
    /// first; at most four.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub stacks: Vec<Vec<SourceSite>>,
}

/// How a field is shared, all elements of an object together.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FieldSharing {
    /// Type and field: `Tally::hits`.
    pub name: String,
    /// Reads of it.
    pub reads: u64,
    /// Writes and atomics.
    pub writes: u64,
    /// Misses at its words.
    pub misses: MissCharges,
}

/// One of the blocks with most false sharing.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct BlockSharing {
    /// First address, in hexadecimal.
    pub address: String,
    /// Processors that reference it.
    pub processors: Vec<ProcId>,
    /// Words of it, by class.
    pub words: ByClass,
    /// Misses at its words.
    pub misses: MissCharges,
    /// What lies in it, most false sharing first, at most eight.
    pub objects: Vec<ObjectPart>,
    /// The source lines, most false sharing first, at most eight.
    pub lines: Vec<LineSharing>,
}

/// An object's part of a block.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ObjectPart {
    /// Its short name for people.
    pub label: String,
    /// First and last byte referenced, from the start of the object (of the one heap block).
    pub offsets: (u64, u64),
    /// Processors that reference it.
    pub processors: u32,
    /// Misses at its words.
    pub misses: MissCharges,
}

/// The sharing misses of a source line.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LineSharing {
    /// The place.
    #[serde(flatten)]
    pub site: SourceSite,
    /// Misses there, and false sharing misses of other processors that writes there cause.
    pub misses: MissCharges,
}

/// Adds names to the findings, and keeps `count` of each kind.
#[must_use]
pub fn report(
    findings: &Findings,
    names: &Names<'_>,
    block_size: BlockSize,
    count: usize,
) -> SharingDetail {
    let blame = |c: &MissCharges| (c.false_sharing + c.inflicted, c.true_sharing, c.cold);
    let object = |(&group, found): (&usize, &ObjectFindings)| ObjectSharing {
        object: names.object_of(group).clone(),
        label: label(names, group),
        bytes: bytes(names, group, found),
        reads: found.reads,
        writes: found.writes,
        processors: found.processor_count(),
        words: found.words,
        separable_words: found.separable_words,
        misses: found.charges,
        fields: fields(findings, names, group),
        stacks: names.stacks_of(group, STACKS_MAX),
    };
    let shared = |found: &ObjectFindings| found.processor_count() > 1 || found.separable_words > 0;
    let objects = findings.objects.iter().filter(|(_, found)| shared(found));
    let mut worst: Vec<(&usize, &ObjectFindings)> = objects.collect();
    worst.sort_by_key(|(_, o)| std::cmp::Reverse((blame(&o.charges), o.reads + o.writes)));
    worst.truncate(count);
    let objects = worst.into_iter().map(object).collect();
    let sharing = |c: &MissCharges| c.false_sharing + c.inflicted + c.true_sharing > 0;
    let sites = findings.sites.iter().filter(|(pc, charges)| **pc != 0 && sharing(charges));
    let mut lines = lines(sites.map(|(&pc, &charges)| (pc, charges)), names);
    lines.truncate(count);
    let blocks = findings.worst.iter().take(count);
    SharingDetail {
        block_size: block_size.bytes(),
        objects,
        blocks: blocks.map(|found| block(found, names, block_size)).collect(),
        lines,
    }
}

fn label(names: &Names<'_>, group: usize) -> String {
    let label = names.object_of(group).label();
    if label.is_empty() { "memory without a name".to_owned() } else { label }
}

/// Bytes of an object; of memory without a name, of the words that are referenced.
fn bytes(names: &Names<'_>, group: usize, found: &ObjectFindings) -> u64 {
    let words = found.words.private + found.words.read_shared + found.words.truly_shared;
    if group == UNKNOWN { words * BlockSize::WORD_BYTES } else { names.bytes_of(group) }
}

fn fields(findings: &Findings, names: &Names<'_>, group: usize) -> Vec<FieldSharing> {
    let of_object = findings.fields.range((group, (0, 0))..=(group, (u32::MAX, u32::MAX)));
    let mut fields: Vec<FieldSharing> = of_object
        .map(|(&(_, (layout, field)), found)| FieldSharing {
            name: names.field_name(layout, field),
            reads: found.reads,
            writes: found.writes,
            misses: found.charges,
        })
        .collect();
    let blame = |c: &MissCharges| (c.false_sharing + c.inflicted, c.true_sharing, c.cold);
    // The sort is stable: fields with equal misses stay in order of place.
    fields.sort_by_key(|f| std::cmp::Reverse((blame(&f.misses), f.reads + f.writes)));
    fields.truncate(FIELDS_MAX);
    fields
}

fn block(found: &BlockFindings, names: &Names<'_>, block_size: BlockSize) -> BlockSharing {
    let part = |&((group, _), ref found): &((usize, u64), ObjectFindings)| ObjectPart {
        label: label(names, group),
        offsets: found.offsets.unwrap_or_default(),
        processors: found.processor_count(),
        misses: found.charges,
    };
    BlockSharing {
        address: format!("0x{:x}", found.number.saturating_mul(block_size.bytes())),
        processors: found.processors.clone(),
        words: found.words,
        misses: found.charges,
        objects: found.objects.iter().map(part).collect(),
        lines: lines(found.sites.iter().copied(), names),
    }
}

fn lines(sites: impl Iterator<Item = (u64, MissCharges)>, names: &Names<'_>) -> Vec<LineSharing> {
    let mut lines: BTreeMap<SourceSite, MissCharges> = BTreeMap::new();
    for (pc, charges) in sites {
        lines.entry(names.site(pc)).or_default().merge(&charges);
    }
    let row = |(site, misses)| LineSharing { site, misses };
    let mut lines: Vec<LineSharing> = lines.into_iter().map(row).collect();
    // The sort is stable: lines with equal misses stay in order of place.
    let blame = |c: &MissCharges| (c.false_sharing + c.inflicted, c.true_sharing, c.cold);
    lines.sort_by_key(|line| std::cmp::Reverse(blame(&line.misses)));
    lines
}
