//! The format descriptions in `formats/`, checked on the samples with the programs that read
//! them: libmagic by `file`, the shared MIME database by `update-mime-database`, and Kaitai
//! Struct by its compiler from npm and its runtime from `PyPI`.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;

use lcp_decoder::{DecodeOptions, Event, EventIter, PackIndex, decode};
use lcp_driver::IndexCosts;
use lcp_encoder::EncodeOptions;
use lcp_tokens::{Encoding, Tiktoken};
use lcp_types::EncodingCosts;
use serde::Deserialize;

use lcp_testkit::cli_harness::sample;
use lcp_testkit::python;

/// What packs are.
const MIME: &str = "application/vnd.lcp";

/// What npm and `PyPI` have, exactly so.
const NPM: [&str; 2] = ["kaitai-struct-compiler@0.11.0", "js-yaml@4.1.0"];
const PYPI: &str = "kaitaistruct==0.11\n";

#[test]
#[ignore = "installs packages of npm and PyPI"]
fn libmagic_recognizes_packs() {
    check("libmagic", &["file"], magic);
}

#[test]
#[ignore = "installs packages of npm and PyPI"]
fn mime_database_recognizes_packs() {
    check("shared MIME database", &["update-mime-database"], mime);
}

#[test]
#[ignore = "installs packages of npm and PyPI"]
fn kaitai_struct_agrees_with_the_decoder() {
    check("Kaitai Struct", &["node", "npm", "python3"], kaitai);
}

/// Checks all samples in a folder of its own. Skips the check where a program is missing, unless
/// `LCP_REQUIRE_FORMATS` is set.
fn check(name: &str, programs: &[&str], check: fn(&Path, &[PathBuf])) {
    // Not every program accepts the flag; that it starts is enough.
    let is_missing = |program: &&&str| Command::new(program).arg("--version").output().is_err();
    if let Some(missing) = programs.iter().find(is_missing) {
        assert!(std::env::var_os("LCP_REQUIRE_FORMATS").is_none(), "{name} needs {missing}");
        return;
    }
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("formats");
    std::fs::create_dir_all(&folder).unwrap();
    let mut samples = samples();
    samples.push(sample_with_costs(&folder));
    check(&folder, &samples);
}

fn samples() -> Vec<PathBuf> {
    let paths = std::fs::read_dir(sample("")).unwrap().map(|entry| entry.unwrap().path());
    let is_pack = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "lcp");
    let mut samples: Vec<_> = paths.filter(is_pack).collect();
    samples.sort();
    samples
}

/// Writes a sample with token costs in its index, which no other has.
fn sample_with_costs(folder: &Path) -> PathBuf {
    let bytes = std::fs::read(sample("priorities.lcp")).unwrap();
    let blocks = decode(&bytes, DecodeOptions::default()).unwrap().blocks;
    let encodings = [Encoding::O200kBase, Encoding::Cl100kBase];
    let costs: Vec<_> = encodings
        .iter()
        .filter_map(|of| IndexCosts::new(&Tiktoken::new(*of)).count(&blocks))
        .collect();
    let pack = lcp_encoder::encode_with_costs(&blocks, EncodeOptions::default(), &costs).unwrap();
    let path = folder.join("counted.lcp");
    std::fs::write(&path, pack).unwrap();
    path
}

/// Runs a program in a folder, and returns its standard output.
fn printed(program: impl AsRef<OsStr>, arguments: &[impl AsRef<OsStr>], folder: &Path) -> String {
    let mut command = Command::new(program);
    let output = python::output(command.args(arguments).current_dir(folder));
    String::from_utf8(output.unwrap_or_else(|error| panic!("{error}"))).unwrap()
}

fn description(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../formats").join(name)
}

/// Checks that libmagic recognizes packs by their first bytes, and nothing else.
fn magic(folder: &Path, samples: &[PathBuf]) {
    let magic = description("lcp.magic");
    let mime_type = |path: &Path| {
        let arguments = ["-b", "--mime-type", "-m"].map(AsRef::as_ref);
        let arguments = [&arguments[..], &[magic.as_os_str(), path.as_os_str()]].concat();
        printed("file", &arguments, folder).trim().to_owned()
    };
    for sample in samples {
        assert_eq!(mime_type(sample), MIME, "{}", sample.display());
    }
    // Another version, another reserved byte, another magic.
    for (name, bytes) in [
        ("major", b"LCP\0\x02\0\0\0"),
        ("reserved", b"LCP\0\x01\0\0\x01"),
        ("other", b"LCQ\0\x01\0\0\0"),
    ] {
        let path = folder.join(name);
        std::fs::write(&path, bytes).unwrap();
        assert_ne!(mime_type(&path), MIME, "{name}");
    }
}

/// Checks the database as its own program makes it.
fn mime(folder: &Path, samples: &[PathBuf]) {
    let packages = folder.join("mime/packages");
    std::fs::create_dir_all(&packages).unwrap();
    std::fs::copy(description("lcp.xml"), packages.join("lcp.xml")).unwrap();
    printed("update-mime-database", &["mime"], folder);
    let globs = std::fs::read_to_string(folder.join("mime/globs2")).unwrap();
    let database = std::fs::read(folder.join("mime/magic")).unwrap();
    let beginnings = beginnings(&database);
    for sample in samples {
        let bytes = std::fs::read(sample).unwrap();
        let is_known = beginnings.iter().any(|beginning| bytes.starts_with(beginning));
        assert!(is_known, "{}", sample.display());
    }
    assert!(globs.lines().any(|line| line.ends_with(&format!(":{MIME}:*.lcp"))));
}

