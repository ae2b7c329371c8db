//! The initial inputs of the fuzz targets, made of files in this repository.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use crate::cli_harness::root;
use lcp_continuity::store::{MemoryStore, NewConversation};
use lcp_continuity::{HandoffOptions, ManualClock, Message, SessionContinuityService, Timestamp};
use lcp_decoder::{DecodeOptions, decode};
use lcp_driver::prompt_cache::StableOptions;
use lcp_driver::{DefaultDriver, DriverConfig};
use lcp_encoder::{Compression, EncodeOptions};
use lcp_packfile::journal::Journal;
use lcp_tokens::HeuristicEstimator;
use lcp_transcripts::Format;

/// Returns the inputs for the target with this name, made of the samples and of the transcripts in
/// the tests. Targets that interpret bytes as choices have no seeds, because any bytes will do.
#[must_use]
pub fn seeds(target: &str) -> Vec<Vec<u8>> {
    match target {
        "decoder" | "round_trip" => packs(),
        "manifest" => files(&root().join("samples"), "json"),
        "import" => transcripts(),
        "stored_records" => stored_records(),
        "parse" => texts(),
        _ => Vec::new(),
    }
}

/// Returns the contents of the files in a folder with this extension, sorted by path.
fn files(folder: &Path, extension: &str) -> Vec<Vec<u8>> {
    let mut paths: Vec<_> = fs::read_dir(folder)
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|found| found == extension))
        .collect();
    paths.sort();
    paths.iter().filter_map(|path| fs::read(path).ok()).collect()
}

/// Returns the sample packs, and packs of each of their blocks in every compression.
fn packs() -> Vec<Vec<u8>> {
    let mut packs = files(&root().join("samples"), "lcp");
    for pack in packs.clone() {
        let Ok(pack) = decode(&pack, DecodeOptions::default()) else { continue };
        for block in &pack.blocks {
            for compression in [Compression::None, Compression::Block, Compression::Payload] {
                let options = EncodeOptions { compression, ..EncodeOptions::default() };
                packs.extend(lcp_encoder::encode([block], options));
            }
        }
    }
    packs
}

fn transcripts() -> Vec<Vec<u8>> {
    let fixtures = root().join("crates/lcp-transcripts/tests/it/fixtures");
    let mut inputs = Vec::new();
    for extension in ["json", "jsonl", "md"] {
        for file in files(&fixtures, extension) {
            // Each format is tried, and also the detected one.
            for choice in 0..=Format::ALL.len() {
                inputs.extend(u8::try_from(choice).map(|choice| [&[choice], &file[..]].concat()));
            }
        }
    }
    inputs
}

/// Returns encoded records, each after the byte that selects its kind.
fn stored_records() -> Vec<Vec<u8>> {
    let mut inputs = handoffs();
    for pack in packs() {
        inputs.push([&[2], &pack[..]].concat());
        inputs.push([&[5, 40], &pack[..]].concat());
        inputs.push([&[7], &blake3::hash(&pack).as_bytes()[..], &pack].concat());
        inputs.extend(journal(&pack));
        inputs.extend(saved_plan(&pack));
    }
    inputs
}

/// Returns a pack and the journal of an append to it.
fn journal(pack: &[u8]) -> Option<Vec<u8>> {
    let end = pack.len().checked_sub(4)?;
    let journal = Journal::new(pack, end as u64, pack.len() as u64 + 20).ok()??.to_bytes();
    let beside = &journal[..journal.len() - 4];
    Some([&[5, u8::try_from(pack.len()).ok()?], pack, beside].concat())
}

fn saved_plan(pack: &[u8]) -> Option<Vec<u8>> {
    let pack = decode(pack, DecodeOptions::default()).ok()?;
    let config = DriverConfig {
        token_budget: Some(300),
        stable: Some(StableOptions::default()),
        ..DriverConfig::default()
    };
    let plan = DefaultDriver::new(HeuristicEstimator).plan(&pack.blocks, &config).ok()?;
    Some([b"\x03", plan.stable?.next_plan.to_json().as_bytes()].concat())
}

/// Returns the hand-offs of a short conversation.
fn handoffs() -> Vec<Vec<u8>> {
    let store = Arc::new(MemoryStore::new());
    let service = SessionContinuityService::new(store, Arc::new(HeuristicEstimator))
        .with_clock(Arc::new(ManualClock::new(Timestamp(1_767_225_600_000))));
    let (id, window_tokens, output_reserve_tokens) = ("parser".to_owned(), 9_000, 0);
    let mut inputs = Vec::new();
    let mut record = || -> lcp_continuity::Result<()> {
        service.open(&NewConversation { id: id.clone(), window_tokens, output_reserve_tokens })?;
        for said in ["Write the parser. Always keep the tests.", "- [ ] the lexer\n- [ ] errors"] {
            service.record_message(&id, Message::user(said))?;
            service.record_message(&id, Message::assistant("I decided to use a table."))?;
            let handoff = service.prepare_handoff(&id, 2_000, &HandoffOptions::default())?;
            inputs.extend(handoff.to_pack().map(|pack| [&[0], &pack[..]].concat()));
        }
        Ok(())
    };
    record().expect("a store in memory");
    inputs
}

/// Returns the rendered samples, each after the byte of its mode.
fn texts() -> Vec<Vec<u8>> {
    let folder = root().join("samples/rendered");
    ["xml", "md", "txt"]
        .into_iter()
        .zip(0..)
        .flat_map(|(extension, mode)| {
            files(&folder, extension).into_iter().map(move |text| [&[mode, 0], &text[..]].concat())
        })
        .collect()
}
