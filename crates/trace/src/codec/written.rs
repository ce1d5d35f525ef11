//! Explicit differences.

/// Differences of any width, concatenated.
#[derive(Default)]
pub(super) struct WrittenDifferences {
    /// With capacity for a whole word after the written bytes.
    bytes: Vec<u8>,
    written: usize,
}

impl WrittenDifferences {
    pub(super) fn written(&self) -> &[u8] {
        &self.bytes[..self.written]
    }

    pub(super) const fn clear(&mut self) {
        self.written = 0;
    }

    /// Appends the low `width` bytes of a word. It always stores the whole word, to avoid a branch
    /// on the width.
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