/// Returns the first bytes of packs by the database: after the line of the type, each match is
/// `>0=`, a length of two bytes, the value, and the end of the line.
fn beginnings(database: &[u8]) -> Vec<&[u8]> {
    let head = format!(":{MIME}]\n").into_bytes();
    let Some(at) = database.windows(head.len()).position(|window| window == head) else {
        return Vec::new();
    };
    let mut rest = &database[at + head.len()..];
    let mut found = Vec::new();
    while let Some([high, low, tail @ ..]) = rest.strip_prefix(b">0=") {
        let length = usize::from(u16::from_be_bytes([*high, *low]));
        let Some((value, tail)) = tail.split_at_checked(length) else { break };
        found.push(value);
        rest = tail.strip_prefix(b"\n").unwrap_or_default();
    }
    found
}

/// What the compiled description sees of a pack.
#[derive(Deserialize)]
struct Seen {
    /// Bytes of a payload that is compressed.
    compressed: Option<usize>,
    #[serde(default)]
    blocks: Vec<SeenBlock>,
    index: Option<SeenIndex>,
    #[serde(default)]
    rest: usize,
}

#[derive(Deserialize, Debug, PartialEq)]
struct SeenIndex {
    types: Vec<u8>,
    lengths: Vec<u64>,
    label_text: String,
    end_offset: u64,
    index_offset: u64,
    blocks: u64,
    costs: Vec<SeenCosts>,
}

#[derive(Deserialize, Debug, PartialEq)]
struct SeenCosts {
    encoding: String,
    contents: Vec<u32>,
    /// Of placeholders, by mode.
    lines: BTreeMap<String, Vec<u32>>,
}

impl SeenCosts {
    fn from_costs(costs: &EncodingCosts) -> Self {
        let lines = costs.modes.iter().map(|mode| (mode.mode.clone(), mode.line.clone()));
        Self {
            encoding: costs.encoding.clone(),
            contents: costs.contents.clone(),
            lines: lines.collect(),
        }
    }
}

impl SeenIndex {
    fn from_index(index: &PackIndex) -> Self {
        let (footer, facts) = (index.footer(), index.block_index());
        let frames = (0..).map_while(|block| index.frame(block));
        Self {
            types: facts.types.clone(),
            lengths: frames.map(|frame| frame.end - frame.start).collect(),
            label_text: facts.labels.text().to_owned(),
            end_offset: footer.end_offset,
            index_offset: footer.index_offset,
            blocks: footer.blocks,
            costs: facts.costs.iter().map(SeenCosts::from_costs).collect(),
        }
    }
}

#[derive(Deserialize)]
struct SeenBlock {
    r#type: u8,
    bytes: usize,
    summary: Option<String>,
    texts: Option<Vec<String>>,
}

/// Checks that Kaitai Struct reads from a pack the same as the decoder.
fn kaitai(folder: &Path, samples: &[PathBuf]) {
    let install = ["install", "--silent", "--no-audit", "--no-fund", "--prefix", "."];
    printed("npm", &[&install[..], &NPM[..]].concat(), folder);
    printed("node", &[description("compile.cjs"), description("lcp.ksy")], folder);
    let requirements = folder.join("requirements.txt");
    std::fs::write(&requirements, PYPI).unwrap();
    let python = python::create_venv(&folder.join("venv"), &requirements, &mut |_| ()).unwrap();
    let mut arguments = vec![description("read.py")];
    arguments.extend_from_slice(samples);
    let output = printed(python, &arguments, folder);
    let mut lines = output.lines();
    for sample in samples {
        let line = lines.next().unwrap_or_default();
        let seen: Seen = serde_json::from_str(line).unwrap();
        let result = compare(&seen, &std::fs::read(sample).unwrap());
        assert_eq!(result, Ok(()), "{}", sample.display());
    }
}

fn compare(seen: &Seen, pack: &[u8]) -> Result<(), String> {
    const HEADER: usize = 8;
    if let Some(bytes) = seen.compressed {
        return if HEADER + bytes == pack.len() { Ok(()) } else { Err("another payload".into()) };
    }
    let mut blocks = seen.blocks.iter();
    let mut events = EventIter::new(pack, DecodeOptions::default());
    while let Some(event) = events.next() {
        let Event::Frame(frame) = event.map_err(|error| error.to_string())? else { continue };
        let index = frame.index;
        let block = blocks.next().ok_or("fewer blocks")?;
        if (block.r#type, block.bytes) != (frame.block_type.code(), frame.body.len()) {
            return Err(format!("block {index} is another"));
        }
        let Some(texts) = &block.texts else { continue };
        let decoded = events.decode(frame).map_err(|error| error.to_string())?;
        if decoded.summary.as_deref() != block.summary.as_deref() {
            return Err(format!("block {index} has another summary"));
        }
        if let Some(text) = decoded.content.text()
            && !texts.contains(&String::from_utf8_lossy(text.as_slice()).into_owned())
        {
            return Err(format!("block {index} has another content"));
        }
    }
    let index = PackIndex::find(pack).transpose().map_err(|error| error.to_string())?;
    if seen.index != index.as_ref().map(SeenIndex::from_index) {
        return Err("another index".into());
    }
    let ends = blocks.next().is_some_and(|end| (end.r#type, end.bytes) == (0xFF, 0));
    if ends && blocks.next().is_none() && seen.rest == 0 {
        return Ok(());
    }
    Err("another end".into())
}
