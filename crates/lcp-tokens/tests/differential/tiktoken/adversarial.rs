//! Random text made to hurt: what tokenizers were wrong about, at every place
//! where it could matter.

use lcp_testkit::SplitMix64;

/// Pieces that go together in surprising ways.
pub(super) const PIECES: &[&str] = &[
    // Contractions, and what only looks like them.
    "'s", "'S", "'ſ", "'t", "'ll", "'LL", "'lL", "'l", "'re", "'rE", "'ve", "'VE", "'m", "'d", "'x",
    "''", "'", "’s", "‘s", "ʼs", "＇s", "`s", "don't", "I'LL", "we'Ve'd", "'sſ", "\"s",
    // White space of every kind.
    " ", "  ", "   ", "\t", "\t ", " \t", "\n", "\r", "\r\n", "\n\r", "\n\n", "\n\n ", "\n \n",
    " \n", "  \r\n  ", "\u{b}", "\u{c}", "\u{85}", "\u{a0}", "\u{1680}", "\u{180e}", "\u{2003}",
    "\u{2028}", "\u{2029}", "\u{202f}", "\u{3000}", "\u{200b}", "\u{feff}", "\u{1c}", "\u{1f}",
    // Letters of either case, of both, and of none.
    "a", "B", "Ab", "aB", "ABC", "XMLHttpRequest", "é", "É", "e\u{301}", "ß", "ẞ", "İ", "ı", "ſ",
    "\u{212a}", "ǅ", "ǈe", "ʰ", "Aʰ", "ʰA", "aʰB", "ª", "ªb", "ªB", "º", "漢", "漢AB", "漢ab",
    "AB漢", "Ab漢Cd", "字かな", "カタカナ", "한글", "ไทย", "ក្មែរ", "עברית", "العربية", "ﷺ", "हिन्दी",
    "தமிழ்", "ⓐ", "Ⓐ", "𝐀𝐛", "Ꭰ", "ꭰ", "ა", "Ა", "ᾈ", "ﬀ", "𐐀𐐨", "𓀀", "ꙮ",
    // Marks, joiners, emoji.
    "\u{301}", "a\u{301}\u{302}", "A\u{301}", " \u{301}", "1\u{301}", "\n\u{301}", "\u{20dd}",
    "\u{200d}", "\u{fe0f}", "🦀", "👩‍👩‍👧", "👍🏽", "🇸🇪", "❤️", "\u{e0061}", "☃", // Numbers.
    "1", "12", "123", "1234", "123456", "٣", "٣٤٥٦", "½", "Ⅷ", "²", "①", "一", "𝟙", "1½2", "०१२३",
    "0x1F", "1e9", "3.14", "1,000", "v2", // Punctuation, code, markup.
    "/", "//", "///", "\n/", "/\n", "!", "!\n", "...", "…", "});", "};\n", "=====", "_", "-", "--",
    "#", "@", "$", "€", "\\", "\\n", "\"", "<", ">", "|", "(", ")", "{", "}", "[", "]", "`", "```",
    "<|endoftext|>", "<|im_start|>", "<|im_end|>", "<|fim_prefix|>", "<|", "|>", "getElementById",
    "snake_case_name", "    return None\n", "http://x.y/z?q=1", "aGVsbG8gd29ybGQ=", "»", "，",
    "。", // What is no text.
    "\0", "\u{7f}", "\u{80}", "\u{ad}", "\u{fffd}", "\u{ffff}", "\u{10ffff}", "\u{e000}",
    "\u{378}",
];

/// Plain text, to bring what hurts to a place.
const FILLING: &[&str] = &[
    "the ", "quick", " brown", " fox", "x", " ", "12", "7", ".", ", ", "(", "Value", "fooBar",
    " = ", ";\n", "    ", "/", "\n", "A", "ID",
];

