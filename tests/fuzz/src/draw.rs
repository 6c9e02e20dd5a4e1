//! Numbers at random, and changes at random to bytes and texts. The same seed and number give the same input everywhere.

/// A source of random numbers.
#[derive(Debug, Clone)]
pub struct Draw(u64);

impl Draw {
    /// The source of one input.
    pub fn new(seed: u64, number: u64) -> Self {
        Self(seed ^ number.wrapping_mul(0x9e37_79b9_7f4a_7c15))
    }

    /// Any number (Vigna's splitmix64).
    pub fn any(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `end`, or 0 where there is none.
    pub fn below(&mut self, end: usize) -> usize {
        let end = u64::try_from(end).unwrap_or(u64::MAX).max(1);
        usize::try_from(self.any() % end).unwrap_or_default()
    }

    /// Once in so many times.
    pub fn once_in(&mut self, times: usize) -> bool {
        self.below(times) == 0
    }

    /// One of several.
    pub fn pick<'t, T>(&mut self, of: &'t [T]) -> &'t T {
        &of[self.below(of.len())]
    }

    /// A byte, often one at an edge.
    pub fn byte(&mut self) -> u8 {
        let any = self.any().to_le_bytes()[0];
        *self.pick(&[0, 1, 0x7f, 0x80, 0xff, any, any, any])
    }

    /// A stretch of something so long.
    fn stretch(&mut self, length: usize) -> std::ops::Range<usize> {
        let from = self.below(length + 1);
        let longest = *self.pick(&[1, 4, 64, length]);
        from..(from + self.below(longest + 1)).min(length)
    }

    /// Changes bytes in a few places: flips, cuts, doubles, overwrites with what stands elsewhere.
    pub fn change(&mut self, bytes: &mut Vec<u8>) {
        for _ in 0..=self.below(4) {
            let stretch = self.stretch(bytes.len());
            match self.below(6) {
                0 if !bytes.is_empty() => {
                    let at = self.below(bytes.len());
                    bytes[at] ^= 1 << self.below(8);
                }
                1 if !bytes.is_empty() => {
                    let at = self.below(bytes.len());
                    bytes[at] = self.byte();
                }
                2 => drop(bytes.drain(stretch)),
                3 => {
                    let doubled = bytes[stretch.clone()].to_vec();
                    bytes.splice(stretch.start..stretch.start, doubled);
                }
                4 => {
                    let (byte, at) = (self.byte(), stretch.start);
                    bytes.insert(at, byte);
                }
                _ => {
                    let elsewhere = self.below(bytes.len() + 1);
                    let length = stretch.len().min(bytes.len() - elsewhere);
                    bytes.copy_within(stretch.start..stretch.start + length, elsewhere);
                }
            }
        }
    }

    /// Changes lines and words of a text: drops, doubles and exchanges them, and puts odd values in their places.
    pub fn reword(&mut self, text: &str, odd: &[&str]) -> String {
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        for _ in 0..=self.below(4) {
            let (at, other) = (self.below(lines.len()), self.below(lines.len()));
            match self.below(5) {
                _ if lines.is_empty() => {}
                0 => drop(lines.remove(at)),
                1 => lines.insert(at, lines[other].clone()),
                2 => lines.swap(at, other),
                _ => lines[at] = self.reword_line(&lines[at], odd),
            }
        }
        lines.join("\n")
    }

    /// Puts an odd value in the place of one word.
    fn reword_line(&mut self, line: &str, odd: &[&str]) -> String {
        let is_word = |letter: char| letter.is_alphanumeric() || "-./_".contains(letter);
        let words: Vec<&str> = line.split(|letter| !is_word(letter)).collect();
        let word = *self.pick(&words);
        if word.is_empty() {
            return line.to_owned();
        }
        let instead = self.pick::<&str>(odd);
        line.replacen(word, instead, 1)
    }
}
