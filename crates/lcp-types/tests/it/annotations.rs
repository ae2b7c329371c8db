//! Annotations and tags: printed, parsed, and what is no priority or tag.

use lcp_types::{Annotation, AnnotationKind, CowBytes, Priority, Tag};
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
fn the_registered_keys_are_those_of_the_format() {
    let keys = [Tag::CATEGORY, Tag::RANK, Tag::ANCHORS, Tag::PINNED, Tag::TOOL_CALL_ID, Tag::ARGS];
    assert_eq!(keys, ["category", "rank", "anchors", "pinned", "tool_call_id", "args"]);
}

proptest! {
    #[test]
    fn printing_a_parsed_tag_gives_the_text_back(text in any::<String>()) {
        prop_assert_eq!(Tag::parse(&text).to_string(), text);
    }

    #[test]
    fn parsing_a_printed_tag_gives_the_tag_back(
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
    fn a_tag_annotation_gives_its_tag_back(target in any::<u64>(), text in any::<String>()) {
        let annotation = Annotation::tag(target, &Tag::parse(&text));
        prop_assert_eq!(annotation.target_block_id, target);
        prop_assert_eq!(annotation.as_tag(), Some(Tag::parse(&text)));
        prop_assert_eq!(annotation.as_priority(), None);
    }
}

#[test]
fn a_priority_annotation_is_one_byte() {
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
fn bad_values_are_no_priority() {
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
fn a_tag_that_is_not_utf8_is_none() {
    let mut annotation = Annotation::tag(0, &Tag::from_key("pinned"));
    annotation.value = vec![b'a', 0xFF].into();
    assert_eq!(annotation.as_tag(), None);
}

#[test]
fn a_summary_annotation_holds_the_text() {
    let annotation = Annotation::summary(3, "what it does");
    assert_eq!((annotation.target_block_id, annotation.kind), (3, AnnotationKind::Summary));
    assert_eq!(annotation.value.as_str(), Some("what it does"));
}