/// What long runs are made of.
const UNITS: &[&str] = &[
    "a", "A", "aB", " ", "\t", "\n", "\r\n", " \n", "=", "-", "/", "_", "1", "'", "'s", "漢", "é",
    "\u{301}", "\u{a0}", "\u{3000}", "🦀", "\u{fffd}", "ab", "abc", "the ", "0", "😀😁", "\0",
];

const APOSTROPHES: &[&str] = &["'", "''", "’", "‘", "ʼ", "ʹ", "＇", "`", "´", "\"", "\u{2bb}"];
const BEHIND_APOSTROPHES: &[&str] = &[
    "s", "S", "ſ", "t", "T", "m", "M", "d", "D", "ll", "LL", "lL", "Ll", "l", "L", "re", "RE",
    "rE", "r", "ve", "VE", "v", "x", "é", "漢", "1", " s", "\u{301}s", "ss", "sS",
    "\u{17f}\u{17f}", "ß",
];

/// Bytes that a window of the engine looks at together.
const WINDOW: usize = 64;

/// The text with this number.
pub(super) fn text(number: usize) -> String {
    let mut random = SplitMix64::new(number as u64);
    match number % 16 {
        0..4 => some_of(&mut random, PIECES, 12),
        4..8 => at_a_place(&mut random, number / 16 % WINDOW),
        8 | 9 => few_again_and_again(&mut random),
        10 => apostrophes(&mut random),
        11 => digits(&mut random),
        12 => lossy(&mut random),
        13 => characters(&mut random, 24),
        14 => lines(&mut random),
        _ if (number / 16).is_multiple_of(8) => runs(&mut random),
        _ => mixed(&mut random),
    }
}

/// One to twelve characters.
pub(super) fn tiny(number: usize) -> String {
    let mut random = SplitMix64::new(!(number as u64));
    let text = match number % 3 {
        0 => characters(&mut random, 12),
        1 => some_of(&mut random, FILLING, 6),
        _ => some_of(&mut random, PIECES, 6),
    };
    let len = 1 + random.below(12);
    text.chars().take(len).collect()
}

/// Pieces that are less random: for the fixtures, so that they stay readable.
pub(super) fn readable(number: usize) -> String {
    let mut random = SplitMix64::new(number as u64);
    some_of(&mut random, PIECES, 9)
}

fn some_of(random: &mut SplitMix64, pieces: &[&str], most: usize) -> String {
    (0..=random.below(most)).map(|_| random.choose(pieces)).collect()
}

/// What hurts, at this place within a window, with enough behind it that the
/// window is full.
fn at_a_place(random: &mut SplitMix64, place: usize) -> String {
    let len = place + WINDOW * random.below(3);
    let mut text = String::new();
    while text.len() < len {
        text += random.choose(FILLING);
    }
    text.truncate(len);
    text += &some_of(random, PIECES, 5);
    let len = text.len() + 2 * WINDOW;
    while text.len() < len {
        let pieces = if random.below(40) == 0 { PIECES } else { FILLING };
        text += random.choose(pieces);
    }
    text
}

/// Runs and edges of the same few pieces.
fn few_again_and_again(random: &mut SplitMix64) -> String {
    let few = [random.choose(PIECES), random.choose(PIECES), random.choose(PIECES)];
    (0..8 + random.below(40)).map(|_| random.choose(&few)).collect()
}

fn apostrophes(random: &mut SplitMix64) -> String {
    let before =
        ["a", "A", "Ab", "AB", "I", "漢", "é", "ʰ", "ǅ", "1", " ", "\n", "!", "", "x\u{301}"];
    let mut text = String::new();
    for _ in 0..=random.below(6) {
        text += random.choose(&before);
        text += random.choose(APOSTROPHES);
        text += random.choose(BEHIND_APOSTROPHES);
    }
    text
}

fn digits(random: &mut SplitMix64) -> String {
    let mut text = String::new();
    for _ in 0..=random.below(5) {
        let digits = random.choose(&["0123456789", "7", "٠١٢٣٤٥", "½Ⅷ²", "1٣½", "०१२", "𝟘𝟙"]);
        let digits: Vec<char> = digits.chars().collect();
        text.extend((0..=random.below(40)).map(|_| random.choose(&digits)));
        text += random.choose(&["", " ", ".", ",", "a", "A", "_", "\n", "'s", "\u{301}", "漢"]);
    }
    text
}

