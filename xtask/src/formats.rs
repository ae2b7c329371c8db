//! `formats`: what other programs know of packs (`formats/`), tried with those programs
//! on the samples.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use lcp_decoder::{DecodeOptions, Event, Events, Trailer, decode};
use lcp_driver::IndexCosts;
use lcp_encoder::EncodeOptions;
use lcp_tokens::{Encoding, Tiktoken};
use lcp_types::CostsOf;
use serde::Deserialize;

use lcp_cli::failure::{Code, Failure, Output};
use lcp_cli::{Result, files};

use crate::tools::{self, is_there, printed, tool};

/// Try the descriptions in formats/ with the programs that read them
///
/// libmagic by `file`, the shared MIME database by `update-mime-database`, and Kaitai
/// Struct by its compiler, which npm has, and its runtime of `PyPI`. What is not there
/// is said, and skipped; with `LCP_REQUIRE_FORMATS` it is an error.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {}

/// What packs are.
const MIME: &str = "application/vnd.lcp";

/// What npm and `PyPI` have, exactly so.
const NPM: [&str; 2] = ["kaitai-struct-compiler@0.11.0", "js-yaml@4.1.0"];
const PYPI: [&str; 1] = ["kaitaistruct==0.11"];

pub(crate) fn run(_args: &Args, output: &Output) -> Result {
    let folder = crate::workspace().join("target/formats");
    std::fs::create_dir_all(&folder).map_err(|e| Failure::io("make", folder.display(), &e))?;
    let mut samples = samples()?;
    samples.push(counted(&folder)?);
    for (what, programs, check) in CHECKS {
        match programs.iter().find(|program| !is_there(program)) {
            None => {
                check(&folder, &samples)?;
                output.progress(format!("{what}: {} samples", samples.len()));
            }
            Some(missing) if std::env::var_os("LCP_REQUIRE_FORMATS").is_some() => {
                let message = format!("{what}: {missing} is not there");
                return Err(Failure::new(Code::Io, message));
            }
            Some(missing) => output.warn(format!("{what}: {missing} is not there; skipped")),
        }
    }
    Ok(())
}

/// A check of all samples, in a folder of its own.
type Check = fn(&Path, &[PathBuf]) -> Result;

/// What is checked, with which programs.
const CHECKS: &[(&str, &[&str], Check)] = &[
    ("libmagic", &["file"], magic),
    ("shared MIME database", &["update-mime-database"], mime),
    ("Kaitai Struct", &["node", "npm", "python3"], kaitai),
];

fn samples() -> Result<Vec<PathBuf>> {
    let folder = crate::workspace().join("samples");
    let unread = |error| Failure::io("read", folder.display(), &error);
    let mut samples = Vec::new();
    for entry in std::fs::read_dir(&folder).map_err(unread)? {
        let path = entry.map_err(unread)?.path();
        if path.extension().is_some_and(|extension| extension == "lcp") {
            samples.push(path);
        }
    }
    samples.sort();
    Ok(samples)
}

/// A sample with what its blocks cost, which no other has.
fn counted(folder: &Path) -> Result<PathBuf> {
    let sample = crate::workspace().join("samples/priorities.lcp");
    let bytes = files::read(&sample)?;
    let blocks = decode(&bytes, DecodeOptions::default())
        .map_err(|e| wrong(&e.to_string(), &sample))?
        .blocks;
    let encodings = [Encoding::O200kBase, Encoding::Cl100kBase];
    let costs: Vec<_> = encodings
        .iter()
        .filter_map(|of| IndexCosts::new(&Tiktoken::new(*of)).count(&blocks))
        .collect();
    let pack = lcp_encoder::encode_with(&blocks, EncodeOptions::default(), &costs)
        .map_err(|error| wrong(&error.to_string(), &sample))?;
    let path = folder.join("counted.lcp");
    files::write(Some(&path), &pack)?;
    Ok(path)
}

fn description(name: &str) -> PathBuf {
    crate::workspace().join("formats").join(name)
}

fn wrong(what: &str, path: &Path) -> Failure {
    Failure::new(Code::Malformed, format!("{what} ({})", path.display()))
}

/// Packs are known by their first bytes, and nothing else is taken for one.
fn magic(folder: &Path, samples: &[PathBuf]) -> Result {
    let magic = description("lcp.magic");
    let said = |path: &Path| {
        let arguments = ["-b", "--mime-type", "-m"].map(AsRef::as_ref);
        let arguments = [&arguments[..], &[magic.as_os_str(), path.as_os_str()]].concat();
        printed("file", &arguments, folder)
    };
    for sample in samples {
        let said = said(sample)?;
        if said.trim() != MIME {
            return Err(wrong(&format!("libmagic says {}", said.trim()), sample));
        }
    }
    // Another version, another reserved byte, another magic.
    for (name, bytes) in [
        ("major", b"LCP\0\x02\0\0\0"),
        ("reserved", b"LCP\0\x01\0\0\x01"),
        ("other", b"LCQ\0\x01\0\0\0"),
    ] {
        let path = folder.join(name);
        files::write(Some(&path), bytes)?;
        if said(&path)?.trim() == MIME {
            return Err(wrong("libmagic takes this for a pack", &path));
        }
    }
    Ok(())
}

