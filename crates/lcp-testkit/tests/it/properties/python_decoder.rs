//! The decoder in Python, which was written from RFC 0001 alone, says the same of every pack of
//! the corpus as ours.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use lcp_decoder::{DecodeOptions, ErrorKind, decode};
use lcp_testkit::properties::{corpus, row, seeds};
use lcp_testkit::{cli_harness, python};
use serde_json::Value;

/// Unless it is empty: the test fails where there is no Python, or no `PyPI`.
const REQUIRED: &str = "LCP_REQUIRE_PYTHON";

/// Packs as files: those of the corpus, and the seeds.
fn packs(folder: &Path) -> Vec<PathBuf> {
    fs::create_dir_all(folder).unwrap();
    let mut packs = Vec::new();
    for (at, seed) in seeds("decoder").iter().enumerate() {
        let path = folder.join(format!("{at}.lcp"));
        fs::write(&path, seed).unwrap();
        packs.push(path);
    }
    for target in ["decoder", "round_trip"] {
        let entries = fs::read_dir(corpus().join(target)).unwrap();
        packs.extend(entries.map(|entry| entry.unwrap().path()));
    }
    packs.sort();
    packs
}

/// Whether both say the same. The second decoder knows no bound on memory (RFC 0008 §5.1): it
/// goes on where ours stops, and finds what is there.
fn agree(pack: &[u8], ours: &Value, theirs: &Value) -> bool {
    let takes_too_much = || {
        decode(pack, DecodeOptions::default()).is_err_and(|error| {
            matches!(error.kind(), ErrorKind::TooLarge { limit: "BLOCK_MEMORY_BYTES_MAX", .. })
        })
    };
    ours == theirs || takes_too_much()
}

#[test]
#[expect(clippy::print_stderr, reason = "whoever runs it sees what is installed or skipped")]
fn python_decoder_agrees() {
    let fuzz = cli_harness::root().join("fuzz");
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let found = python::create_venv(
        &folder.join("decoder-python"),
        &fuzz.join("decoder.txt"),
        &mut |said| {
            eprintln!("{said}");
        },
    );
    let python = match found {
        Ok(python) => python,
        Err(why) => {
            let is_required = std::env::var_os(REQUIRED).is_some_and(|value| !value.is_empty());
            assert!(!is_required, "{why}");
            eprintln!("skipped: {why}");
            return;
        }
    };
    let packs = packs(&folder.join("decoder-packs"));
    let mut compared = 0;
    for packs in packs.chunks(500) {
        let output =
            python::output(Command::new(&python).arg(fuzz.join("decoder.py")).args(packs)).unwrap();
        for (line, path) in String::from_utf8(output).unwrap().lines().zip(packs) {
            let mut theirs: Value = serde_json::from_str(line).unwrap();
            theirs.as_object_mut().unwrap().remove("file");
            let pack = fs::read(path).unwrap();
            let ours = row(&pack);
            assert!(agree(&pack, &ours, &theirs), "{}:\n{ours}\n{theirs}", path.display());
            compared += 1;
        }
    }
    assert_eq!(compared, packs.len());
}
