//! The longest that a writer waits where others write to the same file.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use lcp_continuity::store::SqliteStore;
use lcp_driver::group_thousands;
use serde::{Deserialize, Serialize};

use super::writers::{Bare, Own, Writer, folder};
use crate::harness::{Progress, Result, WORKER};
use crate::table::{Better, Row, Wanted};

/// The benchmark whose measuring processes these are.
pub(super) const BENCH: &str = "continuity";

const PROCESSES: usize = 4;

/// How long they write.
const SPAN: Duration = Duration::from_secs(10);

/// Milliseconds that one may wait.
const MOST: f64 = 250.0;

/// What a process says when it is ready.
const READY: &str = "ready";

/// The writers, by their names among processes.
const OWN: &str = "own";
const BARE: &str = "bare";

/// What a process has measured.
#[derive(Serialize, Deserialize)]
struct Waited {
    commits: u64,
    /// The longest commit.
    worst_milliseconds: f64,
}

pub(super) fn row(progress: &mut Progress<'_>) -> Result<Row> {
    progress(format!("{PROCESSES} processes write to one file"));
    let (own, bare) = (together(OWN)?, together(BARE)?);
    let commits =
        |of: &[Waited]| group_thousands(of.iter().map(|waited| waited.commits).sum::<u64>());
    let worst =
        |of: &[Waited]| of.iter().map(|waited| waited.worst_milliseconds).fold(f64::NAN, f64::max);
    let seconds = SPAN.as_secs();
    let note = format!("commits in {seconds} s: {}; peer {}", commits(&own), commits(&bare));
    let what = format!("SQLite, worst of {PROCESSES} processes that commit");
    let (own, bare) = (worst(&own), worst(&bare));
    let row = Row::new(what, Better::Lower, "ms", own, "busy_timeout alone", bare);
    Ok(row.wants(Wanted::OwnAtMost(MOST)).notes(Some(note)))
}

/// What so many of them measure at the same time.
fn together(writer: &str) -> Result<Vec<Waited>> {
    let folder = folder()?;
    let path = folder.path().join("store");
    let mut processes = Vec::new();
    for number in 0..PROCESSES {
        let mut process = start(writer, &path, number)?;
        let mut lines = BufReader::new(process.stdout.take().ok_or("no output")?).lines();
        if lines.next().transpose()?.as_deref() != Some(READY) {
            return Err("a writer did not begin".into());
        }
        processes.push((process, lines));
    }
    for (process, _) in &mut processes {
        // What it waits for.
        drop(process.stdin.take());
    }
    let mut all = Vec::new();
    for (mut process, mut lines) in processes {
        let line = lines.next().transpose()?.unwrap_or_default();
        process.wait()?;
        all.push(serde_json::from_str(&line)?);
    }
    Ok(all)
}

fn start(writer: &str, path: &Path, number: usize) -> std::io::Result<Child> {
    Command::new(std::env::current_exe()?)
        .args([BENCH, WORKER, writer, &number.to_string()])
        .arg(path)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
}

/// Returns what a process that writes measures, as JSON.
pub(crate) fn measure(arguments: &[String]) -> Result<String> {
    let [writer, number, path] = arguments else { return Err("arguments are missing".into()) };
    let (id, path) = (format!("conversation {number}"), Path::new(path));
    let waited = if writer == OWN {
        write(&mut Own::begin(SqliteStore::open(path)?, &id)?)
    } else {
        write(&mut Bare::begin(path, &id)?)
    };
    Ok(serde_json::to_string(&waited?)?)
}

fn write(writer: &mut impl Writer) -> Result<Waited> {
    writeln!(std::io::stdout(), "{READY}")?;
    std::io::stdin().read_line(&mut String::new())?;
    let start = Instant::now();
    let mut waited = Waited { commits: 0, worst_milliseconds: 0.0 };
    while start.elapsed() < SPAN {
        let milliseconds = writer.commit()?.as_secs_f64() * 1e3;
        waited.commits += 1;
        waited.worst_milliseconds = waited.worst_milliseconds.max(milliseconds);
    }
    Ok(waited)
}
