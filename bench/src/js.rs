//! The TypeScript package compared with other tokenizers for JavaScript (`js/tests/speed.mjs`).

use std::path::{Path, PathBuf};
use std::process::Command;

use serde::Deserialize;

use crate::harness::{Progress, Result};
use crate::programs::output;
use crate::table::{Better, Row, Wanted};

/// The largest size of the module in megabytes, compressed by gzip.
const MODULE_MB_MAX: f64 = 1.5;

/// A comparison of the script, in megabytes per second.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Comparison {
    text: String,
    peer: String,
    speed: f64,
    peer_speed: f64,
}

pub(crate) fn run(progress: &mut Progress<'_>) -> Result<Vec<Row>> {
    let tests = tests()?;
    progress("the script counts".to_owned());
    let repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut node = Command::new("node");
    node.arg("speed.mjs").current_dir(&tests).env("LCP_REPOSITORY", repository);
    let speeds: Vec<Comparison> = serde_json::from_slice(&output(&mut node)?)?;
    let count = |Comparison { text, peer, speed, peer_speed }: &Comparison| {
        Row::new(format!("count, {text}"), Better::Higher, "MB/s", *speed, peer, *peer_speed)
            .wants(Wanted::RatioAtLeast(3.0))
    };
    let mut rows: Vec<_> = speeds.iter().map(count).collect();
    let module = tests.join("node_modules/llm-context-pack/dist/wasm/lcp_bg.wasm");
    let bytes = output(Command::new("gzip").args(["-9", "-c"]).arg(module))?.len();
    let megabytes = f64::from(u32::try_from(bytes)?) / 1e6;
    rows.push(
        Row::with_itself("module, gzip -9", "MB", megabytes, "limit", MODULE_MB_MAX)
            .wants(Wanted::RatioAtMost(1.0)),
    );
    Ok(rows)
}

/// Returns the folder in which the tests of the package were installed.
fn tests() -> Result<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or(root.join("target"), PathBuf::from);
    let tests = target.join("packages/js/tests");
    if !tests.join("node_modules/llm-context-pack").exists() {
        let hint = "hint: run `cargo xtask ci-packages --only js` first";
        return Err(format!("the package is not in {}\n{hint}", tests.display()).into());
    }
    Ok(tests)
}
