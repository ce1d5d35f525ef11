//! The notation of steps: `0 W a0; 1 R a0; 2 R b1 p; 0 rel; 1 acq`.

use homenode_base::{Access, AccessKind, Flags};

/// The first byte of each block that has a name: two on one page, two on another. A cache with room
/// for one block holds one of them.
const BLOCKS: [(u8, u64); 4] = [(b'a', 0x1000), (b'b', 0x1010), (b'c', 0x1_0000), (b'd', 0x1_0010)];
/// Words of such a block.
const WORDS: u64 = 4;
/// The number of processors that can be written.
const PROCESSORS: u16 = 1024;

/// A step of a walk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WrittenStep {
    /// A reference.
    Access(Access),
    /// A reference that is under way when the next step begins.
    Begins(Access),
    /// An acquire by this thread.
    Acquire(u16),
    /// A release by this thread.
    Release(u16),
}

impl WrittenStep {
    /// Its thread.
    #[must_use]
    pub const fn thread(&self) -> u16 {
        match self {
            Self::Access(access) | Self::Begins(access) => access.thread,
            Self::Acquire(thread) | Self::Release(thread) => *thread,
        }
    }

    /// The reference, if it is one.
    #[must_use]
    pub const fn access(&self) -> Option<&Access> {
        match self {
            Self::Access(access) | Self::Begins(access) => Some(access),
            Self::Acquire(_) | Self::Release(_) => None,
        }
    }
}

/// A step that cannot be parsed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "reference {number}, {text:?}: expected a processor from 0 to {}, R or W, a word from a0 to \
     d{}, and perhaps p for a private area, as in \"0 W a0; 1 R a0\", and & if the next step \
     begins meanwhile; or a processor, and acq or rel",
    PROCESSORS - 1, WORDS - 1
)]
pub struct WrittenReferenceError {
    /// Its number, from 1.
    number: usize,
    text: String,
}

/// Parses steps separated by semicolons. Thread i runs on processor i.
///
/// ```
/// use homenode_cache::walk::{WrittenStep, written_steps};
/// let found = written_steps("0 W a0; 0 rel; 12 acq; 12 R b3 p")?;
/// assert_eq!(found[1..3], [WrittenStep::Release(0), WrittenStep::Acquire(12)]);
/// assert_eq!(found[3].access().map(|access| access.addr), Some(0x101c));
/// assert!(matches!(written_steps("0 R a0 &; 1 R a0")?[0], WrittenStep::Begins(_)));
/// assert!(written_steps("0 W a0; 1 X a0").is_err());
/// # Ok::<(), homenode_cache::walk::WrittenReferenceError>(())
/// ```
///
/// # Errors
/// When a step cannot be parsed.
pub fn written_steps(text: &str) -> Result<Vec<WrittenStep>, WrittenReferenceError> {
    let parts = text.trim_end().trim_end_matches(';').split(';');
    let one = |(number, text): (usize, &str)| {
        let text = text.trim();
        let found = match text.strip_suffix('&') {
            Some(text) => reference(text).map(WrittenStep::Begins),
            None => reference(text).map(WrittenStep::Access).or_else(|| synchronisation(text)),
        };
        found.ok_or_else(|| WrittenReferenceError { number: number + 1, text: text.to_owned() })
    };
    parts.enumerate().map(one).collect()
}

/// The references among such steps.
///
/// ```
/// use homenode_cache::walk::written_references;
/// let found = written_references("0 W a0; 12 R b3 p")?;
/// assert_eq!((found[1].thread, found[1].addr), (12, 0x101c));
/// # Ok::<(), homenode_cache::walk::WrittenReferenceError>(())
/// ```
///
/// # Errors
/// When a step cannot be parsed.
pub fn written_references(text: &str) -> Result<Vec<Access>, WrittenReferenceError> {
    Ok(written_steps(text)?.iter().filter_map(WrittenStep::access).copied().collect())
}

/// A processor.
fn thread(text: &str) -> Option<u16> {
    text.parse().ok().filter(|&thread: &u16| thread < PROCESSORS)
}

/// Parses `0 acq` or `0 rel`.
fn synchronisation(text: &str) -> Option<WrittenStep> {
    let (who, what) = text.split_once(char::is_whitespace)?;
    let thread = thread(who)?;
    match what.trim_start() {
        "acq" => Some(WrittenStep::Acquire(thread)),
        "rel" => Some(WrittenStep::Release(thread)),
        _ => None,
    }
}

/// Parses `0 W a1 p`.
fn reference(text: &str) -> Option<Access> {
    let mut parts = text.split_whitespace();
    let thread = thread(parts.next()?)?;
    let kind = match parts.next()? {
        "R" => AccessKind::Read,
        "W" => AccessKind::Write,
        _ => return None,
    };
    let (&letter, word) = parts.next()?.as_bytes().split_first()?;
    let (_, block) = BLOCKS.iter().find(|(name, _)| *name == letter)?;
    let word: u64 = std::str::from_utf8(word).ok()?.parse().ok().filter(|&word| word < WORDS)?;
    let mut access = Access::new(thread, kind, block + 4 * word, 4);
    match (parts.next(), parts.next()) {
        (None, _) => {}
        (Some("p"), None) => access.flags = Flags::PRIVATE,
        _ => return None,
    }
    Some(access)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_read_is_named() {
        for bad in [
            "",
            "0",
            "0 W",
            "0 X a0",
            "0 W e0",
            "0 W a4",
            "0 W a",
            "0 W a0 q",
            "1024 R a0",
            "0 acq a0",
            "rel",
            "0 release",
            "0 acq &",
        ] {
            let error = written_references(&format!("1 R a0; {bad}; 0 R a0")).unwrap_err();
            assert!(error.to_string().starts_with(&format!("reference 2, {bad:?}: ")), "{error}");
        }
        assert_eq!(written_references("0 W a0; 1 R a0 ;\n").map(|found| found.len()), Ok(2));
    }
}
