//! The program's objects as sets of words, so that each word has one owner.

use homenode_analysis::{Names, Object, ObjectKind};
use homenode_base::BlockSize;
use rustc_hash::FxHashMap;

use crate::survey::{UseSurvey, WordLabel};

/// Stretches of memory without a name are apart if so many bytes between them are not used.
const GAP_BYTES: u64 = 4096;

/// An object of more words is sparse if it has more than so many times the words that are used.
const SPARSE_WORDS: u64 = 1 << 22;
const SPARSE_TIMES: u64 = 16;

/// Words in a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct WordExtent {
    /// Number of the first: its address divided by four.
    pub first: u64,
    /// How many.
    pub words: u64,
}

impl WordExtent {
    /// Numbers of the words.
    #[must_use]
    pub fn range(self) -> std::ops::Range<u64> {
        self.first..self.first + self.words
    }
}

/// A data structure that may be laid out anew.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DataObject {
    /// What the trace calls it; none for memory without a name.
    pub object: Option<Object>,
    /// Its words: one extent for a symbol, one for every heap block of a call site. In order.
    pub extents: Vec<WordExtent>,
    /// Words that anybody uses.
    pub used: u64,
}

impl DataObject {
    /// A short name for people.
    #[must_use]
    pub fn label(&self) -> String {
        let first = self.extents.first().map_or(0, |extent| extent.first);
        match &self.object {
            Some(object) if !object.label().is_empty() => object.label(),
            Some(_) | None => format!("memory at {:#x}", first * BlockSize::WORD_BYTES),
        }
    }

    /// Words of all extents.
    #[must_use]
    pub fn words(&self) -> u64 {
        self.extents.iter().map(|extent| extent.words).sum()
    }

    /// Whether a program can choose where it lies: threads' stacks and their local storage it
    /// cannot. Nor is a large object looked at of which hardly anything is used.
    #[must_use]
    pub fn movable(&self) -> bool {
        let kind = self.object.as_ref().map(|object| object.kind);
        let words = self.words();
        let sparse = words > SPARSE_WORDS && words / SPARSE_TIMES > self.used;
        !sparse && !matches!(kind, Some(ObjectKind::Stack | ObjectKind::ThreadLocal))
    }
}

/// All objects with a word that is used, in order of address.
///
/// A word belongs to the object that has its first byte, or if none has that, to the first one
/// that begins in it.
#[must_use]
pub fn items(names: &Names<'_>, survey: &UseSurvey) -> Vec<DataObject> {
    let mut touched = survey.touched().peekable();
    let mut found = ObjectCollector::default();
    let mut next_free = 0;
    for segment in names.segments() {
        let first = (segment.first / BlockSize::WORD_BYTES).max(next_free);
        let last = segment.last / BlockSize::WORD_BYTES;
        while let Some(word) = touched.next_if(|&word| word < first) {
            found.unknown(word);
        }
        if last < first {
            continue;
        }
        next_free = last + 1;
        let mut used = 0;
        while touched.next_if(|&word| word <= last).is_some() {
            used += 1;
        }
        if used > 0 {
            let object = || names.object_of(segment.group).clone();
            let extent = WordExtent { first, words: last - first + 1 };
            found.named(segment.group, (extent, used), object);
        }
    }
    touched.for_each(|word| found.unknown(word));
    found.items.sort_by_key(|item| item.extents.first().copied());
    found.items
}

/// Collects the objects in order of address.
#[derive(Default)]
struct ObjectCollector {
    items: Vec<DataObject>,
    of_group: FxHashMap<usize, usize>,
    /// The item under way of memory without a name.
    open: Option<usize>,
}

impl ObjectCollector {
    fn named(
        &mut self,
        group: usize,
        (extent, used): (WordExtent, u64),
        object: impl FnOnce() -> Object,
    ) {
        let next = self.items.len();
        let index = *self.of_group.entry(group).or_insert(next);
        if index == next {
            self.items.push(DataObject { object: Some(object()), extents: Vec::new(), used: 0 });
        }
        self.items[index].extents.push(extent);
        self.items[index].used += used;
        self.open = None;
    }

    fn unknown(&mut self, word: u64) {
        if let Some(item) = self.open.map(|index| &mut self.items[index])
            && let Some(extent) = item.extents.last_mut()
            && word - (extent.first + extent.words) < GAP_BYTES / BlockSize::WORD_BYTES
        {
            extent.words = word + 1 - extent.first;
            item.used += 1;
            return;
        }
        self.open = Some(self.items.len());
        let extents = vec![WordExtent { first: word, words: 1 }];
        self.items.push(DataObject { object: None, extents, used: 1 });
    }
}

/// A stretch of an object whose words are alike to the threads, as far as they are used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UniformRun {
    /// The words.
    pub extent: WordExtent,
    /// What they are to the threads.
    pub label: WordLabel,
    /// Whether one thread alone uses the first of them that is used.
    pub exclusive: bool,
}

/// Cuts an object where the label of its words changes, and with `fine` also where words that one
/// thread alone uses meet others of its own. Words that nobody uses go with those before them, the
/// words of one value go together, and no run reaches over the end of an extent.
#[must_use]
pub fn runs(item: &DataObject, survey: &UseSurvey, fine: bool) -> Vec<UniformRun> {
    let mut runs: Vec<UniformRun> = Vec::new();
    for extent in &item.extents {
        let mut open: Option<UniformRun> = None;
        let mut joined = false;
        for word in extent.range() {
            let label = survey.label(word);
            let exclusive = label != WordLabel::Untouched && survey.exclusive(word);
            let fresh =
                UniformRun { extent: WordExtent { first: word, words: 0 }, label, exclusive };
            let run = open.get_or_insert(fresh);
            if run.label == WordLabel::Untouched {
                (run.label, run.exclusive) = (label, exclusive);
            }
            let alike = label == run.label && (!fine || exclusive == run.exclusive);
            if joined || label == WordLabel::Untouched || alike {
                run.extent.words += 1;
            } else {
                runs.push(*run);
                open = Some(UniformRun { extent: WordExtent { first: word, words: 1 }, ..fresh });
            }
            joined = survey.joined(word);
        }
        runs.extend(open);
    }
    runs
}
