//! What holds of every outline.

use std::path::Path;

use lcp_ingest::outline::{InputKind, MARKER, OutlineOptions, outline};
use lcp_testkit::{SplitMix64, files_in};
use lcp_types::Lang;
use proptest::prelude::*;

/// Each kind with a sample of it.
const SAMPLES: &[(InputKind, &str)] = &[
    (InputKind::Code(Lang::Rust), include_str!("samples/shapes.rs")),
    (InputKind::Code(Lang::Python), include_str!("samples/queue.py")),
    (InputKind::Code(Lang::TypeScript), include_str!("samples/store.ts")),
    (InputKind::Code(Lang::TypeScript), include_str!("samples/view.tsx")),
    (InputKind::Code(Lang::JavaScript), include_str!("samples/server.jsx")),
    (InputKind::Code(Lang::Go), include_str!("samples/cache.go")),
    (InputKind::Code(Lang::Java), include_str!("samples/Account.java")),
    (InputKind::Code(Lang::C), include_str!("samples/ring.h")),
    (InputKind::Code(Lang::Cpp), include_str!("samples/graph.cpp")),
    (InputKind::TaggedCode("csharp"), include_str!("samples/Orders.cs")),
    (InputKind::TaggedCode("kotlin"), include_str!("samples/Feed.kt")),
    (InputKind::Document, include_str!("samples/guide.md")),
    (InputKind::Text, include_str!("samples/cache.go")),
];

fn any_kind() -> impl Strategy<Value = InputKind> {
    (0..SAMPLES.len()).prop_map(|at| SAMPLES[at].0)
}

/// Checks the outline of a text: lines of it or the start of lines, in order, with
/// markers, and as small as it must be.
fn check(kind: InputKind, text: &str, options: &OutlineOptions) {
    let Some(outline) = outline(kind, text, options) else { return };
    assert!(!outline.is_empty() && !outline.ends_with('\n'), "{kind:?}");
    assert!(outline.len() <= options.bytes_max, "{kind:?}: {} bytes", outline.len());
    assert!(outline.len() * 100 <= text.len() * usize::from(options.percent_max), "{kind:?}");
    let mut source = text.split('\n');
    for line in outline.split('\n') {
        let bare = line.strip_suffix(MARKER).unwrap_or(line).trim_end();
        let is_marker = bare.is_empty() || bare.starts_with(MARKER);
        // Its place, else the marker was part of the line.
        let found = is_marker || source.any(|source| source.starts_with(bare));
        assert!(found, "{kind:?}: {line:?} is no line of the text, or not in order");
    }
    assert_eq!(Some(outline), lcp_ingest::outline::outline(kind, text, options), "the same again");
}

fn loose() -> OutlineOptions {
    OutlineOptions { percent_max: 100, ..OutlineOptions::default() }
}

#[test]
fn outline_is_valid_for_truncated_samples() {
    for (kind, text) in SAMPLES {
        check(*kind, text, &OutlineOptions::default());
        let cuts = (0..text.len()).filter(|at| text.is_char_boundary(*at)).step_by(7);
        cuts.for_each(|at| check(*kind, &text[..at], &loose()));
    }
}

#[test]
fn outline_is_valid_for_samples_with_changed_bytes() {
    let mut random = SplitMix64::new(7);
    for (kind, text) in SAMPLES {
        for _ in 0..60 {
            let mut bytes = text.as_bytes().to_vec();
            for _ in 0..4 {
                let at = random.below(bytes.len());
                bytes[at] = random.next_u64().to_le_bytes()[0];
            }
            check(*kind, &String::from_utf8_lossy(&bytes), &loose());
        }
    }
}

#[test]
fn outline_respects_small_byte_limits() {
    for (kind, text) in SAMPLES {
        for bytes_max in (0..300).step_by(3) {
            check(*kind, text, &OutlineOptions { bytes_max, ..loose() });
        }
    }
}

#[test]
fn outline_is_valid_for_samples_parsed_as_other_kinds() {
    for (kind, _) in SAMPLES {
        for (_, text) in SAMPLES {
            check(*kind, text, &loose());
        }
    }
}

#[test]
fn outline_is_valid_for_repeated_openers() {
    let patterns = [
        "(", "[", "{", "a<", "A<", "a=>", "r#\"", "`${", "/*", "class A { ", "fn a() {", "#if A\n",
        "a?", "\"", "\"\"\"", "R\"x(", "::a", "a\n", "\0", "<a>", "@a\n", "\\\n", "# a\n", "a. ",
    ];
    for (kind, _) in SAMPLES {
        for pattern in patterns {
            check(*kind, &pattern.repeat(6_000 / pattern.len()), &loose());
        }
    }
}

#[test]
fn outline_is_valid_for_real_sources() {
    // Those of this workspace are there wherever the tests are.
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let home = std::env::var_os("CARGO_HOME").map_or_else(
        || std::env::home_dir().unwrap_or_default().join(".cargo"),
        std::path::PathBuf::from,
    );
    let mut files = files_in(&crates, 60_000).unwrap();
    // What is not there is not tried.
    let others = files_in(&home.join("registry/src"), 60_000).unwrap_or_default();
    files.extend(others.into_iter().step_by(101));
    let mut bytes = 0;
    for path in files {
        let kind = match path.extension().and_then(|ending| ending.to_str()) {
            Some("rs") => InputKind::Code(Lang::Rust),
            Some("c" | "h") => InputKind::Code(Lang::C),
            Some("cpp" | "cc") => InputKind::Code(Lang::Cpp),
            Some("py") => InputKind::Code(Lang::Python),
            Some("cs") => InputKind::TaggedCode("csharp"),
            Some("kt") => InputKind::TaggedCode("kotlin"),
            Some("js") => InputKind::Code(Lang::JavaScript),
            Some("md") => InputKind::Document,
            _ => continue,
        };
        let Ok(text) = std::fs::read_to_string(&path) else { continue };
        bytes += text.len();
        if bytes > 3 << 20 {
            break;
        }
        check(kind, &text, &OutlineOptions::default());
    }
    assert!(bytes > 100_000, "there are sources to try");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn outline_is_valid_for_any_text(
        kind in any_kind(),
        lines in proptest::collection::vec("\\PC{8,40}", 1..60),
    ) {
        let text = lines.join("\n");
        check(kind, &text, &loose());
        // 20 lines and a marker are smaller than a text of 24 lines, so it must have an outline.
        let has_outline = outline(kind, &text, &loose()).is_some();
        prop_assert!(has_outline || lines.len() < 24);
    }

    #[test]
    fn outline_is_valid_for_any_bytes(kind in any_kind(), bytes in proptest::collection::vec(any::<u8>(), 0..600)) {
        check(kind, &String::from_utf8_lossy(&bytes), &loose());
    }

    #[test]
    fn outline_is_valid_for_random_punctuation(kind in any_kind(), text in "[ \t\r\n#`~=\\-…a.(){}<>;:/*\"']{0,300}") {
        check(kind, &text, &loose());
    }
}
