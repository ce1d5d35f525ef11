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
