//! Differences that are written out.

/// Differences of any width, one after the other.
#[derive(Default)]
pub(super) struct WrittenDifferences {
    /// With room for a whole word after what is written.
    bytes: Vec<u8>,
    written: usize,
}

impl WrittenDifferences {
    /// What was written.
    pub(super) fn written(&self) -> &[u8] {
        &self.bytes[..self.written]
    }

    /// Forgets everything but its memory.
    pub(super) const fn clear(&mut self) {
        self.written = 0;
    }

    /// Writes the low bytes of a word. A whole word is stored whatever its width, so that there is
    /// no branch on it.
    #[inline(always)]
    pub(super) fn put(&mut self, word: u64, width: u8) {
        let Some(place) = self.bytes.get_mut(self.written..self.written + 8) else {
            return self.put_at_end(word, width);
        };
        place.copy_from_slice(&word.to_le_bytes());
        self.written += usize::from(width);
    }

    #[cold]
    #[inline(never)]
    fn put_at_end(&mut self, word: u64, width: u8) {
        self.bytes.resize((2 * self.bytes.len()).max(1 << 12), 0);
        self.put(word, width);
    }
}
