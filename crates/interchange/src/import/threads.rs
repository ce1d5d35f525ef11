//! Maps the thread identifiers of other tools to dense numbers from 0.

use std::collections::HashMap;

use super::parser::BadLine;
use super::token::Token;

#[derive(Default)]
pub(super) struct Threads {
    numbers: HashMap<ThreadKey, u16>,
    known: Vec<ThreadKey>,
    /// The last look-up: successive references are mostly by one thread.
    last: Option<(ThreadKey, u16)>,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct ThreadKey {
    pid: u32,
    id: u64,
}

/// Most threads that the note lists.
const LISTED_MAX: usize = 32;

impl Threads {
    /// The number of thread `id` of process `pid`, and whether it is new; `word` locates errors.
    pub(super) fn number(
        &mut self,
        word: Token<'_>,
        pid: u32,
        id: u64,
    ) -> Result<(u16, bool), BadLine> {
        let key = ThreadKey { pid, id };
        if let Some((last, number)) = self.last
            && last == key
        {
            return Ok((number, false));
        }
        let (number, new) = match self.numbers.get(&key) {
            Some(&number) => (number, false),
            None => (self.add(word, key)?, true),
        };
        self.last = Some((key, number));
        Ok((number, new))
    }

    fn add(&mut self, word: Token<'_>, key: ThreadKey) -> Result<u16, BadLine> {
        let number = u16::try_from(self.known.len()).ok().filter(|&number| number < u16::MAX);
        let number = number.ok_or_else(|| word.bad("at most 65535 different threads"))?;
        self.numbers.insert(key, number);
        self.known.push(key);
        Ok(number)
    }

    pub(super) fn note(&self) -> String {
        let names = self.known.iter().take(LISTED_MAX).map(|key| key.id.to_string());
        let names = names.collect::<Vec<_>>().join(", ");
        let more = if self.known.len() > LISTED_MAX { ", ..." } else { "" };
        format!("threads, counted from 0, were {names}{more}")
    }
}

/// Numbers of threads in formats that have them, where homenode's own stay as they are and those of
/// an operating system (4000, 4008) become numbers that a machine has processors for.
///
/// A number far above those seen so far is one of an operating system; from there on every new
/// thread gets the lowest free number.
#[derive(Default)]
pub struct ThreadNumbers {
    numbers: HashMap<u64, u16>,
    taken: Vec<bool>,
    /// The threads with another number than their own, in order of appearance.
    renamed: Vec<RenamedThread>,
    /// Whether the numbers are known to be homenode's.
    own: bool,
    last: Option<RenamedThread>,
}

#[derive(Clone, Copy)]
struct RenamedThread {
    id: u64,
    number: u16,
}

/// Numbers below this are homenode's even if they are the first seen: that of a part of a trace.
const OWN_NUMBERS: usize = 64;
/// A new number above this many times those seen is none of homenode's, which have few gaps.
const OWN_GAPS: usize = 4;

impl ThreadNumbers {
    /// Takes all numbers as they are: the input is a trace of homenode.
    pub fn keep(&mut self) {
        self.own = true;
    }

    /// The number of a thread in the trace; None for more threads than a trace holds.
    pub fn number(&mut self, id: u64) -> Option<u16> {
        if let Some(last) = self.last
            && last.id == id
        {
            return Some(last.number);
        }
        let number = match self.numbers.get(&id) {
            Some(&number) => number,
            None => self.add(id)?,
        };
        self.last = Some(RenamedThread { id, number });
        Some(number)
    }

    fn add(&mut self, id: u64) -> Option<u16> {
        let same = self.own_number(id);
        let free = || self.taken.iter().position(|taken| !taken).unwrap_or(self.taken.len());
        let place = match same {
            None if self.own => return None,
            None => free(),
            Some(place) => place,
        };
        let number = u16::try_from(place).ok().filter(|&number| number < u16::MAX)?;
        if place >= self.taken.len() {
            self.taken.resize(place + 1, false);
        }
        self.taken[place] = true;
        self.numbers.insert(id, number);
        if same.is_none() {
            self.renamed.push(RenamedThread { id, number });
        }
        Some(number)
    }

    /// The number itself, if it is one of homenode's.
    fn own_number(&self, id: u64) -> Option<usize> {
        let place = usize::try_from(id).ok().filter(|&place| place < usize::from(u16::MAX))?;
        let near = place < OWN_NUMBERS + OWN_GAPS * self.numbers.len();
        let free = self.taken.get(place) != Some(&true);
        (self.own || (self.renamed.is_empty() && near && free)).then_some(place)
    }

    /// Which threads have new numbers, if any have.
    #[must_use]
    pub fn note(&self) -> Option<String> {
        let some = self.renamed.iter().take(LISTED_MAX);
        let names: Vec<String> = some.map(|new| format!("{} was {}", new.number, new.id)).collect();
        let more = if self.renamed.len() > LISTED_MAX { ", ..." } else { "" };
        (!names.is_empty()).then(|| format!("threads were renumbered: {}{more}", names.join(", ")))
    }
}
