//! The text of a file, decompressed where it is compressed, and never more of it than allowed.

use std::cell::Cell;
use std::io::{self, BufRead, BufReader, Read};
use std::rc::Rc;

use ruzstd::decoding::StreamingDecoder;

use crate::error::SnapshotError;
use crate::limits::Limits;

/// First bytes of zstd data.
const ZSTD: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];
/// Bytes read at once.
const BUFFER: usize = 256 << 10;

/// The text of `source`, decompressed if its first bytes say that it is compressed.
pub fn text<'a>(
    source: impl Read + 'a,
    limits: &Limits,
) -> Result<Box<dyn BufRead + 'a>, SnapshotError> {
    let mut source = BufReader::with_capacity(BUFFER, source);
    let is_compressed = source.fill_buf()?.starts_with(&ZSTD);
    let compressed = Rc::new(Cell::new(0));
    let text: Box<dyn Read + 'a> = if is_compressed {
        let counted = Counted {
            inner: source,
            bytes: Rc::clone(&compressed),
        };
        let decoder = StreamingDecoder::new(counted)
            .map_err(|error| SnapshotError::Compressed(error.to_string()))?;
        Box::new(Decoded(decoder))
    } else {
        Box::new(source)
    };
    Ok(Box::new(BufReader::with_capacity(
        BUFFER,
        Limited {
            inner: text,
            bytes: 0,
            compressed: is_compressed.then_some(compressed),
            limits: *limits,
        },
    )))
}

/// Counts the bytes that pass.
struct Counted<R> {
    inner: R,
    bytes: Rc<Cell<u64>>,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        self.bytes.set(self.bytes.get() + read as u64);
        Ok(read)
    }
}

/// Gives the decoder's errors our words.
struct Decoded<R: Read>(StreamingDecoder<R, ruzstd::decoding::FrameDecoder>);

impl<R: Read> Read for Decoded<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.0
            .read(buffer)
            .map_err(|error| io::Error::other(SnapshotError::Compressed(error.to_string())))
    }
}

/// Ends with an error when there is more text than allowed.
struct Limited<R> {
    inner: R,
    bytes: u64,
    compressed: Option<Rc<Cell<u64>>>,
    limits: Limits,
}

impl<R: Read> Read for Limited<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        self.bytes += read as u64;
        let Limits { text, ratio, .. } = self.limits;
        if self.bytes > text {
            return Err(io::Error::other(SnapshotError::TooLong { limit: text }));
        }
        if let Some(compressed) = &self.compressed
            && self.bytes > self.limits.ratio_from
            && self.bytes / ratio > compressed.get()
        {
            return Err(io::Error::other(SnapshotError::Bomb { ratio }));
        }
        Ok(read)
    }
}
