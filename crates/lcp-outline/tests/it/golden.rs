//! What is kept of a file in each language.

use expect_test::{ExpectFile, expect_file};
use lcp_outline::{Kind, Options, outline};
use lcp_types::Lang;

fn check(kind: Kind, text: &str, expected: &ExpectFile) {
    // What is kept is looked at here, not whether it is small enough.
    let options = Options { percent_max: 100, ..Options::default() };
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
    rust: Kind::Code(Lang::Rust), "shapes.rs";
    python: Kind::Code(Lang::Python), "queue.py";
    typescript: Kind::Code(Lang::TypeScript), "store.ts";
    tsx: Kind::Code(Lang::TypeScript), "view.tsx";
    javascript: Kind::Code(Lang::JavaScript), "server.jsx";
    go: Kind::Code(Lang::Go), "cache.go";
    java: Kind::Code(Lang::Java), "Account.java";
    c: Kind::Code(Lang::C), "ring.h";
    cpp: Kind::Code(Lang::Cpp), "graph.cpp";
    headers_of_cpp_are_called_like_those_of_c: Kind::Code(Lang::C), "graph.cpp";
    document: Kind::Document, "guide.md";
    markdown_is_no_code: Kind::Code(Lang::Markdown), "guide.md";
}
