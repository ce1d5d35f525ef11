//! The lives of processes: a thread's number is used again when it has ended.

/// Which life each process is in, counted from 1, and whether that is over.
#[derive(Clone, Debug)]
pub(super) struct ProcessLives {
    lives: Vec<u32>,
    ended: Vec<bool>,
}

impl ProcessLives {
    pub(super) fn new(processes: usize) -> Self {
        Self { lives: vec![1; processes], ended: vec![false; processes] }
    }

    /// There are so many processes now.
    pub(super) fn grow(&mut self, processes: usize) {
        self.lives.resize(processes, 1);
        self.ended.resize(processes, false);
    }

    /// The life that the process is in, or was in last.
    pub(super) fn life(&self, process: usize) -> u32 {
        self.lives.get(process).copied().unwrap_or(1)
    }

    /// Whether the process has ended, and has not been created again.
    pub(super) fn has_ended(&self, process: usize) -> bool {
        self.ended.get(process).copied().unwrap_or(false)
    }

    /// The process ends. Returns whether it had not ended.
    pub(super) fn end(&mut self, process: usize) -> bool {
        self.ended.get_mut(process).is_some_and(|ended| !std::mem::replace(ended, true))
    }

    /// The process is created. Returns whether it had ended, so that this is another life.
    pub(super) fn create(&mut self, process: usize) -> bool {
        let again = self.ended.get_mut(process).is_some_and(std::mem::take);
        if again {
            self.lives[process] += 1;
        }
        again
    }
}
