//! MD5, by which clients of SQS check that a message came as it was sent (RFC 1321).

/// Rotations of the four rounds.
const ROTATIONS: [[u32; 4]; 4] = [
    [7, 12, 17, 22],
    [5, 9, 14, 20],
    [4, 11, 16, 23],
    [6, 10, 15, 21],
];

/// The digest of bytes in hexadecimal.
pub(crate) fn hex(bytes: &[u8]) -> String {
    let mut state: [u32; 4] = [0x6745_2301, 0xefcd_ab89, 0x98ba_dcfe, 0x1032_5476];
    let mut padded = bytes.to_vec();
    padded.push(0x80);
    padded.resize(padded.len().next_multiple_of(64), 0);
    if padded.len() - bytes.len() < 9 {
        padded.resize(padded.len() + 64, 0);
    }
    let bits = u64::try_from(bytes.len())
        .unwrap_or(u64::MAX)
        .wrapping_mul(8);
    let end = padded.len() - 8;
    padded[end..].copy_from_slice(&bits.to_le_bytes());
    for block in padded.chunks_exact(64) {
        let mixed = mix(state, block);
        for (own, add) in state.iter_mut().zip(mixed) {
            *own = own.wrapping_add(add);
        }
    }
    let digest = state.map(|word| format!("{:08x}", word.swap_bytes()));
    digest.concat()
}

fn mix(state: [u32; 4], block: &[u8]) -> [u32; 4] {
    let word = |at: usize| {
        let bytes = &block[4 * at..4 * at + 4];
        u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]])
    };
    let [mut a, mut b, mut c, mut d] = state;
    for step in 0..64 {
        let round = step / 16;
        let (mixed, at) = match round {
            0 => ((b & c) | (!b & d), step),
            1 => ((d & b) | (!d & c), (5 * step + 1) % 16),
            2 => (b ^ c ^ d, (3 * step + 5) % 16),
            _ => (c ^ (b | !d), (7 * step) % 16),
        };
        let sum = mixed
            .wrapping_add(a)
            .wrapping_add(constant(step))
            .wrapping_add(word(at));
        (a, d, c) = (d, c, b);
        b = b.wrapping_add(sum.rotate_left(ROTATIONS[round][step % 4]));
    }
    [a, b, c, d]
}

/// The first 32 bits behind the point of the sine of a step's number.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the number is below 2^32 and not below 0"
)]
fn constant(step: usize) -> u32 {
    let sine = (step as f64 + 1.0).sin().abs();
    (sine * 4_294_967_296.0) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digests_are_those_of_the_rfc() {
        let long = "1234567890".repeat(8);
        for (text, digest) in [
            ("", "d41d8cd98f00b204e9800998ecf8427e"),
            ("abc", "900150983cd24fb0d6963f7d28e17f72"),
            ("message digest", "f96b697d7cb7938d525a2f31aaf161d0"),
            (&*long, "57edf4a22be3c955ac49da2e2107b67a"),
        ] {
            assert_eq!(hex(text.as_bytes()), digest, "{text}");
        }
    }

    #[test]
    fn lengths_around_the_end_of_a_block_are_padded_as_they_must() {
        for (length, digest) in [
            (55, "ef1772b6dff9a122358552954ad0df65"),
            (56, "3b0c8ac703f828b04c6c197006d17218"),
            (64, "014842d480b571495a4a0363793f7367"),
        ] {
            assert_eq!(hex("a".repeat(length).as_bytes()), digest, "{length}");
        }
    }
}
