//! Generations of process numbers: a thread's number is reused after the thread has ended.

/// The current generation of each process number, counted from 1, and whether it has ended.
#[derive(Clone, Debug)]
pub(super) struct ProcessGenerations {
    generations: Vec<u32>,
    ended: Vec<bool>,
}

impl ProcessGenerations {
    pub(super) fn new(processes: usize) -> Self {
        Self { generations: vec![1; processes], ended: vec![false; processes] }
    }

    pub(super) fn grow(&mut self, processes: usize) {
        self.generations.resize(processes, 1);
        self.ended.resize(processes, false);
    }

    /// The current or last generation of the process.
    pub(super) fn current(&self, process: usize) -> u32 {
        self.generations.get(process).copied().unwrap_or(1)
    }

    /// Whether the process has ended, and has not been created again.
    pub(super) fn has_ended(&self, process: usize) -> bool {
        self.ended.get(process).copied().unwrap_or(false)
    }

    /// The process ends. Returns whether it had not ended.
    pub(super) fn end(&mut self, process: usize) -> bool {
        self.ended.get_mut(process).is_some_and(|ended| !std::mem::replace(ended, true))
    }

    /// The process is created. Returns whether it had ended, so that this is a new generation.
    pub(super) fn create(&mut self, process: usize) -> bool {
        let again = self.ended.get_mut(process).is_some_and(std::mem::take);
        if again {
            self.generations[process] += 1;
        }
        again
    }
}
