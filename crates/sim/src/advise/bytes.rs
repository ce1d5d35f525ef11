//! Objects of which several threads use single bytes: flags and locks of one byte.

use homenode_advise::{DataObject, UseSurvey, WordExtent};
use homenode_base::BlockSize;
use homenode_trace::TraceReader;
use rustc_hash::FxHashMap;

use crate::error::SimResult;
use crate::lines::survey_uses;

/// Most bytes that are surveyed one by one.
const BYTES_MAX: u64 = 1 << 20;

/// The objects that are considered in bytes, too.
pub(super) struct ByteObjects {
    /// `None` if there are none.
    survey: Option<UseSurvey>,
    objects: FxHashMap<usize, DataObject>,
}

impl ByteObjects {
    /// Those of these objects with words whose parts several threads use apart. That takes another
    /// pass over the trace if there are words of which parts are used at all.
    pub(super) fn of(
        trace: &TraceReader,
        pool: &rayon::ThreadPool,
        objects: &[DataObject],
        survey: &UseSurvey,
        examined: &[usize],
    ) -> SimResult<Self> {
        let words: Vec<u64> = survey.words_used_in_parts().collect();
        let words_of = |object: &DataObject| {
            let within = |extent: &WordExtent| {
                let from = words.partition_point(|&word| word < extent.first);
                let to = words.partition_point(|&word| word < extent.range().end);
                words[from..to].to_vec()
            };
            object.extents.iter().flat_map(within).collect::<Vec<u64>>()
        };
        let mut left = BYTES_MAX;
        let mut found: FxHashMap<usize, DataObject> = FxHashMap::default();
        for &index in examined.iter().filter(|_| !words.is_empty()) {
            let bytes = objects[index].words() * BlockSize::WORD_BYTES;
            if bytes <= left && !words_of(&objects[index]).is_empty() {
                left -= bytes;
                found.insert(index, objects[index].in_bytes());
            }
        }
        if found.is_empty() {
            return Ok(Self { survey: None, objects: found });
        }
        let extents = found.values().flat_map(|object| &object.extents);
        let surveyor = survey.of_bytes(extents.flat_map(|extent| extent.range()));
        let survey = survey_uses(surveyor, trace, pool, &mut |_| Ok(()))?;
        found.retain(|&index, _| {
            words_of(&objects[index]).into_iter().any(|word| survey.is_divided(word))
        });
        Ok(Self { survey: Some(survey), objects: found })
    }

    /// An object in bytes, and the survey of its bytes.
    pub(super) fn get(&self, object: usize) -> Option<(&UseSurvey, &DataObject)> {
        self.survey.as_ref().zip(self.objects.get(&object))
    }
}
