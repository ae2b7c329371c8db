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
