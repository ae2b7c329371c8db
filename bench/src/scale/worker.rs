//! Processes that render one pack, so that their memory is theirs alone.

use std::fs::File;
use std::path::Path;
use std::process::Command;

use lcp_decoder::{DecodeOptions, MmapFile, PackReader};
use lcp_driver::{DefaultDriver, DriverConfig, PlanSource};
use lcp_tokens::{Encoding, Tiktoken, TokenEstimator};
use serde::{Deserialize, Serialize};

use super::{BUDGET, NAME};
use crate::clock::Spent;
use crate::error::Error;
use crate::tokens_speed::WORKER;

/// What a process does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Task {
    /// Renders by the index.
    Index,
    /// Renders without it.
    Scan,
}

impl Task {
    fn name(self) -> &'static str {
        match self {
            Self::Index => "index",
            Self::Scan => "scan",
        }
    }
}

/// What a process has measured.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct Measured {
    /// Time of all threads, the loading of the vocabulary included.
    pub(super) milliseconds: f64,
    pub(super) load_milliseconds: f64,
    /// Bytes of memory at most, pages of the map that were touched included.
    pub(super) peak_bytes: u64,
    pub(super) used: u32,
    /// Blocks that were read.
    pub(super) read: usize,
    /// Stands for the text.
    pub(super) text: u64,
}

/// Starts such a process, and waits for it.
pub(super) fn start(what: Task, path: &Path) -> Result<Measured, Error> {
    let program = std::env::current_exe().map_err(|error| Error::worker(&error))?;
    let output = Command::new(program).args([NAME, WORKER, what.name()]).arg(path).output();
    let output = output.map_err(|error| Error::worker(&error))?;
    if !output.status.success() {
        return Err(Error::worker(&String::from_utf8_lossy(&output.stderr).trim()));
    }
    serde_json::from_slice(&output.stdout).map_err(|error| Error::worker(&error))
}

/// What such a process does, and prints: `arguments` are those behind the one that
/// made it such a process.
///
/// # Errors
///
/// Where the pack cannot be read.
pub fn measure(arguments: &[String]) -> Result<String, Error> {
    let [what, path] = arguments else { return Err(Error::worker(&"arguments are missing")) };
    let counter = Tiktoken::new(Encoding::O200kBase);
    let (_, load) = Spent::on(|| counter.estimate("the first count loads the vocabulary"));
    let (rendered, spent) = Spent::on(|| render(counter, what == Task::Scan.name(), path));
    let (used, read, text) = rendered?;
    let load_milliseconds = load.process.as_secs_f64() * 1e3;
    let measured = Measured {
        milliseconds: spent.process.as_secs_f64() * 1e3 + load_milliseconds,
        load_milliseconds,
        peak_bytes: peak_bytes()?,
        used,
        read,
        text: text.bytes().fold(0xCBF2_9CE4_8422_2325, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3)
        }),
    };
    serde_json::to_string(&measured).map_err(|error| Error::worker(&error))
}

/// The tokens of the text, the blocks that were read for it, and the text.
fn render(counter: Tiktoken, scan: bool, path: &str) -> Result<(u32, usize, String), Error> {
    let file = File::open(path).map_err(|error| Error::worker(&error))?;
    #[expect(unsafe_code, reason = "nobody but this benchmark knows the file")]
    // SAFETY: the file was written by the process that waits for this one, and is not
    // changed any more.
    let map = unsafe { MmapFile::open(&file) }.map_err(|error| Error::worker(&error))?;
    let mut reader =
        PackReader::open(map, DecodeOptions::default()).map_err(|error| Error::worker(&error))?;
    if scan {
        reader.ignore_index();
    }
    let config = DriverConfig { token_budget: Some(BUDGET), ..DriverConfig::default() };
    let rendered = DefaultDriver::new(counter).render_source(&reader, &config);
    let rendered = rendered.map_err(|error| Error::worker(&error))?;
    let read = match rendered.planned {
        PlanSource::Index { read, .. } if !scan => read,
        PlanSource::AllBlocks(_) if scan => rendered.blocks,
        other => return Err(Error::worker(&format!("planned by {other:?}"))),
    };
    Ok((rendered.used_tokens, read, rendered.text))
}

/// The most memory that this process had.
fn peak_bytes() -> Result<u64, Error> {
    let status = std::fs::read_to_string("/proc/self/status");
    let status = status.map_err(|error| Error::worker(&error))?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kib = line.and_then(|line| line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok());
    Ok(kib.ok_or_else(|| Error::worker(&"the system does not tell the peak"))? * 1024)
}
