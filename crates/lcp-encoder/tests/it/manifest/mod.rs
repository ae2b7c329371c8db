//! The JSON manifest.

mod errors;
mod keys;
mod laws;
mod rejected;

use std::io;

use expect_test::Expect;
use lcp_encoder::EncodeOptions;
use lcp_encoder::manifest::{Manifest, ManifestError, ManifestErrorKind};

/// Reads a manifest that names no files.
fn parse(json: &str) -> Result<Manifest, ManifestError> {
    Manifest::parse(json.as_bytes(), &mut |path| panic!("nobody asked for {path}"))
}

/// Checks the error of a manifest, read or encoded.
#[track_caller]
fn check(json: &str, expected: &Expect) {
    check_kind(json, ManifestErrorKind::Malformed, expected);
}

#[track_caller]
fn check_kind(json: &str, kind: ManifestErrorKind, expected: &Expect) {
    let mut load = |_: &str| Err(io::Error::other("no such file"));
    let error = Manifest::parse(json.as_bytes(), &mut load)
        .and_then(|manifest| manifest.to_pack(EncodeOptions::default()))
        .expect_err("a bad manifest");
    expected.assert_eq(&format!("{error}\n"));
    assert_eq!(error.kind, kind);
}

/// [`check`] of a manifest with this block behind a good one.
#[track_caller]
fn check_block(json: &str, expected: &Expect) {
    let good = r#"{"type":"conversation","role":"user","content":"hi"}"#;
    check(&format!(r#"{{"blocks":[{good},{json}]}}"#), expected);
}
