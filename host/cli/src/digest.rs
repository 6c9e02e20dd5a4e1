//! Digests of inputs, so that a result says what it is about.

use std::io::{self, Read};

use sha2::{Digest as _, Sha256};

/// A reader that digests what passes through it.
pub(crate) struct Digesting<R> {
    inner: R,
    sum: Sha256,
}

impl<R: Read> Digesting<R> {
    pub(crate) fn new(inner: R) -> Self {
        Self {
            inner,
            sum: Sha256::new(),
        }
    }

    /// The digest of everything that can be read, what was not asked for included.
    pub(crate) fn finish(mut self) -> io::Result<String> {
        io::copy(&mut self, &mut io::sink())?;
        Ok(format!("{:x}", self.sum.finalize()))
    }
}

impl<R: Read> Read for Digesting<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = self.inner.read(buffer)?;
        self.sum.update(&buffer[..length]);
        Ok(length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_not_read_is_digested_too() {
        let mut half = Digesting::new(&b"abc"[..]);
        let mut first = [0];
        half.read_exact(&mut first).unwrap();
        let known = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(half.finish().unwrap(), known);
    }
}
