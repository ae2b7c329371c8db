//! A trie of all tokens, which finds the tokens at the beginning or at the end of a text.

use super::tables::Token;

/// The direction in which a piece is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Direction {
    /// From its start to its end.
    Forward,
    /// From its end to its start.
    Backward,
}

/// The number of bits of a node. The largest vocabulary has half a million nodes.
const NODE_BITS: u32 = 20;

const ROOT: u32 = 0;

/// The node of a string that is not a prefix of a token.
const NOWHERE: u32 = (1 << NODE_BITS) - 1;

pub(super) struct Trie {
    /// An open-addressing table. An entry holds a node, a byte and the next node.
    edges: Vec<u64>,
    shift: u32,
    /// The token that a node spells.
    tokens: Vec<Option<Token>>,
}

const EMPTY: u64 = u64::MAX;

impl Trie {
    /// Builds the trie of numbered tokens with a total length of `bytes`.
    pub(super) fn new<B: Iterator<Item = u8>>(
        tokens: impl Iterator<Item = (Token, B)>,
        bytes: usize,
    ) -> Self {
        // The trie has at most one node per byte, so there is always an empty slot.
        let places = (bytes + 1).next_power_of_two();
        let mut this = Self {
            edges: vec![EMPTY; places],
            shift: u64::BITS - places.trailing_zeros(),
            tokens: vec![None],
        };
        for (token, bytes) in tokens {
            let node = bytes.fold(ROOT, |node, byte| this.child_or_insert(node, byte));
            // A number without an ordinary token has no bytes.
            if node != ROOT {
                this.tokens[node as usize] = Some(token);
            }
        }
        this
    }

    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "the low bits are a node")]
    fn find(&self, node: u32, byte: u8) -> Result<u32, (usize, u64)> {
        let key = u64::from(node) << 8 | u64::from(byte);
        let mask = self.edges.len() - 1;
        let mut place = (key.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> self.shift) as usize;
        loop {
            let edge = self.edges[place & mask];
            if edge >> NODE_BITS == key {
                return Ok(edge as u32 & NOWHERE);
            }
            if edge == EMPTY {
                return Err((place & mask, key));
            }
            place += 1;
        }
    }

    fn child_or_insert(&mut self, node: u32, byte: u8) -> u32 {
        self.find(node, byte).unwrap_or_else(|(place, key)| {
            let child = u32::try_from(self.tokens.len()).unwrap_or(NOWHERE);
            assert!(child < NOWHERE, "a vocabulary has less than a million nodes");
            self.tokens.push(None);
            self.edges[place] = key << NODE_BITS | u64::from(child);
            child
        })
    }

    /// Returns the tokens at the beginning of `text` with their lengths, shortest first.
    #[inline]
    pub(super) fn prefixes(
        &self,
        text: impl Iterator<Item = u8>,
    ) -> impl Iterator<Item = (Token, usize)> {
        let mut node = ROOT;
        let nodes = text.map_while(move |byte| {
            node = self.find(node, byte).ok()?;
            Some(node)
        });
        nodes.zip(1..).filter_map(|(node, len)| Some((self.tokens[node as usize]?, len)))
    }
}
