//! Tests of types by names, first lines and beginnings of files.

use super::*;

#[test]
fn detect_uses_the_name_then_the_first_line() {
    let of = |label, text: &str| FileType::detect(label, text.as_bytes());
    let code = |lang| Code(lang);
    assert_eq!(of("src/main.rs", ""), code(Lang::Rust));
    assert_eq!(of("A.PY", "#!/bin/sh"), code(Lang::Python));
    assert_eq!(of("Cargo.toml", ""), code(Lang::Toml));
    assert_eq!(of("Cargo.lock", ""), code(Lang::Toml));
    assert_eq!(of("data/a.csv", "a,b\n"), Data(DataFormat::Csv));
    assert_eq!(of("x/CMakeLists.txt", ""), code(Lang::Unknown));
    assert_eq!(of("notes.txt", ""), Document(FormatHint::Plain));
    assert_eq!(of("docs/a.md", ""), Document(FormatHint::Markdown));
    assert_eq!(of("LICENSE-MIT", ""), Document(FormatHint::Plain));
    assert_eq!(of("LICENSES", ""), code(Lang::Unknown));
    assert_eq!(of("logo.svg", "<svg/>"), Image(MediaType::Svg));
    assert_eq!(of("run", "#!/bin/bash\n"), code(Lang::Shell));
    assert_eq!(of("run", "#! /usr/bin/env -S A=1 python3.12 -u\n"), code(Lang::Python));
    assert_eq!(of("run", "#!/usr/bin/perl\n"), code(Lang::Unknown));
    for text in ["", "#!", "#!\n", "#! /usr/bin/env", "#!\u{fffd}"] {
        assert_eq!(of("run", text), code(Lang::Unknown));
    }
}

#[test]
fn type_names_are_unique() {
    let mut all: Vec<_> = EXTENSIONS.iter().flat_map(|(_, names)| *names).copied().collect();
    all.extend(NAMES.iter().flat_map(|(_, names)| *names));
    all.extend(INTERPRETERS.iter().flat_map(|(_, names)| *names).map(|name| match *name {
        // The name is an extension as well, of the same language.
        "sh" | "bash" | "zsh" | "ksh" | "dash" | "bats" | "tsx" => "",
        name => name,
    }));
    all.retain(|name| !name.is_empty());
    let before = all.len();
    all.sort_unstable();
    all.dedup();
    assert_eq!(all.len(), before);
}

#[test]
fn image_type_must_match_the_first_bytes() {
    assert!(Image(MediaType::Png).matches_image(b"\x89PNG\r\n\x1a\n..."));
    assert!(Image(MediaType::Webp).matches_image(b"RIFF....WEBPVP8 "));
    assert!(Image(MediaType::Svg).matches_image(b"<?xml?>\n<svg xmlns=''/>"));
    for media in MediaType::ALL {
        assert!(!Image(*media).matches_image(b""), "{media}");
        assert!(!Image(*media).matches_image(b"text"), "{media}");
    }
}

#[test]
fn generated_marker_counts_only_near_the_top() {
    let go = format!("// Code {} by x. DO NOT EDIT.\n", "generated");
    assert!(is_generated(go.as_bytes()));
    assert!(is_generated(format!("# {}generated\n", '@').as_bytes()));
    assert!(!is_generated(("a\n".repeat(30) + &go).as_bytes()));
    assert!(!is_generated(b"DO NOT EDIT this by hand"));
    assert!(!is_generated(b""));
}

#[test]
fn very_long_lines_mean_minified() {
    assert!(is_minified("x".repeat(5_000).as_bytes()));
    assert!(!is_minified("let x = 1;\n".repeat(1_000).as_bytes()));
    assert!(!is_minified("x".repeat(1_500).as_bytes()));
    assert!(!is_minified(b""));
}
