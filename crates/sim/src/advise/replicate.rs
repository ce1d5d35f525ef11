//! Advice to keep a copy of read-only data at every node.

use std::collections::BTreeMap;

use homenode_advise::{DataObject, Layout, UseSurvey, WordLabel, text};
use homenode_base::{BlockSize, ProcId};
use homenode_machine::Prices;
use rustc_hash::FxHashMap;

use super::evaluator::PricedReferences;
use super::place::{HomeAdvice, HomeChoice};

/// The read-only blocks, each with the object that has most of its words.
pub(super) struct Replication<'a> {
    survey: &'a UseSurvey,
    prices: Prices,
    /// Words fetched by one reference to memory.
    unit_words: u64,
    /// Block and its used words, by object.
    blocks: BTreeMap<usize, Vec<(u64, u64)>>,
}

#[derive(Clone, Default)]
struct BlockWords {
    used: u64,
    /// Used words that several processors read and almost no reference writes.
    read: u64,
    of_object: BTreeMap<usize, u64>,
}

impl<'a> Replication<'a> {
    pub(super) fn new(
        objects: &[DataObject],
        priced: &PricedReferences<'a>,
        layout: &Layout,
        block: BlockSize,
        prices: Prices,
    ) -> Self {
        let survey = priced.survey;
        let mut words: FxHashMap<u64, BlockWords> = FxHashMap::default();
        for (index, object) in objects.iter().enumerate() {
            for word in object.extents.iter().flat_map(|extent| extent.range()) {
                let label = survey.label(word);
                if label != WordLabel::Untouched {
                    let in_block = words.entry(layout.word(word) / block.words()).or_default();
                    in_block.used += 1;
                    in_block.read += u64::from(label == WordLabel::Read);
                    *in_block.of_object.entry(index).or_default() += 1;
                }
            }
        }
        let mut blocks: BTreeMap<usize, Vec<(u64, u64)>> = BTreeMap::new();
        for (number, block) in words {
            let most = block.of_object.iter().max_by_key(|&(object, words)| (words, object));
            if let Some((&object, _)) = most.filter(|_| block.read * 10 >= block.used * 9) {
                blocks.entry(object).or_default().push((number, block.used));
            }
        }
        Self { survey, prices, unit_words: priced.unit_words, blocks }
    }

    /// The advice to replicate an object, if copies of its blocks save cost. A copy at another node
    /// costs a remote read and a local write of each used word, or of each line behind a cache;
    /// after that every reference is local.
    pub(super) fn of(
        &self,
        index: usize,
        object: &DataObject,
        choices: &FxHashMap<u64, HomeChoice>,
    ) -> Option<HomeAdvice> {
        let users = users_of(self.survey, object);
        let copies = u128::try_from(users.len().checked_sub(1)?).ok()?;
        let local = u128::from(self.prices.scale);
        let each = u128::from(self.prices.remote_reference?) + local;
        let (mut now, mut then, mut blocks) = (0, 0, 0);
        for (number, words) in self.blocks.get(&index)? {
            let Some(choice) = choices.get(number) else { continue };
            now += choice.now;
            let references = u128::from(words.div_ceil(self.unit_words));
            then += choice.accesses * local + copies * references * each;
            blocks += 1;
        }
        let label = object.label();
        Some(HomeAdvice {
            kind: "replicate",
            object: index,
            saved: now.checked_sub(then).filter(|&saved| saved > 0 && copies > 0)?,
            blocks,
            sentence: format!(
                "`{label}` is only read once it has its values, by {}, and lies in one memory: \
                 give each node a copy of its own.",
                text::users(self.survey, &users)
            ),
            hint: "copy it in a thread of each node while all of these live (first touch), and \
                   have the threads of a node use that copy"
                .to_owned(),
        })
    }
}

fn users_of(survey: &UseSurvey, object: &DataObject) -> Vec<ProcId> {
    let mut users = vec![false; usize::from(survey.processors())];
    for word in object.extents.iter().flat_map(|extent| extent.range()) {
        survey.add_users(word, &mut users);
    }
    (0..).zip(users).filter(|&(_, user)| user).map(|(processor, _)| processor).collect()
}
