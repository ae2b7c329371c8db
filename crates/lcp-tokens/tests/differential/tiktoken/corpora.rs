//! What is counted: files of the crates that this workspace builds with, which
//! are on every machine that builds it, and text that is made.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use cargo_metadata::{Metadata, MetadataCommand};
use lcp_testkit::{comments, files_in, is_prose};
use lcp_tokens::Encoding;

use super::{adversarial, languages};
use crate::{Result, failure};

/// Bytes that there must be of each kind.
const CODE_BYTES: usize = 6_000_000;
const PROSE_BYTES: usize = 2_500_000;
const MULTILINGUAL_BYTES: usize = 1_500_000;

const TINY_TEXTS: usize = 100_000;

/// Larger files are tables that a program made.
const FILE_BYTES_MAX: u64 = 512 << 10;

/// The longest run of white space that is shown to the oracles: their regular
/// expressions panic at a million.
const WHITE_BYTES_MAX: usize = 100_000;

/// Characters of a text of [`every_character`].
const CHARACTERS: usize = 64;

/// Texts of one kind, each known by its number.
pub(super) struct Corpus {
    pub(super) what: &'static str,
    /// How many texts there are for an encoding.
    pub(super) len: Box<dyn Fn(Encoding) -> usize + Send + Sync>,
    pub(super) text: Box<dyn Fn(usize) -> String + Send + Sync>,
}

impl Corpus {
    fn generated(what: &'static str, len: usize, text: fn(usize) -> String) -> Self {
        Self { what, len: Box::new(move |_| len), text: Box::new(text) }
    }

    fn from_texts(what: &'static str, texts: Vec<String>) -> Self {
        let len = texts.len();
        Self { what, len: Box::new(move |_| len), text: Box::new(move |i| texts[i].clone()) }
    }
}

/// What is known of the workspace: its packages, and where it builds.
pub(super) fn metadata() -> Result<Metadata> {
    MetadataCommand::new()
        .current_dir(crate::workspace())
        .exec()
        .map_err(|error| failure(format!("cargo metadata: {error}")))
}

/// Everything that is compared; `strings` random strings for the encodings of
/// today's models, a tenth for the others.
pub(super) fn all(metadata: &Metadata, strings: usize) -> Result<Vec<Corpus>> {
    let code = texts_of(metadata, is_code, str::to_owned, CODE_BYTES)?;
    let mut prose = texts_of(metadata, is_prose, str::to_owned, PROSE_BYTES)?;
    let more = PROSE_BYTES.saturating_sub(prose.iter().map(String::len).sum());
    prose.extend(texts_of(metadata, is_rust, comments, more)?);
    let random = Corpus {
        what: "random strings",
        len: Box::new(move |encoding| match encoding {
            Encoding::O200kBase | Encoding::Cl100kBase => strings,
            _ => strings / 10,
        }),
        text: Box::new(adversarial::text),
    };
    Ok(vec![
        Corpus::from_texts("code", code),
        Corpus::from_texts("prose", prose),
        Corpus::from_texts("multilingual", languages::texts(MULTILINGUAL_BYTES)),
        Corpus::generated("tiny strings", TINY_TEXTS, adversarial::tiny),
        Corpus::generated("every character", 0x11_0000 / CHARACTERS, every_character),
        random,
    ])
}

/// Each of 64 characters between what can pull it into a piece.
fn every_character(number: usize) -> String {
    let codes = number * CHARACTERS..(number + 1) * CHARACTERS;
    let characters = codes.filter_map(|code| char::from_u32(u32::try_from(code).ok()?));
    let around = |c| format!("{c}a{c}A{c} {c}!{c}1{c}\n{c}'s{c}'{c}aA{c}{c} {c}{c}/\r");
    characters.map(around).collect()
}

fn is_code(path: &Path) -> bool {
    let endings = ["rs", "c", "h", "py", "js", "sh", "toml"];
    path.extension().is_some_and(|ending| endings.iter().any(|known| ending == *known))
}

fn is_rust(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending == "rs")
}

/// Texts made of files of the packages that come from elsewhere: the first
/// file of each, the second of each, and so on until there are `bytes` bytes;
/// no text twice.
fn texts_of(
    metadata: &Metadata,
    wanted: fn(&Path) -> bool,
    convert: fn(&str) -> String,
    bytes: usize,
) -> Result<Vec<String>> {
    let mut packages: Vec<_> =
        metadata.packages.iter().filter(|package| package.source.is_some()).collect();
    packages.sort_by_key(|package| (package.name.as_str(), &package.version));
    let mut folders = Vec::new();
    for package in packages {
        let Some(folder) = package.manifest_path.parent() else { continue };
        let mut paths = files_in(folder.as_std_path(), FILE_BYTES_MAX)
            .map_err(|error| failure(format!("cannot list {folder}: {error}")))?;
        paths.retain(|path| wanted(path));
        folders.push(paths.into_iter());
    }
    let (mut texts, mut known, mut total) = (Vec::new(), HashSet::new(), 0);
    while total < bytes && !folders.is_empty() {
        let round: Vec<PathBuf> = folders.iter_mut().filter_map(Iterator::next).collect();
        if round.is_empty() {
            break;
        }
        for path in round {
            let text = String::from_utf8(std::fs::read(&path)?).map(|text| convert(&text));
            let Ok(text) = text else { continue };
            if total < bytes && is_fit(&text) && known.insert(text.clone()) {
                total += text.len();
                texts.push(text);
            }
        }
    }
    Ok(texts)
}

/// Whether a text can be shown to the oracles.
fn is_fit(text: &str) -> bool {
    let longest = text.split(|c: char| !c.is_whitespace()).map(str::len).max();
    !text.is_empty() && longest.is_some_and(|len| len <= WHITE_BYTES_MAX)
}
