//! Tests of the order of rules and of their annotations.

use super::*;

fn rule(glob: &str, attributes: BlockAttributes) -> Rule {
    Rule { pattern: Pattern::parse(glob).unwrap(), attributes }
}

#[test]
fn last_matching_rule_wins_for_each_attribute() {
    let category =
        BlockAttributes { category: Some("docs".to_owned()), ..BlockAttributes::default() };
    let both = BlockAttributes { rank: Some(2.0), ..BlockAttributes::with_priority(Priority::Low) };
    let rules = [
        rule("*.md", both),
        rule("docs/", category),
        rule("docs/a.md", BlockAttributes::with_priority(Priority::Critical)),
    ];
    let rules = Rules::new(rules.into(), false).unwrap();
    let attributes = rules.attributes(
        "docs/a.md",
        FileInfo { changed: true, generated: Some(true), ..FileInfo::default() },
    );
    assert_eq!(attributes.priority, Some(Priority::Critical));
    assert_eq!((attributes.category.as_deref(), attributes.rank), (Some("docs"), Some(2.0)));
    assert!(rules.attributes("src/a.rs", FileInfo::default()).is_empty());
}

#[test]
fn built_in_rules_set_priority_by_path() {
    let rules = Rules::new(Vec::new(), true).unwrap();
    let of = |label| rules.attributes(label, FileInfo::default()).priority;
    let all = [
        (Priority::High, ["README.md", "a/README", "crates/x/Readme.rst"]),
        (Priority::Low, ["tests/it/main.rs", "a/b_test.go", "LICENSE-MIT"]),
        (Priority::Background, ["Cargo.lock", "web/package-lock.json", "vendor/a/README.md"]),
    ];
    for (priority, labels) in all {
        for label in labels {
            assert_eq!(of(label), Some(priority), "{label}");
        }
    }
    for label in ["src/main.rs", "latest/a.rs", "contest.py", "tests"] {
        assert_eq!(of(label), None, "{label}");
    }
}

#[test]
fn changed_files_are_high_unless_generated() {
    let rules = Rules::new(Vec::new(), true).unwrap();
    let changed = FileInfo { changed: true, ..FileInfo::default() };
    let of = |label, info| rules.attributes(label, info).priority;
    assert_eq!(of("src/a.rs", changed), Some(Priority::High));
    assert_eq!(of("tests/a.rs", changed), Some(Priority::High));
    assert_eq!(of("Cargo.lock", changed), Some(Priority::Background));
    let generated = FileInfo { changed: true, generated: Some(true), ..FileInfo::default() };
    assert_eq!(of("src/a.rs", generated), Some(Priority::Background));
}

#[test]
fn attributes_become_minimal_annotations() {
    assert!(BlockAttributes::with_priority(Priority::Normal).to_annotations(0).is_empty());
    let attributes = BlockAttributes {
        priority: Some(Priority::Low),
        category: Some("open_files".to_owned()),
        rank: Some(0.5),
        pinned: Some(true),
    };
    let annotations = attributes.to_annotations(3);
    let tags: Vec<_> = annotations.iter().filter_map(|of| Some(of.as_tag()?.to_string())).collect();
    assert_eq!(annotations[0].as_priority(), Some(Priority::Low));
    assert_eq!(tags, ["category=open_files", "rank=0.5", "pinned"]);
    assert!(annotations.iter().all(|of| of.target_block_id == 3));
}
