//! The cursor of all decoders: little-endian and variable-length integers.

use homenode_base::unzigzag;

/// An encoding that no writer produces.
#[derive(Debug)]
pub(crate) struct DecodeFault {
    pub(crate) offset: usize,
    pub(crate) expected: String,
    pub(crate) found: String,
}

impl DecodeFault {
    pub(crate) fn new(offset: usize, expected: impl ToString, found: impl ToString) -> Self {
        Self { offset, expected: expected.to_string(), found: found.to_string() }
    }

    /// The same fault, relative to a block that contains this one at `base`.
    pub(crate) fn shifted(mut self, base: usize) -> Self {
        self.offset = self.offset.saturating_add(base);
        self
    }
}

/// Reads a block of bytes sequentially, never past its end.
#[derive(Clone, Debug)]
pub(crate) struct Cursor<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Cursor<'a> {
    pub(crate) const fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    pub(crate) const fn offset(&self) -> usize {
        self.at
    }

    pub(crate) const fn left(&self) -> usize {
        self.bytes.len() - self.at
    }

    pub(crate) fn take(&mut self, count: usize) -> Result<&'a [u8], DecodeFault> {
        let rest = &self.bytes[self.at..];
        if count > rest.len() {
            let found = format!("{} bytes", rest.len());
            return Err(DecodeFault::new(self.at, format!("{count} more bytes"), found));
        }
        self.at += count;
        Ok(&rest[..count])
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], DecodeFault> {
        let mut array = [0; N];
        array.copy_from_slice(self.take(N)?);
        Ok(array)
    }

    #[inline]
    pub(crate) fn u8(&mut self) -> Result<u8, DecodeFault> {
        let Some(&byte) = self.bytes.get(self.at) else {
            return Err(DecodeFault::new(self.at, "one more byte", "the end"));
        };
        self.at += 1;
        Ok(byte)
    }

    pub(crate) fn u16(&mut self) -> Result<u16, DecodeFault> {
        self.array().map(u16::from_le_bytes)
    }

    pub(crate) fn u32(&mut self) -> Result<u32, DecodeFault> {
        self.array().map(u32::from_le_bytes)
    }

    pub(crate) fn u64(&mut self) -> Result<u64, DecodeFault> {
        self.array().map(u64::from_le_bytes)
    }

    #[inline]
    pub(crate) fn varint(&mut self) -> Result<u64, DecodeFault> {
        let first = self.u8()?;
        if first < 0x80 { Ok(u64::from(first)) } else { self.long_varint(first) }
    }

    /// The same for inner loops, where most numbers have one byte.
    #[inline(always)]
    pub(crate) fn short_varint(&mut self) -> Result<u64, DecodeFault> {
        match self.bytes.get(self.at) {
            Some(&byte) if byte < 0x80 => {
                self.at += 1;
                Ok(u64::from(byte))
            }
            _ => self.varint(),
        }
    }

    fn long_varint(&mut self, first: u8) -> Result<u64, DecodeFault> {
        let mut value = u64::from(first & 0x7f);
        for shift in (7..64).step_by(7) {
            let byte = self.u8()?;
            if shift == 63 && byte > 1 {
                break;
            }
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Ok(value);
            }
        }
        Err(DecodeFault::new(self.at, "a number of at most 64 bits", "a longer one"))
    }

    #[inline]
    pub(crate) fn signed(&mut self) -> Result<i64, DecodeFault> {
        self.varint().map(unzigzag)
    }

    pub(crate) fn end(&self) -> Result<(), DecodeFault> {
        if self.left() == 0 {
            Ok(())
        } else {
            Err(DecodeFault::new(self.at, "the end", format!("{} more bytes", self.left())))
        }
    }
}

#[cfg(test)]
mod tests {
    use homenode_base::{put_varint, zigzag};

    use super::*;

    #[test]
    fn varints_of_every_length_round_trip() {
        for shift in 0..64 {
            for value in [1u64 << shift, (1 << shift) - 1, u64::MAX >> shift] {
                let mut out = Vec::new();
                put_varint(&mut out, value);
                let mut cursor = Cursor::new(&out);
                assert_eq!(cursor.varint().unwrap(), value);
                cursor.end().unwrap();
                assert_eq!(zigzag(unzigzag(value)), value);
            }
        }
    }

    #[test]
    fn overlong_and_truncated_varints_are_faults() {
        assert!(Cursor::new(&[0xff; 10]).varint().is_err());
        assert!(Cursor::new(&[0x80; 3]).varint().is_err());
        let mut most = [0xff; 10];
        most[9] = 1;
        assert_eq!(Cursor::new(&most).varint().unwrap(), u64::MAX);
    }
}