/// Random bytes made lossy, the way a broken file is read.
fn lossy(random: &mut SplitMix64) -> String {
    let len = 1 + random.below(80);
    let mut bytes = random.bytes(len);
    // Half of them nearly text: whole characters, some of them cut.
    if random.below(2) == 0 {
        bytes = some_of(random, PIECES, 12).into_bytes();
        for _ in 0..=random.below(3) {
            let at = random.below(bytes.len());
            bytes[at] = random.bytes(1)[0];
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Any character, as likely one of two bytes as one of four.
fn character(random: &mut SplitMix64) -> char {
    let (from, to) =
        random.choose(&[(0, 0x80), (0x80, 0x800), (0x800, 0x1_0000), (0x1_0000, 0x11_0000)]);
    let code = from + random.below_u32(to - from);
    char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER)
}

fn characters(random: &mut SplitMix64, most: usize) -> String {
    (0..=random.below(most)).map(|_| character(random)).collect()
}

/// Lines that end in every way, and do not.
fn lines(random: &mut SplitMix64) -> String {
    let ends =
        ["\n", "\r\n", "\r", "\n\n", "\r\r\n", " \n", "\t\r\n", "\u{85}", "\u{2028}", "\u{b}", ""];
    let starts = ["", " ", "    ", "\t", "\t\t", "  /", "//", "}", "\u{a0}", "\u{3000}"];
    let mut text = String::new();
    for _ in 0..=random.below(8) {
        text += random.choose(&starts);
        let pieces = random.choose(&[FILLING, PIECES]);
        text += &some_of(random, pieces, 6);
        text += random.choose(&ends);
    }
    text
}

/// Runs of up to a thousand of the same, that stop somewhere.
fn runs(random: &mut SplitMix64) -> String {
    let mut text = some_of(random, FILLING, 4);
    for _ in 0..=random.below(3) {
        let times = random.choose(&[10, 100, 1_000]);
        text += &random.choose(UNITS).repeat(1 + random.below(times));
        text += random.choose(PIECES);
    }
    text
}

/// A little of all.
fn mixed(random: &mut SplitMix64) -> String {
    let mut text = String::new();
    for _ in 0..=random.below(4) {
        text += &match random.below(5) {
            0 => apostrophes(random),
            1 => characters(random, 4),
            2 => random.choose(UNITS).repeat(1 + random.below(80)),
            3 => some_of(random, FILLING, 20),
            _ => some_of(random, PIECES, 8),
        };
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_determined_by_its_number() {
        for number in 0..2_000 {
            let made = text(number);
            assert_eq!(made, text(number));
            assert!(!made.is_empty(), "{number}");
            let letters = tiny(number).chars().count();
            assert!((1..=12).contains(&letters), "{number}: {letters}");
        }
    }

    /// What hurts begins at every place of a window, and every piece does.
    #[test]
    fn texts_cover_every_piece_and_window_offset() {
        let (mut places, mut pieces) = (0u64, vec![0u64; PIECES.len()]);
        for number in (0..160_000).filter(|number| matches!(number % 16, 4..8)) {
            let made = text(number);
            let place = number / 16 % WINDOW;
            for (piece, pieces) in PIECES.iter().zip(&mut pieces) {
                let begins = |window| made.get(place + window * WINDOW..);
                let found = (0..3).filter_map(begins).any(|rest| rest.starts_with(piece));
                *pieces |= u64::from(found) << place;
            }
        }
        for (piece, found) in PIECES.iter().zip(&pieces) {
            assert!(found.count_ones() > 32, "{piece:?} is at {} places only", found.count_ones());
            places |= found;
        }
        assert_eq!(places, u64::MAX);
    }
}
