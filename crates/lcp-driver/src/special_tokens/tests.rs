use lcp_types::{Annotation, DiffHunk, FileEntry, FormatHint, Lang, MediaType, Role, Status, Tag};
use proptest::prelude::*;

use super::*;

fn tokens_in(text: &str) -> Vec<&str> {
    find(text).map(|at| &text[at]).collect()
}

#[test]
fn names_between_bars_are_special_tokens() {
    let most = format!("<|{}|>", "a".repeat(64));
    for token in [
        "<|im_start|>", "<|endoftext|>", "<|reserved_special_token_0|>", "<|a.b-C|>",
        "<|/tool_call|>", "<｜begin▁of▁sentence｜>", "<|fim▁hole|>", &most,
    ] {
        assert_eq!(tokens_in(token), [token]);
        assert_eq!(tokens_in(&format!("<{token}{token}>")), [token, token]);
    }
    let longer = format!("<|{}|>", "a".repeat(65));
    let low = format!("<|{}|>", WORD_SEPARATOR.repeat(65));
    for text in [
        "<||>", "<|a b|>", "<|a", "<|a|", "<|a｜>", "<｜a|>", "< |a|>", "<|ä|>", "<|a\n|>", "|a|>",
        &longer, &low, "<", "[", "",
    ] {
        assert_eq!(tokens_in(text), [""; 0], "{text}");
    }
    // Text that is not a token may contain one. A token may also begin where text that looks like a
    // token ends.
    assert_eq!(tokens_in("<|a<|b|>"), ["<|b|>"]);
    assert_eq!(tokens_in("<|a|b|>"), [""; 0]);
}

#[test]
fn known_tokens_are_special_tokens() {
    for word in KNOWN_TOKENS {
        assert_eq!(tokens_in(&format!("x{word}{word}")), [word, word]);
    }
    assert_eq!(tokens_in("<S> <s/> [inst] <SYS> <<sys>> <ss>"), [""; 0]);
    assert_eq!(tokens_in("<<s>>[[INST]]"), ["<s>", "[INST]"]);
}

/// Checks that every text of a block of every type is searched, and no other bytes.
#[test]
fn every_text_field_of_a_block_is_searched() {
    let t = "<s>";
    let data = vec![b'<', b's', b'>'];
    let tree =
        FileEntry::directory(t, vec![FileEntry::file(t, 1), FileEntry::directory(t, vec![])]);
    let cases = [
        (Block::code(Lang::Rust, t, t).with_summary(t), 3),
        (Block::conversation_with_call(Role::User, t, t), 2),
        (Block::file_tree(t, vec![tree]), 4),
        (Block::tool_result(t, Status::Ok, t), 2),
        (Block::document(t, t, FormatHint::Plain), 2),
        (Block::structured_data(lcp_types::DataFormat::Json, t), 1),
        (Block::diff(t, vec![DiffHunk::new(1, 1, "+<s>\n"), DiffHunk::new(3, 3, "\u{1}<s>")]), 3),
        (Block::embedding_ref(t, data.clone(), t), 2),
        (Block::image(MediaType::Png, t, data.clone()), 1),
        (Block::extension(t, t, t), 3),
        (Block::new(lcp_types::CarriedLevel::Detailed.to_extension(0, t)), 1),
        (Block::new(Annotation::tag(0, &Tag::new("tool_call_id", t))), 1),
        (Block::raw(0x42, data), 0),
    ];
    for (block, count) in cases {
        let mut blocks = [block.clone()];
        assert_eq!(find_in_blocks(&blocks).count, count, "{block:?}");
        assert_eq!(escape(&mut blocks).count, count);
        assert_eq!(find_in_blocks(&blocks), Occurrences::default());
        assert_eq!(blocks == [block], count == 0);
    }
}

#[test]
fn escape_leaves_invalid_utf8_bytes_unchanged() {
    let mut blocks = [Block::conversation(Role::User, b"\xff<s>\xfe".as_slice())];
    assert_eq!(escape(&mut blocks).first, Some((0, "<s>".to_owned())));
    assert_eq!(blocks, [Block::conversation(Role::User, b"\xff< s>\xfe".as_slice())]);
}

fn any_text() -> impl Strategy<Value = String> {
    let pieces = [
        "<", "|", "｜", "s", ">", "/", "im_start", "▁", "[", "]", "INST", ":", "<|", "|>", " ", "é",
    ];
    prop::collection::vec(prop::sample::select(pieces.to_vec()), 0..24).prop_map(|of| of.concat())
}

proptest! {
    /// Checks that each token gets one space, that no other byte changes, and that the result has
    /// no token.
    #[test]
    fn escape_is_idempotent_and_adds_one_space_per_token(text in any_text()) {
        let mut blocks = [Block::conversation(Role::User, text.clone())];
        let expected = find(&text).count();
        let found = escape(&mut blocks);
        prop_assert_eq!(found.count, expected);
        let neutral = blocks[0].content.text().unwrap().as_str().unwrap().to_owned();
        prop_assert_eq!(find(&neutral).count(), 0);
        prop_assert_eq!(neutral.len(), text.len() + expected);
        prop_assert_eq!(neutral.replace(' ', ""), text.replace(' ', ""));
        let once = blocks.clone();
        prop_assert_eq!(escape(&mut blocks), Occurrences::default());
        prop_assert_eq!(blocks, once);
    }

    /// Compares the finder with a search that tries every part of the text.
    #[test]
    fn find_matches_a_brute_force_search(text in any_text()) {
        let places: Vec<_> = find(&text).collect();
        let is_special = |part: &str| {
            let name = |bar: &str| {
                part.strip_prefix('<')?.strip_prefix(bar)?.strip_suffix('>')?.strip_suffix(bar)
            };
            let of_name = |c: char| c.is_ascii_alphanumeric() || "_.-/:▁".contains(c);
            let is_name = |name: &str| {
                (1..=64).contains(&name.chars().count()) && name.chars().all(of_name)
            };
            KNOWN_TOKENS.contains(&part) || DELIMITERS.iter().any(|bar| name(bar).is_some_and(is_name))
        };
        let mut expected = Vec::new();
        for start in (0..text.len()).filter(|at| text.is_char_boundary(*at)) {
            let ends = (start + 1..=text.len()).filter(|at| text.is_char_boundary(*at));
            expected.extend(ends.map(|end| start..end).filter(|at| is_special(&text[at.clone()])));
        }
        prop_assert_eq!(places, expected);
    }
}
