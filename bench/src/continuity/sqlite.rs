//! Durable hand-offs and messages in a SQLite file, the time to reopen it, and the time that a
//! writer waits for others.

use std::fs::File;
use std::io::{BufRead, BufReader, Seek as _, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use lcp_continuity::store::{SqliteStore, Store};
use lcp_driver::group_thousands;
use serde::{Deserialize, Serialize};

use super::langgraph::{Langgraph, compare};
use super::writers::{Bare, HANDOFF_BYTES, Own, folder, open, text};
use crate::harness::{Contender, Progress, Result, Times, WORKER, milliseconds, wall_timed};
use crate::programs;
use crate::table::{Better, Row, Wanted};

/// The name of the benchmark. Its measuring processes write to one file.
pub(crate) const NAME: &str = "continuity";

/// The least ratio: LCP may take at most 1.5 times as long as the bare database.
const RATIO_MIN: f64 = 0.67;

const BARE: &str = "rusqlite alone";

pub(super) fn rows(progress: &mut Progress<'_>) -> Result<Vec<Row>> {
    let folder = folder()?;
    let path = |name: &str| folder.path().join(name);
    let mut own = Own::begin(SqliteStore::open(path("own"))?, "a")?;
    let mut bare = Bare::begin(&path("bare"), "a")?;
    let python = programs::python_with("langgraph", progress);
    let mut peers = ["default", "FULL"].map(|synchronous| {
        let file = path(&format!("langgraph {synchronous}")).display().to_string();
        let python = python.as_ref().map_err(Clone::clone)?;
        Langgraph::start(python, &["sqlite", &file, synchronous], HANDOFF_BYTES)
    });

    progress("durable hand-offs on SQLite".to_owned());
    let contenders =
        vec![Contender::new("LCP", || own.commit()), Contender::new(BARE, || bare.commit())];
    let what = "SQLite, durable hand-off of 20 KB";
    let within = Wanted::RatioAtLeast(RATIO_MIN);
    let (times, mut rows) = compare(what, contenders, &mut peers, "LangGraph")?;
    rows[0] = rows[0].clone().wants(within);
    let (best, alone) = (times[0].best(), times[1].best());
    let best = Row::new(format!("{what}, best"), Better::Lower, "ms", best, BARE, alone);
    rows.insert(1, best.wants(within));

    progress("durable messages on SQLite".to_owned());
    let contenders =
        vec![Contender::new("LCP", || own.append()), Contender::new(BARE, || bare.append())];
    let what = "SQLite, durable message of 1 KB";
    let (_, messages) = compare(what, contenders, &mut [], BARE)?;
    rows.extend(messages.into_iter().map(|row| row.wants(within)));
    drop((own, bare));
    if written(&path("own"))? == written(&path("bare"))? {
        return Ok(rows);
    }
    Err("the store and the database alone wrote different rows".into())
}

/// Returns all rows of a file, except for hashes, times and the numbers of bodies.
fn written(path: &Path) -> Result<Vec<String>> {
    let connection = open(path)?;
    let mut rows = Vec::new();
    for select in [
        "SELECT concat_ws(' ', id, messages, epoch, status, holder, fence) FROM conversations",
        "SELECT concat_ws(' ', id, conversation, epoch, messages, length(hash), packed, state,
             successor, pack) FROM handoffs JOIN packs ON handoff = number ORDER BY id",
        "SELECT concat_ws(' ', conversation, position, epoch, tokens, length(hash), body)
         FROM messages JOIN contents ON number = content ORDER BY position",
    ] {
        let mut query = connection.prepare(select)?;
        let texts = query.query_map((), |row| row.get::<_, String>(0))?;
        rows.extend(texts.collect::<rusqlite::Result<Vec<_>>>()?);
    }
    Ok(rows)
}

/// The number of hand-offs in the reopened store.
const HANDOFFS: usize = 1_000;

/// Reopening takes at most ten times as long as for the bare database.
const REOPEN_MIN: f64 = 0.1;

const REOPEN_ROUNDS: usize = 21;

/// Measures opening a store and reading its newest hand-off.
pub(super) fn reopened(progress: &mut Progress<'_>) -> Result<Row> {
    progress("a store is opened again".to_owned());
    let folder = folder()?;
    let path = folder.path().join("store");
    let mut own = Own::begin(SqliteStore::open(&path)?, "a")?;
    for _ in 0..HANDOFFS {
        own.commit()?;
    }
    drop(own);

    let (mut own, mut bare) = (Vec::new(), Vec::new());
    for _ in 0..REOPEN_ROUNDS {
        own.push(wall_timed(|| {
            let store = SqliteStore::open(&path)?;
            let newest = store.latest("a")?.unwrap_or_default();
            Ok(store.handoff(&newest)?)
        })?);
        bare.push(wall_timed(|| {
            let select = "SELECT pack FROM packs ORDER BY handoff DESC LIMIT 1";
            Ok(open(&path)?.query_row(select, (), |row| row.get::<_, Vec<u8>>(0))?)
        })?);
    }
    let what = "SQLite, reopened with 1,000 hand-offs, newest read";
    let row = Times::new(own).row(what, BARE, &Times::new(bare));
    Ok(row.wants(Wanted::RatioAtLeast(REOPEN_MIN)))
}

