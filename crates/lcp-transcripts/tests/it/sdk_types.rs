//! The types of the providers' own SDKs accept the exports.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use lcp_testkit::python;
use lcp_transcripts::{ExportBlock, ExportDetail, Options, Provider, detect, export, import};

/// If this variable is set and not empty, the test fails where there is no Python or no `PyPI`.
const REQUIRED: &str = "LCP_REQUIRE_PYTHON";

/// Returns the exports of all fixtures to all providers, complete and with omissions.
fn requests() -> String {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/fixtures");
    let mut requests = String::new();
    for entry in std::fs::read_dir(fixtures).unwrap() {
        let bytes = std::fs::read(entry.unwrap().path()).unwrap();
        let imported = import(detect(&bytes).unwrap(), &bytes, &Options::default()).unwrap();
        for target in Provider::ALL {
            // Every block, and all but each second, third, … block.
            for step in [usize::MAX, 2, 3, 4, 5, 7] {
                let blocks = imported.blocks.iter().enumerate().map(|(at, block)| {
                    let detail = match (at + 1) % step {
                        0 => ExportDetail::Omitted,
                        1 if step < usize::MAX => ExportDetail::Replaced("short".into()),
                        _ => ExportDetail::Full,
                    };
                    ExportBlock { block, detail }
                });
                let exported = export(target, &blocks.collect::<Vec<_>>(), None);
                let json = exported.json().replace('\n', " ");
                writeln!(requests, "{target} {json}").unwrap();
            }
        }
    }
    requests
}

#[test]
#[expect(clippy::print_stderr, reason = "whoever runs it sees what is installed or skipped")]
fn sdk_types_accept_the_exports() {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("sdk-types");
    let found = python::create_venv(&folder, &tests.join("sdk_types.txt"), &mut |said| {
        eprintln!("{said}");
    });
    let python = match found {
        Ok(python) => python,
        Err(why) => {
            let is_required = std::env::var_os(REQUIRED).is_some_and(|value| !value.is_empty());
            assert!(!is_required, "{why}");
            return eprintln!("skipped: {why}; {REQUIRED}=1 makes this a failure");
        }
    };
    let mut child = Command::new(python)
        .arg(tests.join("sdk_types.py"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let requests = requests();
    let mut input = child.stdin.take().unwrap();
    // If the script stops early, its message says why.
    let _ = input.write_all(requests.as_bytes());
    drop(input);
    let output = child.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    let count = format!("{} requests\n", requests.lines().count());
    assert_eq!(String::from_utf8_lossy(&output.stdout), count, "{said}");
}
