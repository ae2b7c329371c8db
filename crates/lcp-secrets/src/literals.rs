//! The search for the literals of all rules.

use std::ops::Range;

use crate::rules::RULES;

/// The number of bytes that are read at once.
const WINDOW: usize = 8;

/// The number of positions in a window that are tested at once, each with two bytes after it.
const STEP: usize = WINDOW - 2;

/// The bits of a [`pair`], and the number of its values.
const PAIR: u64 = 0xFFF;
const PAIRS: usize = 1 << 12;

/// The literals of all rules, with a filter of their first three bytes.
///
/// An automaton of all literals is half as fast, because each of its states depends on the last one.
/// The filter tests several positions at once.
pub(crate) struct Literals {
    /// For each [`pair`] of bytes that literals begin with, the low six bits of the bytes after it,
    /// as a set. These 32 KiB fit into the first cache of a core.
    prefixes: Box<[u64; PAIRS]>,
    /// The literals in the order of their pairs.
    all: Vec<Literal>,
    /// The position of the first literal of each pair.
    first: Box<[u16; PAIRS + 1]>,
}

struct Literal {
    bytes: &'static [u8],
    /// The first eight bytes, and the bits that are part of the literal.
    start: u64,
    mask: u64,
    rule: usize,
    /// `true` if the secret can begin before the literal.
    has_lead: bool,
}

impl Literals {
    pub(crate) fn new() -> Self {
        let mut prefixes = table::<u64, PAIRS>();
        let mut literals = Vec::new();
        for (rule, of) in RULES.iter().enumerate() {
            for bytes in of.literals.iter().map(|literal| literal.as_bytes()) {
                let start = window(bytes);
                // Any byte can follow a literal of two bytes.
                prefixes[pair(start)] |= bytes.get(2).map_or(u64::MAX, |third| 1 << (third & 63));
                let has_lead = of.lead.is_some();
                let mask = window(&[u8::MAX; WINDOW][..bytes.len().min(WINDOW)]);
                literals.push(Literal { bytes, start, mask, rule, has_lead });
            }
        }
        literals.sort_by_key(|literal| pair(literal.start));
        let mut first = table::<u16, { PAIRS + 1 }>();
        for literal in &literals {
            first[pair(literal.start) + 1] += 1;
        }
        for at in 0..PAIRS {
            first[at + 1] += first[at];
        }
        Self { prefixes, all: literals, first }
    }

    /// Calls `visit` with the position of the rule and the place of each literal in a text, if a
    /// secret can begin there.
    pub(crate) fn find(&self, text: &[u8], visit: &mut impl FnMut(usize, Range<usize>)) {
        for start in (0..text.len()).step_by(STEP) {
            let mut candidates = self.candidates(window(&text[start..]));
            while candidates != 0 {
                let at = start + candidates.trailing_zeros() as usize;
                candidates &= candidates - 1;
                self.find_at(text, at, visit);
            }
        }
    }

    /// Returns a bit for each position in a window at which a literal may begin.
    #[inline]
    fn candidates(&self, window: u64) -> u64 {
        let (even, odd) = (pairs(window), pairs(window >> 8));
        let mut candidates = 0;
        for at in 0..STEP {
            let pairs = if at % 2 == 0 { even } else { odd };
            let pair = (pairs >> (8 * (at & !1)) & PAIR) as usize;
            let third = window >> (8 * (at + 2)) & 63;
            candidates |= u64::from(self.prefixes[pair] & 1 << third != 0) << at;
        }
        candidates
    }

    fn find_at(&self, text: &[u8], at: usize, visit: &mut impl FnMut(usize, Range<usize>)) {
        let rest = &text[at..];
        let window = window(rest);
        let pair = pair(window);
        let literals = usize::from(self.first[pair])..usize::from(self.first[pair + 1]);
        for literal in &self.all[literals] {
            if window & literal.mask == literal.start
                && (literal.has_lead || is_boundary_before(text, at))
                && (literal.bytes.len() <= WINDOW || rest.starts_with(literal.bytes))
            {
                visit(literal.rule, at..at + literal.bytes.len());
            }
        }
    }
}

/// Returns zeros.
#[expect(clippy::unnecessary_box_returns, reason = "the table is too large for the stack")]
fn table<T: Clone + Default, const LEN: usize>() -> Box<[T; LEN]> {
    let table: Result<_, _> = vec![T::default(); LEN].try_into();
    table.unwrap_or_else(|_| unreachable!("the length is the same"))
}

/// Returns the first bytes of a text, with zeros after its end. Literals have no zeros.
#[inline]
fn window(text: &[u8]) -> u64 {
    u64::from_le_bytes(text.first_chunk().copied().unwrap_or_else(|| {
        let mut window = [0; WINDOW];
        window[..text.len()].copy_from_slice(text);
        window
    }))
}

/// Returns the low six bits of the bytes at 0 and 1, of those at 2 and 3, and so on, each as a number
/// in two bytes. Six bits tell letters and digits apart, except for digits from the letters p to y.
#[inline]
fn pairs(window: u64) -> u64 {
    const FIRST: u64 = 0x003F_003F_003F_003F;
    window & FIRST | window >> 2 & (FIRST << 6)
}

/// Returns the low six bits of the first two bytes.
#[inline]
fn pair(window: u64) -> usize {
    (pairs(window) & PAIR) as usize
}

/// Returns whether a secret can begin at `at`: the byte before is not a letter or digit, or is the
/// end of an escape such as `\n` or `%3D`.
pub(crate) fn is_boundary_before(text: &[u8], at: usize) -> bool {
    match &text[..at] {
        [.., b'\\', b'n' | b'r' | b't'] | [] => true,
        [.., b'%', high, low] if high.is_ascii_hexdigit() && low.is_ascii_hexdigit() => true,
        [.., before] => !before.is_ascii_alphanumeric(),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Returns a text of literals, parts of them and other bytes.
    fn texts() -> impl Strategy<Value = Vec<u8>> {
        let literals = RULES.iter().flat_map(|rule| rule.literals).copied().collect::<Vec<_>>();
        let literal = (prop::sample::select(literals), 0_usize..9)
            .prop_map(|(literal, cut)| literal.as_bytes()[cut.min(literal.len() - 2)..].to_vec());
        let other = prop::sample::select(vec!["", " ", "x", "\\n", "%3D", "7", "é", "\0"])
            .prop_map(|text| text.as_bytes().to_vec());
        prop::collection::vec(prop_oneof![literal, other], 0..8).prop_map(|parts| parts.concat())
    }

    proptest! {
        #[test]
        fn all_literals_are_found(text in texts()) {
            let mut found = Vec::new();
            Literals::new().find(&text, &mut |rule, range| found.push((range.start, rule, range.end)));
            let mut expected = Vec::new();
            for (at, rule) in RULES.iter().enumerate() {
                for literal in rule.literals {
                    let starts = (0..text.len()).filter(|start| {
                        text[*start..].starts_with(literal.as_bytes())
                            && (rule.lead.is_some() || is_boundary_before(&text, *start))
                    });
                    expected.extend(starts.map(|start| (start, at, start + literal.len())));
                }
            }
            found.sort_unstable();
            expected.sort_unstable();
            prop_assert_eq!(found, expected);
        }
    }
}
