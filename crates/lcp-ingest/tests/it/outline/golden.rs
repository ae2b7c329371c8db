//! What is kept of a file in each language.

use expect_test::{ExpectFile, expect_file};
use lcp_ingest::outline::{InputKind, OutlineOptions, outline};
use lcp_types::Lang;

fn check(kind: InputKind, text: &str, expected: &ExpectFile) {
    // What is kept is looked at here, not whether it is small enough.
    let options = OutlineOptions { percent_max: 100, ..OutlineOptions::default() };
    let outline = outline(kind, text, &options).unwrap_or_default();
    expected.assert_eq(&format!("{outline}\n"));
}

macro_rules! golden {
    ($($name:ident: $kind:expr, $file:literal;)*) => {$(
        #[test]
        fn $name() {
            let text = include_str!(concat!("samples/", $file));
            check($kind, text, &expect_file![concat!("samples/", $file, ".outline")]);
        }
    )*};
}

golden! {
    rust: InputKind::Code(Lang::Rust), "shapes.rs";
    python: InputKind::Code(Lang::Python), "queue.py";
    typescript: InputKind::Code(Lang::TypeScript), "store.ts";
    tsx: InputKind::Code(Lang::TypeScript), "view.tsx";
    javascript: InputKind::Code(Lang::JavaScript), "server.jsx";
    go: InputKind::Code(Lang::Go), "cache.go";
    java: InputKind::Code(Lang::Java), "Account.java";
    c: InputKind::Code(Lang::C), "ring.h";
    cpp: InputKind::Code(Lang::Cpp), "graph.cpp";
    csharp: InputKind::TaggedCode("csharp"), "Orders.cs";
    kotlin: InputKind::TaggedCode("kotlin"), "Feed.kt";
    cpp_source_detected_as_c_has_the_same_outline: InputKind::Code(Lang::C), "graph.cpp";
    document: InputKind::Document, "guide.md";
    markdown_code_is_outlined_as_document: InputKind::Code(Lang::Markdown), "guide.md";
}
