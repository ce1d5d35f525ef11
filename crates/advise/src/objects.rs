//! The program's objects as sets of words, so that each word has one owner.

use homenode_analysis::{Names, Object, ObjectKind, SourceSite};
use homenode_base::BlockSize;
use rustc_hash::FxHashMap;

use crate::survey::{UseSurvey, WordLabel};

/// Memory without a name is cut into objects at gaps of at least this many unused bytes.
const GAP_BYTES: u64 = 4096;

/// An object of more than this many words is sparse if most of them are unused.
const SPARSE_WORDS: u64 = 1 << 22;
/// An object is sparse if its words exceed its used words by more than this factor.
const SPARSE_TIMES: u64 = 16;

/// Consecutive words, or bytes in an object whose unit is a byte.
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

    /// Splits into the first words and the rest.
    #[must_use]
    pub fn split_at(self, words: u64) -> (Self, Self) {
        let words = words.min(self.words);
        let rest = Self { first: self.first + words, words: self.words - words };
        (Self { words, ..self }, rest)
    }
}

/// Whether a [`DataObject`] is an object of the trace, or a part of one without structure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PartOfObject {
    /// All of it.
    Whole,
    /// Neighbouring lines that processors wait for.
    HotLines {
        /// The source line that writes them most.
        used_at: Option<SourceSite>,
    },
    /// What is left without these: it does not move.
    Rest,
}

/// A data structure whose layout may be changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DataObject {
    /// The object of the trace; none for memory without a name.
    pub identity: Option<Object>,
    /// How much of it this is.
    pub part: PartOfObject,
    /// Bytes of a unit of its extents: those of a word, or 1.
    pub unit_bytes: u64,
    /// Its words, in order: one extent for a symbol, one for every heap block of a call site.
    pub extents: Vec<WordExtent>,
    /// Words that are used.
    pub used: u64,
}

impl DataObject {
    /// A short name for people.
    #[must_use]
    pub fn label(&self) -> String {
        let first = self.extents.first().map_or(0, |extent| extent.first) * self.unit_bytes;
        match self.identity.as_ref().map(Object::label).filter(|label| !label.is_empty()) {
            Some(label) if matches!(self.part, PartOfObject::HotLines { .. }) => {
                format!("memory at {first:#x} in {label}")
            }
            Some(label) => label,
            None => format!("memory at {first:#x}"),
        }
    }

    /// The same object, in bytes.
    #[must_use]
    pub fn in_bytes(&self) -> Self {
        let scale = |units: u64| units * self.unit_bytes;
        let extent = |e: &WordExtent| WordExtent { first: scale(e.first), words: scale(e.words) };
        Self {
            identity: self.identity.clone(),
            part: self.part.clone(),
            unit_bytes: 1,
            extents: self.extents.iter().map(extent).collect(),
            used: scale(self.used),
        }
    }

    /// Words of all extents.
    #[must_use]
    pub fn words(&self) -> u64 {
        self.extents.iter().map(|extent| extent.words).sum()
    }

    /// Whether advice is possible: a program cannot choose where stacks and thread-local storage
    /// lie, and a large object of which hardly any word is used is not worth it.
    #[must_use]
    pub fn movable(&self) -> bool {
        let kind = self.identity.as_ref().map(|known| known.kind);
        let stays = self.is_sparse() || self.part == PartOfObject::Rest;
        !stays && !matches!(kind, Some(ObjectKind::Stack | ObjectKind::ThreadLocal))
    }

    /// Whether hardly any word of a large object is used.
    #[must_use]
    pub fn is_sparse(&self) -> bool {
        let words = self.words();
        words > SPARSE_WORDS && words / SPARSE_TIMES > self.used
    }
}

/// All objects with a word that is used, in order of address.
///
/// A word belongs to the object that has its first byte, or if there is none, to the first object
/// that begins in the word.
#[must_use]
pub fn data_objects(names: &Names<'_>, survey: &UseSurvey) -> Vec<DataObject> {
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
            let identity = || names.object_of(segment.group).clone();
            let extent = WordExtent { first, words: last - first + 1 };
            found.named(segment.group, extent, used, identity);
        }
    }
    touched.for_each(|word| found.unknown(word));
    found.objects.sort_by_key(|object| object.extents.first().copied());
    found.objects
}

#[derive(Default)]
struct ObjectCollector {
    objects: Vec<DataObject>,
    of_group: FxHashMap<usize, usize>,
    /// The object of memory without a name that the next such word may belong to.
    open: Option<usize>,
}

impl ObjectCollector {
    fn named(
        &mut self,
        group: usize,
        extent: WordExtent,
        used: u64,
        identity: impl FnOnce() -> Object,
    ) {
        let next = self.objects.len();
        let index = *self.of_group.entry(group).or_insert(next);
        if index == next {
            let (identity, unit_bytes) = (Some(identity()), BlockSize::WORD_BYTES);
            self.objects.push(DataObject {
                identity,
                part: PartOfObject::Whole,
                unit_bytes,
                extents: Vec::new(),
                used: 0,
            });
        }
        self.objects[index].extents.push(extent);
        self.objects[index].used += used;
        self.open = None;
    }

    fn unknown(&mut self, word: u64) {
        if let Some(object) = self.open.map(|index| &mut self.objects[index])
            && let Some(extent) = object.extents.last_mut()
            && word - (extent.first + extent.words) < GAP_BYTES / BlockSize::WORD_BYTES
        {
            extent.words = word + 1 - extent.first;
            object.used += 1;
            return;
        }
        self.open = Some(self.objects.len());
        let extents = vec![WordExtent { first: word, words: 1 }];
        let unit_bytes = BlockSize::WORD_BYTES;
        self.objects.push(DataObject {
            identity: None,
            part: PartOfObject::Whole,
            unit_bytes,
            extents,
            used: 1,
        });
    }
}

/// Consecutive words of an object with the same label, unused words apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UniformRun {
    /// The words.
    pub extent: WordExtent,
    /// How the threads use them.
    pub label: WordLabel,
    /// Whether only one thread uses the first of them that is used.
    pub exclusive: bool,
}

/// Cuts an object where the label of its words changes, and with `fine` also between words that
/// only their owner uses and words that others use, too. Unused words go with those before them,
/// the words of one value stay together, and no run crosses the end of an extent.
#[must_use]
pub fn uniform_runs(object: &DataObject, survey: &UseSurvey, fine: bool) -> Vec<UniformRun> {
    let mut runs: Vec<UniformRun> = Vec::new();
    for extent in &object.extents {
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
