//! Interruptible input: standard input and pipes, which may block for a long time.

use std::cell::RefCell;
use std::io::{self, Read};
use std::rc::Rc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::thread;
use std::time::Duration;

use pyo3::prelude::*;

/// Bytes read at a time.
const PORTION_BYTES: usize = 1 << 16;
/// Portions read ahead.
const PORTIONS: usize = 16;
/// Interval between checks for signals while no input arrives.
const INTERVAL: Duration = Duration::from_millis(100);

/// Python's exception, if it raised one while a reader waited.
pub type Interruption = Rc<RefCell<Option<PyErr>>>;

/// Reads in a thread of its own, so that a signal can interrupt a blocked read: the system restarts
/// reads, and Python's handler would only run when input arrives.
pub struct InterruptibleReader {
    portions: Receiver<io::Result<Vec<u8>>>,
    portion: Vec<u8>,
    at: usize,
    interruption: Interruption,
}

impl InterruptibleReader {
    /// Reads from the source that `open` opens; opening may block too.
    pub fn new<R: Read>(
        open: impl FnOnce() -> io::Result<R> + Send + 'static,
        interruption: &Interruption,
    ) -> Self {
        let (sender, portions) = sync_channel(PORTIONS);
        // The thread is not joined: after an interruption it may never end.
        thread::spawn(move || {
            let mut input = match open() {
                Ok(input) => input,
                Err(error) => return drop(sender.send(Err(error))),
            };
            loop {
                let mut portion = vec![0; PORTION_BYTES];
                let read = input.read(&mut portion).map(|count| {
                    portion.truncate(count);
                    portion
                });
                let over = read.as_ref().map_or(true, Vec::is_empty);
                if sender.send(read).is_err() || over {
                    return;
                }
            }
        });
        Self { portions, portion: Vec::new(), at: 0, interruption: Rc::clone(interruption) }
    }

    /// The next portion; empty at the end.
    fn next_portion(&mut self) -> io::Result<Vec<u8>> {
        loop {
            match self.portions.recv_timeout(INTERVAL) {
                Ok(portion) => return portion,
                Err(RecvTimeoutError::Disconnected) => return Ok(Vec::new()),
                Err(RecvTimeoutError::Timeout) => {}
            }
            if let Err(error) = Python::attach(|py| py.check_signals()) {
                *self.interruption.borrow_mut() = Some(error);
                return Err(io::Error::other("interrupted"));
            }
        }
    }
}

impl Read for InterruptibleReader {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if self.at == self.portion.len() {
            (self.portion, self.at) = (self.next_portion()?, 0);
        }
        let count = out.len().min(self.portion.len() - self.at);
        out[..count].copy_from_slice(&self.portion[self.at..self.at + count]);
        self.at += count;
        Ok(count)
    }
}
