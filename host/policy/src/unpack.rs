//! Bytes as stored to bytes of a module: size first, then at most one zstd frame, which must say how large it gets.
//!
//! A frame of a few bytes can claim gigabytes of content or of window, so both are read from its header and capped
//! before anything is inflated (RFC 8878, section 3.1.1.1).

use std::borrow::Cow;
use std::io::Read;

use ruzstd::decoding::StreamingDecoder;

use crate::gate::Refusal;

/// First bytes of a zstd frame.
pub(crate) const MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];
/// Largest window of a frame: what the decoder has to keep in memory.
const WINDOW: u64 = 8 << 20;
/// How many times its stored size a module may grow. Code grows two to four times.
const RATIO: u64 = 100;

/// The module's own bytes, at most `limit` of them.
pub(crate) fn unpack(stored: &[u8], limit: usize) -> Result<Cow<'_, [u8]>, Refusal> {
    let too_large = |size: u64| Refusal::TooLarge { size, limit };
    if stored.len() > limit {
        return Err(too_large(stored.len() as u64));
    }
    if !stored.starts_with(&MAGIC) {
        return Ok(Cow::Borrowed(stored));
    }
    let refuse = |problem: &str| Refusal::Compression {
        problem: problem.to_owned(),
    };
    let header =
        Header::read(&stored[MAGIC.len()..]).ok_or_else(|| refuse("ends within its header"))?;
    let Some(content) = header.content else {
        return Err(refuse("does not say how large its content is"));
    };
    if content > limit as u64 {
        return Err(too_large(content));
    }
    if content > RATIO.saturating_mul(stored.len() as u64) {
        return Err(refuse(
            "grows more than 100 times when inflated, as no module does",
        ));
    }
    if header.window.unwrap_or(content) > WINDOW {
        return Err(refuse("asks for a window of more than 8 MiB"));
    }
    if header.dictionary {
        return Err(refuse("needs a dictionary"));
    }
    inflate(stored, content, &refuse).map(Cow::Owned)
}

fn inflate(
    stored: &[u8],
    content: u64,
    refuse: &dyn Fn(&str) -> Refusal,
) -> Result<Vec<u8>, Refusal> {
    let mut source = stored;
    let broken = |error: &dyn std::fmt::Display| refuse(&format!("cannot be read: {error}"));
    let decoder = StreamingDecoder::new(&mut source).map_err(|error| broken(&error))?;
    let mut module = Vec::new();
    // One byte more than declared shows a frame that lies about its content.
    decoder
        .take(content + 1)
        .read_to_end(&mut module)
        .map_err(|error| broken(&error))?;
    if module.len() as u64 != content {
        return Err(refuse("holds another amount of data than it says"));
    }
    if !source.is_empty() {
        return Err(refuse("is followed by other data"));
    }
    Ok(module)
}

/// Header of a frame.
struct Header {
    content: Option<u64>,
    /// Absent where the content is one segment, whose window is the content.
    window: Option<u64>,
    dictionary: bool,
}

impl Header {
    fn read(bytes: &[u8]) -> Option<Self> {
        let (&descriptor, mut rest) = bytes.split_first()?;
        let single_segment = descriptor & 0x20 != 0;
        let window = if single_segment {
            None
        } else {
            let (&byte, after) = rest.split_first()?;
            rest = after;
            let base = 1_u64 << (10 + (byte >> 3));
            Some(base + base / 8 * u64::from(byte & 7))
        };
        let dictionary_bytes = [0, 1, 2, 4][usize::from(descriptor & 3)];
        let dictionary = rest.get(..dictionary_bytes)?.iter().any(|&byte| byte != 0);
        let size_bytes = match (descriptor >> 6, single_segment) {
            (0, false) => {
                return Some(Self {
                    content: None,
                    window,
                    dictionary,
                });
            }
            (0, true) => 1,
            (1, _) => 2,
            (2, _) => 4,
            _ => 8,
        };
        let field = rest.get(dictionary_bytes..dictionary_bytes + size_bytes)?;
        let value = field
            .iter()
            .rev()
            .fold(0_u64, |value, &byte| value << 8 | u64::from(byte));
        let content = Some(if size_bytes == 2 { value + 256 } else { value });
        Some(Self {
            content,
            window,
            dictionary,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A frame of one raw block: magic, single segment with a content size of 4 bytes, last raw block.
    fn frame(content: u32, data: &[u8]) -> Vec<u8> {
        let mut frame = MAGIC.to_vec();
        frame.push(0b1010_0000);
        frame.extend_from_slice(&content.to_le_bytes());
        let block = u32::try_from(data.len()).unwrap() << 3 | 1;
        frame.extend_from_slice(&block.to_le_bytes()[..3]);
        frame.extend_from_slice(data);
        frame
    }

    fn refusal(stored: &[u8]) -> String {
        unpack(stored, 1_000).unwrap_err().to_string()
    }

    #[test]
    fn a_plain_module_passes_as_it_is() {
        assert_eq!(unpack(b"\0asm", 1_000).unwrap(), &b"\0asm"[..]);
    }

    #[test]
    fn one_honest_frame_is_inflated() {
        assert_eq!(unpack(&frame(5, b"hello"), 1_000).unwrap(), &b"hello"[..]);
    }

    #[test]
    fn a_frame_that_claims_too_much_is_refused_before_inflating() {
        assert_eq!(
            refusal(&frame(4_000_000_000, b"x")),
            "the module has 4000000000 bytes; at most 1000 are allowed"
        );
        assert_eq!(
            refusal(&[0; 1_001]),
            "the module has 1001 bytes; at most 1000 are allowed"
        );
    }

    #[test]
    fn a_frame_that_grows_too_much_is_refused_before_inflating() {
        // "A block of 128 KiB of zeros", which takes 4 bytes.
        let mut bomb = MAGIC.to_vec();
        bomb.extend_from_slice(&[0b1010_0000, 0, 0, 2, 0, 0x03, 0, 0x10, 0]);
        let refused = unpack(&bomb, 1 << 20).unwrap_err().to_string();
        assert_eq!(
            refused,
            "the module's zstd frame grows more than 100 times when inflated, as no module does"
        );
    }

    #[test]
    fn a_frame_that_lies_or_is_cut_is_refused() {
        assert_eq!(
            refusal(&frame(4, b"hello")),
            "the module's zstd frame holds another amount of data than it says"
        );
        assert_eq!(
            refusal(&frame(6, b"hello")),
            "the module's zstd frame holds another amount of data than it says"
        );
        assert_eq!(
            refusal(&MAGIC),
            "the module's zstd frame ends within its header"
        );
        let two = [frame(5, b"hello"), frame(5, b"hello")].concat();
        assert_eq!(
            refusal(&two),
            "the module's zstd frame is followed by other data"
        );
        assert!(refusal(&frame(5, b"hello")[..12]).contains("cannot be read"));
    }

    #[test]
    fn a_frame_without_size_or_with_a_huge_window_is_refused() {
        let unsized_frame = [&MAGIC[..], &[0x00, 0x50]].concat();
        assert_eq!(
            refusal(&unsized_frame),
            "the module's zstd frame does not say how large its content is"
        );
        let wide = [&MAGIC[..], &[0x80, 0xb0], &5_u32.to_le_bytes()].concat();
        assert_eq!(
            refusal(&wide),
            "the module's zstd frame asks for a window of more than 8 MiB"
        );
    }
}
