//! Pseudo-random numbers that are the same on every platform and in every version.

/// A random number generator that gives the same sequence on every machine: splitmix64 by
/// Sebastiano Vigna.
///
/// ```
/// use lcp_testkit::SplitMix64;
///
/// let mut rng = SplitMix64::new(1);
/// assert_eq!(rng.next_u64(), 0x910A_2DEC_8902_5CC1);
/// assert!(rng.below(10) < 10);
/// ```
#[derive(Clone, Debug)]
pub struct SplitMix64 {
    state: u64,
}

impl SplitMix64 {
    /// Creates a generator. The seed determines the whole sequence.
    #[must_use]
    pub const fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    /// Returns the next 64 bits.
    pub const fn next_u64(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// Returns a number below `end`. `end` must not be 0.
    #[expect(clippy::cast_possible_truncation, reason = "the remainder is below a usize")]
    pub const fn below(&mut self, end: usize) -> usize {
        (self.next_u64() % end as u64) as usize
    }

    /// Returns a number below `end`, like [`Self::below`], with 32 bits.
    #[expect(clippy::cast_possible_truncation, reason = "the remainder is below a u32")]
    pub const fn below_u32(&mut self, end: u32) -> u32 {
        (self.next_u64() % end as u64) as u32
    }

    /// Returns one of `items`, which must not be empty.
    pub fn choose<T: Copy>(&mut self, items: &[T]) -> T {
        items[self.below(items.len())]
    }

    /// Returns `len` bytes that cannot be compressed.
    pub fn bytes(&mut self, len: usize) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(len + 8);
        while bytes.len() < len {
            bytes.extend_from_slice(&self.next_u64().to_le_bytes());
        }
        bytes.truncate(len);
        bytes
    }
}
