//! Annotations and tags: printed, parsed, and what is no priority or tag.

use lcp_types::limits::{PASSAGES_MAX, REASONS_MAX};
use lcp_types::{
    Annotation, AnnotationErrorKind, AnnotationKind, Block, BlockIndex, BlockMeta, CowBytes,
    Passage, Priority, Role, Tag,
};
use proptest::prelude::*;

#[test]
fn tags_split_at_the_first_equals_sign() {
    let rows = [
        ("category=tool_results", "category", Some("tool_results")),
        ("rank=0.83", "rank", Some("0.83")),
        ("pinned", "pinned", None),
        ("args=a=b", "args", Some("a=b")),
        ("rank=", "rank", Some("")),
        ("=x", "", Some("x")),
        ("", "", None),
        ("clé=ünïcode\n", "clé", Some("ünïcode\n")),
    ];
    for (text, key, value) in rows {
        let tag = Tag::parse(text);
        assert_eq!((tag.key.as_ref(), tag.value.as_deref()), (key, value), "{text:?}");
        assert_eq!(tag.to_string(), text);
    }
}

#[test]
fn registered_tag_keys_match_the_format() {
    let keys = [Tag::CATEGORY, Tag::RANK, Tag::ANCHORS, Tag::PINNED, Tag::TOOL_CALL_ID, Tag::ARGS];
    assert_eq!(keys, ["category", "rank", "anchors", "pinned", "tool_call_id", "args"]);
}

proptest! {
    #[test]
    fn parsed_tag_prints_its_original_text(text in any::<String>()) {
        prop_assert_eq!(Tag::parse(&text).to_string(), text);
    }

    #[test]
    fn printed_tag_parses_to_the_same_tag(
        key in "[^=]*",
        value in proptest::option::of(any::<String>()),
    ) {
        let tag = match value {
            Some(value) => Tag::new(key, value),
            None => Tag::from_key(key),
        };
        let text = tag.to_string();
        prop_assert_eq!(Tag::parse(&text), tag);
    }

    #[test]
    fn tag_annotation_returns_its_tag(target in any::<u64>(), text in any::<String>()) {
        let annotation = Annotation::tag(target, &Tag::parse(&text));
        prop_assert_eq!(annotation.target_block_id, target);
        prop_assert_eq!(annotation.as_tag(), Some(Tag::parse(&text)));
        prop_assert_eq!(annotation.as_priority(), None);
    }
}

#[test]
fn priority_annotation_is_one_byte() {
    for priority in Priority::ALL {
        let annotation = Annotation::priority(7, priority);
        assert_eq!(annotation.target_block_id, 7);
        assert_eq!(annotation.kind, AnnotationKind::Priority);
        assert_eq!(annotation.value.as_slice(), [priority.code()]);
        assert_eq!(annotation.as_priority(), Some(priority));
        assert_eq!(annotation.as_tag(), None);
    }
}

#[test]
fn invalid_values_have_no_priority() {
    for value in [&[][..], &[0], &[6], &[0xFF], &[2, 2]] {
        let mut annotation = Annotation::priority(0, Priority::High);
        annotation.value = CowBytes::from(value);
        assert_eq!(annotation.as_priority(), None, "{value:?}");
    }
    let mut summary = Annotation::summary(0, "\u{2}");
    assert_eq!(summary.as_priority(), None, "another kind");
    summary.kind = AnnotationKind::Other(9);
    assert_eq!((summary.as_priority(), summary.as_tag()), (None, None));
}

#[test]
fn non_utf8_tag_annotation_has_no_tag() {
    let mut annotation = Annotation::tag(0, &Tag::from_key("pinned"));
    annotation.value = vec![b'a', 0xFF].into();
    assert_eq!(annotation.as_tag(), None);
}

#[test]
fn summary_annotation_holds_its_text() {
    let annotation = Annotation::summary(3, "what it does");
    assert_eq!((annotation.target_block_id, annotation.kind), (3, AnnotationKind::Summary));
    assert_eq!(annotation.value.as_str(), Some("what it does"));
}

#[test]
fn passages_of_an_invalid_tag_are_refused() {
    let list = |count: usize| {
        let item = |at: usize| format!("{}-{}:1", 2 * at + 1, 2 * at + 2);
        (0..count).map(item).collect::<Vec<_>>().join(" ")
    };
    for (text, count) in [("1-1:1", 1), ("1-4294967295:1000", 1), ("3-4:9 5-5:8 9-12:7", 3)] {
        let passages = Passage::parse_list(text).unwrap();
        assert_eq!((passages.len(), Passage::format_list(&passages).as_str()), (count, text));
    }
    assert_eq!(Passage::parse_list(&list(PASSAGES_MAX)).map(|all| all.len()), Some(PASSAGES_MAX));
    let too_many = list(PASSAGES_MAX + 1);
    for text in [
        "", " ", "1-1", "1:5", "0-1:5", "2-1:5", "1-1:0", "1-1:1001", "1-1:+5", "-1-1:5", "1-1:5 ",
        "1-1:5  2-2:5", "1-3:5 3-4:5", "5-6:5 1-2:5", "1-4294967296:5", "a-b:c", &too_many,
    ] {
        assert_eq!(Passage::parse_list(text), None, "{text:.40}");
    }
}

proptest! {
    #[test]
    fn formatted_passages_parse_to_the_same_ones(
        of in proptest::collection::vec((1u32..1_000, 0u32..1_000, 1u16..=1_000), 1..40),
    ) {
        let mut end = 0;
        let passages: Vec<_> = of.into_iter().map(|(gap, more, score)| {
            let first = end + gap;
            end = first + more;
            Passage { first, last: end, score }
        }).collect();
        prop_assert_eq!(Passage::parse_list(&Passage::format_list(&passages)), Some(passages));
    }

    #[test]
    fn parsed_passages_print_their_text(text in "[0-9: -]{0,30}") {
        if let Some(passages) = Passage::parse_list(&text) {
            let again = Passage::format_list(&passages);
            prop_assert_eq!(Passage::parse_list(&again), Some(passages));
        }
    }
}

/// The last valid list of passages wins; all reasons remain, in order.
#[test]
fn passages_and_reasons_reach_the_metadata() {
    let tag = |text: &str| Block::new(Annotation::tag(0, &Tag::parse(text)));
    let mut blocks = vec![Block::conversation(Role::User, "hi")];
    let tags =
        ["passages=1-2:5", "reason=b", "passages=1-1:7", "passages=x", "reason=", "reason=a"];
    blocks.extend(tags.map(tag));
    let mut problems = Vec::new();
    let metas = BlockMeta::resolve_all(&blocks, &mut |at, error| problems.push((at, error.kind)));
    assert_eq!(metas[0].passages, [Passage { first: 1, last: 1, score: 7 }]);
    assert_eq!(metas[0].reasons, ["b", "a"]);
    let kind = AnnotationErrorKind::BadValue;
    assert_eq!(problems, [(4, kind), (5, kind)]);
    assert_eq!(BlockIndex::from_blocks(&blocks).passages, [0]);
    blocks.extend((0..2 * REASONS_MAX).map(|_| tag("reason=c")));
    let metas = BlockMeta::resolve_all(&blocks, &mut |_, _| {});
    assert_eq!(metas[0].reasons.len(), REASONS_MAX);
}
