//! Advice to keep a copy at every node of what is only read.

use homenode_advise::{DataObject, Layout, UseSurvey, WordLabel, text};
use homenode_base::BlockSize;
use homenode_machine::Prices;
use rustc_hash::FxHashMap;

use super::place::{HomeAdvice, HomeChoice};

/// What copies of an object's blocks would cost.
pub(super) struct Replication<'a> {
    pub(super) survey: &'a UseSurvey,
    pub(super) layout: &'a Layout,
    pub(super) block: BlockSize,
    pub(super) prices: Prices,
}

/// The words of a block.
#[derive(Clone, Copy, Default)]
struct BlockWords {
    /// Those that are used.
    used: u64,
    /// Those of them that several processors use and hardly any reference writes.
    read: u64,
}

impl Replication<'_> {
    /// The advice to replicate an object, if copies of its blocks save anything. A copy at another
    /// node costs a remote read and a local write of each word that is used; then every reference
    /// is local.
    pub(super) fn of(
        &self,
        (index, object): (usize, &DataObject),
        blocks: &[(u64, &HomeChoice)],
    ) -> Option<HomeAdvice> {
        let words = self.words(object);
        let users = users_of(self.survey, object);
        let copies = users.len().saturating_sub(1);
        let copies = u128::try_from(copies).unwrap_or(u128::MAX);
        let remote = self.prices.remote_reference?;
        let each = u128::from(remote) + u128::from(self.prices.scale);
        let (mut saved, mut count) = (0i128, 0);
        for (number, choice) in blocks {
            let in_it = words.get(number).copied().unwrap_or_default();
            if in_it.used == 0 || in_it.read < in_it.used {
                continue;
            }
            let copying = copies * u128::from(in_it.used) * each;
            let now = i128::try_from(choice.now).unwrap_or(i128::MAX);
            let then = choice.accesses * u128::from(self.prices.scale) + copying;
            saved += now - i128::try_from(then).unwrap_or(i128::MAX);
            count += 1;
        }
        let saved = u128::try_from(saved).ok().filter(|&saved| saved > 0 && copies > 0)?;
        let label = object.label();
        Some(HomeAdvice {
            kind: "replicate",
            object: index,
            saved,
            blocks: count,
            sentence: format!(
                "`{label}` is only read once it has its values, by {}, and lies in one memory: \
                 give each node a copy of its own.",
                text::threads(&users)
            ),
            hint: "copy it in a thread of each node (first touch), and have the threads of a node \
                   use that copy"
                .to_owned(),
        })
    }

    fn words(&self, object: &DataObject) -> FxHashMap<u64, BlockWords> {
        let mut found: FxHashMap<u64, BlockWords> = FxHashMap::default();
        for word in object.extents.iter().flat_map(|extent| extent.range()) {
            let label = self.survey.label(word);
            if label != WordLabel::Untouched {
                let number = self.layout.word(word) / self.block.words();
                let block = found.entry(number).or_default();
                block.used += 1;
                block.read += u64::from(label == WordLabel::Read);
            }
        }
        found
    }
}

/// The processors that use an object.
fn users_of(survey: &UseSurvey, object: &DataObject) -> Vec<homenode_base::ProcId> {
    let mut users = vec![false; usize::from(survey.processors())];
    for word in object.extents.iter().flat_map(|extent| extent.range()) {
        survey.add_users(word, &mut users);
    }
    (0..).zip(users).filter(|&(_, user)| user).map(|(processor, _)| processor).collect()
}
