//! The memory of jobs on a large pack. This is a program of its own, because its allocator counts.

use std::alloc::System;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::Duration;

use lcp_app::Warnings;
use lcp_app::append::{AppendSettings, LockedPack};
use lcp_app::budget::BudgetOptions;
use lcp_app::config::Config;
use lcp_app::inspect::LargePack;
use lcp_app::pack::{PackOptions, PackedFiles};
use lcp_app::render::{RenderJob, RenderOptions, RenderSetup, RenderedPack};
use lcp_app::validate::validate_file;
use lcp_decoder::DecodeOptions;
use lcp_encoder::EncodeOptions;
use lcp_ingest::{IngestOptions, SecretPolicy, ingest};
use lcp_packfile::Properties;
use lcp_types::{Block, Role};
use peakmem_alloc::{PeakMemAlloc, PeakMemAllocTrait};

#[global_allocator]
static ALLOCATOR: PeakMemAlloc<System> = PeakMemAlloc::new(System);

const MIB: usize = 1 << 20;

/// The number of files, which have more than 256 MiB together.
const FILES: usize = 320;

/// The maximum memory of a job: two batches of files, and what does not depend on the content.
const JOB_MAX: usize = 64 * MIB;

/// Creates a folder with this number of links to one file of almost 1 MiB.
fn folder(files: usize) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let text = "fn main() { println!(\"a line of code\"); }\n".repeat(24_000);
    assert!(text.len() < MIB);
    let first = folder.path().join("0.rs");
    std::fs::write(&first, text).unwrap();
    for at in 1..files {
        let below = folder.path().join(format!("d{}", at % 7));
        std::fs::create_dir_all(&below).unwrap();
        std::fs::hard_link(&first, below.join(format!("{at}.rs"))).unwrap();
    }
    folder
}

fn pack(folder: &Path, to: &Path) -> PackedFiles {
    let mut file = File::options();
    let mut file = file.read(true).write(true).create_new(true).open(to).unwrap();
    let options = PackOptions { paths: vec![folder.into()], ..PackOptions::default() };
    options.pack_into(&mut file, &Config::default(), &Warnings::default()).unwrap()
}

fn options() -> RenderOptions {
    let budget = BudgetOptions { budget: Some(8000), ..BudgetOptions::default() };
    RenderOptions { budget, ..RenderOptions::default() }
}

/// Renders a pack without costs from its index, for which all blocks are counted.
fn render(path: &Path) -> String {
    let (config, warnings) = (Config::default(), Warnings::default());
    let setup = RenderSetup::new(path, &options(), &config, &warnings).unwrap();
    let mut buffer = Vec::new();
    match setup.render(false, &mut buffer, &warnings).unwrap() {
        RenderedPack::ByIndex(rendered, _) => rendered.text,
        RenderedPack::FromBlocks(..) => panic!("the pack was read as a whole"),
    }
}

fn append(path: &Path, additions: &[(PathBuf, Vec<u8>)]) {
    let (config, warnings) = (Config::default(), Warnings::default());
    let mut locked = LockedPack::lock(path, Duration::ZERO).unwrap();
    let pack = locked.open(&warnings).unwrap();
    let settings = AppendSettings {
        compression: None,
        properties: &Properties::default(),
        secrets: SecretPolicy::Redact,
        config: &config,
    };
    let appended = locked.append(&*pack, additions, &settings).unwrap();
    locked.write(&appended.change).unwrap();
}

/// Runs a job. Returns its result, and fails if it takes too much memory.
#[track_caller]
fn within_memory<T>(job: impl FnOnce() -> T) -> T {
    // The maximum is counted from here.
    ALLOCATOR.reset_peak_memory();
    let result = job();
    let used = ALLOCATOR.get_peak_memory();
    assert!(used <= JOB_MAX, "{} MiB", used / MIB);
    result
}

#[test]
fn jobs_on_a_large_pack_take_little_memory() {
    let (folder, output) = (folder(FILES), tempfile::tempdir().unwrap());
    let path: PathBuf = output.path().join("large.lcp");
    let packed = within_memory(|| pack(folder.path(), &path));
    assert_eq!((packed.report.files.len(), packed.blocks), (FILES, 1 + FILES as u64));
    assert_eq!(std::fs::metadata(&path).unwrap().len(), packed.pack_bytes);
    assert!(packed.pack_bytes > 256 * MIB as u64);

    let name = path.display().to_string();
    for full in [false, true] {
        let report = within_memory(|| validate_file(&path, full, &Warnings::default()).unwrap());
        assert_eq!((report.blocks, report.problems.len()), (1 + FILES, 0), "{name}");
    }
    let inspection = within_memory(|| LargePack::open(&path).unwrap().unwrap().inspect());
    assert_eq!(inspection.blocks.len(), 1 + FILES);
    let text = within_memory(|| render(&path));
    let whole = std::fs::read(&path).unwrap();
    let job = RenderJob::new(&path, &whole, &options(), &Config::default(), &Warnings::default());
    assert_eq!(text, job.unwrap().render(&Warnings::default()).unwrap().text);

    let question = [Block::conversation(Role::User, "What does it print?")];
    let addition = lcp_encoder::encode(&question, EncodeOptions::default()).unwrap();
    let additions = [(PathBuf::from("question.lcp"), addition)];
    within_memory(|| append(&path, &additions));
    let mut blocks = lcp_decoder::decode(&whole, DecodeOptions::default()).unwrap().blocks;
    blocks.extend(question);
    let expected = lcp_encoder::encode(&blocks, EncodeOptions::default()).unwrap();
    assert!(std::fs::read(&path).unwrap() == expected);

    // Several batches of files give the blocks of one.
    let some = self::folder(30);
    let path = output.path().join("some.lcp");
    pack(some.path(), &path);
    let options = IngestOptions { paths: vec![some.path().into()], ..IngestOptions::default() };
    let all = ingest(&options).unwrap().blocks;
    let encoded = lcp_encoder::encode(&all, EncodeOptions::default()).unwrap();
    assert!(std::fs::read(&path).unwrap() == encoded);
}
