//! Random numbers that are the same at every run.

/// Sebastiano Vigna's splitmix64, as the tests have it: a text follows from
/// its number alone.
pub(super) struct Random {
    state: u64,
}

impl Random {
    pub(super) const fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// A number below `end`, which is not 0.
    #[expect(clippy::cast_possible_truncation, reason = "the remainder is below a usize")]
    pub(super) fn below(&mut self, end: usize) -> usize {
        (self.next() % end as u64) as usize
    }

    /// One of `items`, of which there are some.
    pub(super) fn pick<T: Copy>(&mut self, items: &[T]) -> T {
        items[self.below(items.len())]
    }

    /// Any character, as likely one of two bytes as one of four.
    pub(super) fn character(&mut self) -> char {
        let (from, to) =
            self.pick(&[(0, 0x80), (0x80, 0x800), (0x800, 0x1_0000), (0x1_0000, 0x11_0000)]);
        let code = from + self.below(to - from);
        u32::try_from(code).ok().and_then(char::from_u32).unwrap_or(char::REPLACEMENT_CHARACTER)
    }

    pub(super) fn bytes(&mut self, len: usize) -> Vec<u8> {
        (0..len).map(|_| self.next().to_le_bytes()[0]).collect()
    }
}