/// The database, as its own program makes it, has what packs begin with.
fn mime(folder: &Path, samples: &[PathBuf]) -> Result {
    let packages = folder.join("mime/packages");
    std::fs::create_dir_all(&packages).map_err(|e| Failure::io("make", packages.display(), &e))?;
    let database = files::read(&description("lcp.xml"))?;
    files::write(Some(&packages.join("lcp.xml")), &database)?;
    printed("update-mime-database", &["mime"], folder)?;
    let globs = files::read(&folder.join("mime/globs2"))?;
    let globs = String::from_utf8_lossy(&globs).into_owned();
    let made = files::read(&folder.join("mime/magic"))?;
    let beginnings = beginnings(&made);
    for sample in samples {
        let bytes = files::read(sample)?;
        if !beginnings.iter().any(|beginning| bytes.starts_with(beginning)) {
            return Err(wrong("it begins like no pack that the database knows", sample));
        }
    }
    if globs.lines().any(|line| line.ends_with(&format!(":{MIME}:*.lcp"))) {
        return Ok(());
    }
    Err(Failure::new(Code::Malformed, "the database does not know *.lcp"))
}

/// What packs begin with, from the database: after the line of the type, each match
/// is `>0=`, a length of two bytes, the value, and the end of the line.
fn beginnings(made: &[u8]) -> Vec<&[u8]> {
    let head = format!(":{MIME}]\n").into_bytes();
    let Some(at) = made.windows(head.len()).position(|window| window == head) else {
        return Vec::new();
    };
    let mut rest = &made[at + head.len()..];
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
    trailer: Option<SeenTrailer>,
    #[serde(default)]
    rest: usize,
}

#[derive(Deserialize, Debug, PartialEq)]
struct SeenTrailer {
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
    fn of(costs: &CostsOf) -> Self {
        let lines = costs.modes.iter().map(|mode| (mode.mode.clone(), mode.line.clone()));
        Self {
            encoding: costs.encoding.clone(),
            contents: costs.contents.clone(),
            lines: lines.collect(),
        }
    }
}

impl SeenTrailer {
    fn of(trailer: &Trailer) -> Self {
        let (footer, facts) = (trailer.footer(), trailer.facts());
        let frames = (0..).map_while(|block| trailer.frame(block));
        Self {
            types: facts.types.clone(),
            lengths: frames.map(|frame| frame.end - frame.start).collect(),
            label_text: facts.labels.text().to_owned(),
            end_offset: footer.end_offset,
            index_offset: footer.index_offset,
            blocks: footer.blocks,
            costs: facts.costs.iter().map(SeenCosts::of).collect(),
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

/// What Kaitai Struct sees is what the decoder sees.
fn kaitai(folder: &Path, samples: &[PathBuf]) -> Result {
    let install = ["install", "--silent", "--no-audit", "--no-fund", "--prefix", "."];
    tool("npm", &[&install[..], &NPM[..]].concat(), folder)?;
    let scripts = crate::workspace().join("xtask/formats");
    tool("node", &[scripts.join("compile.cjs"), description("lcp.ksy")], folder)?;
    let python = tools::python(folder, &PYPI)?;
    let mut arguments = vec![scripts.join("read.py")];
    arguments.extend_from_slice(samples);
    let said = printed(python.as_os_str(), &arguments, folder)?;
    let mut lines = said.lines();
    for sample in samples {
        let line = lines.next().unwrap_or_default();
        let seen: Seen = serde_json::from_str(line)
            .map_err(|error| wrong(&format!("Kaitai Struct's reader: {error}"), sample))?;
        compare(&seen, &files::read(sample)?).map_err(|what| wrong(&what, sample))?;
    }
    Ok(())
}

fn compare(seen: &Seen, pack: &[u8]) -> Result<(), String> {
    const HEADER: usize = 8;
    if let Some(bytes) = seen.compressed {
        return if HEADER + bytes == pack.len() { Ok(()) } else { Err("another payload".into()) };
    }
    let mut blocks = seen.blocks.iter();
    let mut events = Events::new(pack, DecodeOptions::default());
    while let Some(event) = events.next() {
        let Event::Frame(frame) = event.map_err(|error| error.to_string())? else { continue };
        let index = frame.index;
        let block = blocks.next().ok_or("fewer blocks")?;
        if (block.r#type, block.bytes) != (frame.block_type.code(), frame.body.len()) {
            return Err(format!("block {index} is another"));
        }
        let Some(texts) = &block.texts else { continue };
        let decoded = events.decode(&frame).map_err(|error| error.to_string())?;
        if decoded.summary.as_deref() != block.summary.as_deref() {
            return Err(format!("block {index} has another summary"));
        }
        if let Some(text) = decoded.content.text()
            && !texts.contains(&String::from_utf8_lossy(text.as_slice()).into_owned())
        {
            return Err(format!("block {index} has another content"));
        }
    }
    let trailer = Trailer::of(pack).transpose().map_err(|error| error.to_string())?;
    if seen.trailer != trailer.as_ref().map(SeenTrailer::of) {
        return Err("another trailer".into());
    }
    let ends = blocks.next().is_some_and(|end| (end.r#type, end.bytes) == (0xFF, 0));
    if ends && blocks.next().is_none() && seen.rest == 0 {
        return Ok(());
    }
    Err("another end".into())
}
