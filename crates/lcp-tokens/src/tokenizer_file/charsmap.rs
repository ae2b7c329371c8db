//! The precompiled charsmap of `SentencePiece`: a double-array trie over the source text, whose
//! values are offsets in a list of NUL-terminated strings.
//!
//! The crate `tokenizers` does not verify such a table and panics if it is damaged, so this module
//! also verifies the tables of `tokenizer.json`.

/// The maximum lengths in bytes of the text of an entry and of its replacement. NFKC needs 33.
const KEY_BYTES_MAX: usize = 256;
const STRING_BYTES_MAX: usize = 256;

/// A verified table. All its offsets are within the table.
#[derive(Debug)]
pub(super) struct Charsmap {
    units: Vec<u32>,
    strings: String,
}

/// Returns the offset of the children of a unit, relative to the unit itself.
fn offset(unit: u32) -> usize {
    ((unit >> 10) << ((unit & (1 << 9)) >> 6)) as usize
}

fn label(unit: u32) -> u32 {
    unit & (1 << 31 | 0xFF)
}

fn has_leaf(unit: u32) -> bool {
    unit & (1 << 8) != 0
}

fn value(unit: u32) -> usize {
    (unit & 0x7FFF_FFFF) as usize
}

impl Charsmap {
    /// Reads a table: the length of the trie in four bytes, the trie, and the strings.
    pub(super) fn new(bytes: &[u8]) -> Result<Self, &'static str> {
        let (len, rest) = bytes.split_first_chunk().ok_or("truncated table")?;
        let (trie, strings) = usize::try_from(u32::from_le_bytes(*len))
            .ok()
            .and_then(|len| rest.split_at_checked(len))
            .ok_or("truncated table")?;
        let (units, []) = trie.as_chunks::<4>() else {
            return Err("length of the trie is not a multiple of 4");
        };
        let units = units.iter().map(|unit| u32::from_le_bytes(*unit)).collect();
        let strings = String::from_utf8(strings.to_vec()).map_err(|_| "strings are not UTF-8")?;
        if strings.split('\0').any(|string| string.len() > STRING_BYTES_MAX) {
            return Err("replacement longer than 256 bytes");
        }
        let table = Self { units, strings };
        table.check()?;
        Ok(table)
    }

    /// Verifies every node. The position of a child is the offset with its last eight bits replaced
    /// by the label.
    fn check(&self) -> Result<(), &'static str> {
        const OUTSIDE: &str = "trie offset out of bounds";
        let mut seen = vec![false; self.units.len()];
        let mut open = vec![(0usize, *self.units.first().ok_or("empty trie")?)];
        while let Some((at, unit)) = open.pop() {
            let children = at ^ offset(unit);
            if children | 0xFF >= self.units.len() {
                return Err(OUTSIDE);
            }
            if has_leaf(unit) && !self.strings.is_char_boundary(value(self.units[children])) {
                return Err("string offset out of bounds");
            }
            for byte in 1..=0xFFu32 {
                let child = children ^ byte as usize;
                let unit = self.units[child];
                if label(unit) == byte && !std::mem::replace(&mut seen[child], true) {
                    open.push((child, unit));
                }
            }
        }
        Ok(())
    }

    /// Returns the length of the longest prefix of `text` that is replaced, and the replacement.
    pub(super) fn replace(&self, text: &str) -> Option<(usize, &str)> {
        let mut at = offset(*self.units.first()?);
        let mut found = None;
        // Limit the length, because a cyclic trie could otherwise read the whole text.
        for (i, byte) in text.bytes().take(KEY_BYTES_MAX).enumerate() {
            at ^= usize::from(byte);
            let unit = *self.units.get(at)?;
            if byte == 0 || label(unit) != u32::from(byte) {
                break;
            }
            at ^= offset(unit);
            if has_leaf(unit) {
                found = Some((i + 1, value(*self.units.get(at)?)));
            }
        }
        let (len, place) = found.filter(|(len, _)| text.is_char_boundary(*len))?;
        let string = self.strings.get(place..)?;
        Some((len, string.split('\0').next().unwrap_or_default()))
    }
}