const PROCESSES: usize = 4;

/// The time for which the processes write.
const SPAN: Duration = Duration::from_secs(10);

/// The longest allowed time of a commit, as a multiple of the disk's own.
const WAIT_MAX: f64 = 10.0;

/// The bytes that a commit of a hand-off adds to the write-ahead log, about.
const SYNCED_BYTES: usize = 32_768;

/// The number of writes until the file is written from its beginning again.
const SYNCS_OF_FILE: usize = 100;

/// The line that a process prints when it is ready.
const READY: &str = "ready";

/// The names of the writers in the arguments of processes.
const OWN_WRITER: &str = "own";
const BARE_WRITER: &str = "bare";

/// The commits of a process.
#[derive(Serialize, Deserialize)]
struct Waited {
    commits: u64,
    /// The longest time of a commit, including waits for other processes.
    worst_milliseconds: f64,
}

/// Lets processes write to one file, and compares the longest time of a commit with those of bare
/// statements and of the disk.
pub(super) fn lock_waits(progress: &mut Progress<'_>) -> Result<[Row; 2]> {
    progress(format!("{PROCESSES} processes write to one file"));
    let (own, bare) = (together(OWN_WRITER)?, together(BARE_WRITER)?);
    let commits =
        |of: &[Waited]| group_thousands(of.iter().map(|waited| waited.commits).sum::<u64>());
    let worst =
        |of: &[Waited]| of.iter().map(|waited| waited.worst_milliseconds).fold(f64::NAN, f64::max);
    let seconds = SPAN.as_secs();
    let note = format!("commits in {seconds} s: {}; peer {}", commits(&own), commits(&bare));
    let what = format!("SQLite, worst of {PROCESSES} processes that commit");
    let (own, bare) = (worst(&own), worst(&bare));
    let syncs = disk_syncs()?;
    let sync = syncs.quantile(0.999);
    let disk = Row::with_itself(what.clone(), "ms", own, "fdatasync of the disk, p99.9", sync)
        .notes(format!("the longest fdatasync took {:.2} ms", syncs.quantile(1.0)));
    Ok([
        Row::new(what, Better::Lower, "ms", own, "busy_timeout alone", bare).notes(note),
        disk.wants(Wanted::RatioAtMost(WAIT_MAX)),
    ])
}

/// Writes to a file for as long as the writers do, and returns the time of each `fdatasync`.
fn disk_syncs() -> Result<Times> {
    let folder = folder()?;
    let mut file = File::create(folder.path().join("file"))?;
    let bytes = text(0, SYNCED_BYTES);
    let start = Instant::now();
    let mut times = Vec::new();
    while start.elapsed() < SPAN {
        // The file has a size limit, as a write-ahead log.
        if times.len() % SYNCS_OF_FILE == 0 {
            file.rewind()?;
        }
        file.write_all(&bytes)?;
        times.push(wall_timed(|| Ok(file.sync_data()?))?);
    }
    Ok(Times::new(times))
}

/// Runs the processes at the same time, and returns their measurements.
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
        // A process begins to write when its input is closed.
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
        .args([NAME, WORKER, writer, &number.to_string()])
        .arg(path)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
}

/// Runs a writing process, and returns its measurements as JSON.
pub(crate) fn measure(arguments: &[String]) -> Result<String> {
    let [writer, number, path] = arguments else { return Err("arguments are missing".into()) };
    let (id, path) = (format!("conversation {number}"), Path::new(path));
    let waited = if writer == OWN_WRITER {
        let mut own = Own::begin(SqliteStore::open(path)?, &id)?;
        write(|| own.commit())
    } else {
        let mut bare = Bare::begin(path, &id)?;
        write(|| bare.commit())
    };
    Ok(serde_json::to_string(&waited?)?)
}

fn write(mut commit: impl FnMut() -> Result<Duration>) -> Result<Waited> {
    writeln!(std::io::stdout(), "{READY}")?;
    std::io::stdin().read_line(&mut String::new())?;
    let start = Instant::now();
    let mut waited = Waited { commits: 0, worst_milliseconds: 0.0 };
    while start.elapsed() < SPAN {
        waited.worst_milliseconds = waited.worst_milliseconds.max(milliseconds(commit()?));
        waited.commits += 1;
    }
    Ok(waited)
}
