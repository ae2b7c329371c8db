//! The built-in vocabularies and character classes (RFC 0009), made from `tiktoken-rs` and
//! `regex-syntax`.

use std::collections::HashMap;

use regex_syntax::hir::{Class, HirKind};
use tiktoken_rs::CoreBPE;

use crate::{Result, failure};

/// Compares the built-in data with its sources, or rewrites it (`cargo xtask gen-vocab --bless`).
#[test]
#[ignore = "reads four vocabularies"]
fn vocabulary_is_current() {
    let folder = crate::workspace().join("crates/lcp-tokens/data");
    let check = |name: &str, data: Vec<u8>| {
        let path = folder.join(name);
        if crate::is_blessing() {
            std::fs::write(path, data).unwrap();
        } else {
            assert!(std::fs::read(path).unwrap() == data, "{name}: gen-vocab --bless rewrites it");
        }
    };
    for (name, core) in [
        ("o200k_base", tiktoken_rs::o200k_base_singleton()),
        ("cl100k_base", tiktoken_rs::cl100k_base_singleton()),
        ("p50k_base", tiktoken_rs::p50k_base_singleton()),
        ("r50k_base", tiktoken_rs::r50k_base_singleton()),
    ] {
        check(&format!("{name}.bpe"), pack(core).unwrap());
    }
    check("classes.bin", classes().unwrap());
}

/// Six bytes a token: the numbers of the two tokens that it is merged from, or
/// 0xFFFFFF and its one byte, or 0xFFFFFF twice for a number of a special token.
fn pack(core: &CoreBPE) -> Result<Vec<u8>> {
    let tokens: Vec<Vec<u8>> = (0..).map_while(|token| core.decode_bytes(&[token]).ok()).collect();
    let special = |bytes: &[u8]| bytes.starts_with(b"<|") && bytes.ends_with(b"|>");
    let ordinary = tokens.iter().zip(0u32..).filter(|(bytes, _)| !special(bytes));
    let numbers: HashMap<&[u8], u32> = ordinary.map(|(bytes, token)| (&bytes[..], token)).collect();
    let mut packed = Vec::with_capacity(tokens.len() * 6);
    for (bytes, token) in tokens.iter().zip(0u32..) {
        let (left, right) = match &bytes[..] {
            bytes if special(bytes) => (0xFF_FFFF, 0xFF_FFFF),
            [byte] => (0xFF_FFFF, u32::from(*byte)),
            bytes => parts(bytes, token, &numbers).ok_or_else(|| {
                let message = format!("token {token} is not made of two others");
                failure(message)
            })?,
        };
        packed.extend_from_slice(&left.to_le_bytes()[..3]);
        packed.extend_from_slice(&right.to_le_bytes()[..3]);
    }
    Ok(packed)
}

/// The two tokens that are left when all but the last merge of a token's own
/// bytes are done.
fn parts(bytes: &[u8], token: u32, numbers: &HashMap<&[u8], u32>) -> Option<(u32, u32)> {
    let mut cuts: Vec<usize> = (0..=bytes.len()).collect();
    while cuts.len() > 3 {
        let merges = cuts.windows(3).enumerate();
        let ranked = merges.filter_map(|(i, cut)| Some((*numbers.get(&bytes[cut[0]..cut[2]])?, i)));
        let (rank, i) = ranked.min()?;
        if rank >= token {
            return None;
        }
        cuts.remove(i + 1);
    }
    let [start, cut, end] = cuts[..] else { return None };
    let parts = (*numbers.get(&bytes[start..cut])?, *numbers.get(&bytes[cut..end])?);
    // Loading spells a token by tokens that it has read.
    (parts.0 < token && parts.1 < token).then_some(parts)
}

/// The number of a page for each 128 characters, then the pages: a byte of
/// classes a character.
fn classes() -> Result<Vec<u8>> {
    const PAGE: usize = 128;
    let sets = [
        r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]", r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]", r"\p{L}", r"\p{N}", r"\s",
    ];
    let mut classes = vec![0u8; 0x11_0000];
    for (bit, set) in sets.into_iter().enumerate() {
        let wrong = |what: String| failure(format!("{set}: {what}"));
        let hir = regex_syntax::parse(set).map_err(|error| wrong(error.to_string()))?;
        let HirKind::Class(Class::Unicode(class)) = hir.kind() else {
            return Err(wrong("not a class of characters".into()));
        };
        for c in class.ranges().iter().flat_map(|range| range.start()..=range.end()) {
            classes[c as usize] |= 1 << bit;
        }
    }
    let (mut indices, mut pages): (Vec<u8>, Vec<&[u8]>) = (Vec::new(), Vec::new());
    for page in classes.chunks(PAGE) {
        let known = pages.iter().position(|known| *known == page);
        let index = known.unwrap_or(pages.len());
        if index == pages.len() {
            pages.push(page);
        }
        let too_many = |_| failure("more than 256 pages of classes");
        indices.push(u8::try_from(index).map_err(too_many)?);
    }
    Ok([indices, pages.concat()].concat())
}
