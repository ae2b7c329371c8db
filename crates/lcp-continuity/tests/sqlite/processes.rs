//! Several processes with one file, and processes that are killed.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::Duration;

use lcp_continuity::store::{Error, SqliteOptions, SqliteStore, Store};
use rusqlite::Connection;

use crate::support::{CHILD, HOUR, begun, child, folder, handoff, message, noise, window};

/// Returns the number and the path that a child was given.
fn child_arguments() -> Option<(String, String)> {
    let told = std::env::var(CHILD).ok()?;
    let (number, path) = told.split_once(' ')?;
    Some((number.to_owned(), path.to_owned()))
}

fn start(test: &str, number: usize, path: &Path) -> Child {
    let told = format!("{number} {}", path.display());
    child(test, told).stdout(Stdio::piped()).spawn().expect("a process")
}

/// Returns the lines that a process printed before it ended.
fn lines(process: &mut Child) -> impl Iterator<Item = String> + use<> {
    let stdout = process.stdout.take().expect("piped");
    BufReader::new(stdout).lines().map_while(Result::ok)
}

/// Returns the pack of hand-off `number`. It is larger than a page, and of an odd size.
fn pack(number: u64) -> Vec<u8> {
    noise(number, 5_001)
}

/// Runs as a child of [`acknowledged_handoffs_survive_a_killed_process`].
#[test]
fn child_writes_until_killed() {
    let Some((round, path)) = child_arguments() else { return };
    let store = SqliteStore::open(path).expect("a store");
    let lease = begun(&store, &format!("round {round}"));
    for number in 0.. {
        let id = format!("{round}/{number}");
        store.append(&lease, &[message(id.as_bytes())], None).expect("it is kept");
        store.commit(&lease, &handoff(&id, &pack(number))).expect("it is kept");
        writeln!(std::io::stdout(), "\nkept {number}").expect("somebody listens");
    }
}

#[test]
fn acknowledged_handoffs_survive_a_killed_process() {
    let (_folder, path) = folder();
    for round in 0..5 {
        let mut writer = start("processes::child_writes_until_killed", round, &path);
        let mut lines = lines(&mut writer);
        let mut kept = lines.by_ref().filter(|line| line.starts_with("kept "));
        // The writer is killed at a different point in each round.
        kept.nth(3 + 7 * round).expect("it writes");
        writer.kill().expect("a process");
        let acknowledged = 4 + 7 * round as u64 + kept.count() as u64;
        writer.wait().expect("it ended");

        let store = SqliteStore::open(&path).expect("whole");
        for number in 0..acknowledged {
            let kept = store.handoff(&format!("{round}/{number}")).expect("acknowledged");
            assert!(kept.pack == pack(number), "{round}/{number}");
        }
        let conversation = format!("round {round}");
        let messages = store.messages(&conversation, 0, u64::MAX).expect("whole");
        assert!(messages.len() as u64 >= acknowledged);
        for (number, message) in messages.iter().enumerate() {
            assert_eq!(message.body, format!("{round}/{number}").into_bytes());
        }
        store.lease(&conversation, "holder", HOUR).expect("its holder comes back");
    }
}

/// Runs as a child of [`one_of_eight_processes_resumes_each_handoff`].
#[test]
fn child_claims_and_resumes_handoffs() {
    let Some((number, path)) = child_arguments() else { return };
    let store = SqliteStore::open(path).expect("a store");
    for handoff in 0..10 {
        let won = store
            .claim(&format!("h{handoff}"), &number, HOUR)
            .and_then(|claim| store.resume(&claim, &window(&format!("{number}/{handoff}"))));
        match won {
            Ok(_) => writeln!(std::io::stdout(), "\nwon {handoff}").expect("somebody listens"),
            Err(error) => {
                assert!(["claimed", "already_resumed"].contains(&error.code()), "{error}");
            }
        }
    }
}

#[test]
fn one_of_eight_processes_resumes_each_handoff() {
    let (_folder, path) = folder();
    let store = SqliteStore::open(&path).expect("a new store");
    for number in 0..10 {
        let lease = begun(&store, &format!("c{number}"));
        store.commit(&lease, &handoff(&format!("h{number}"), b"a pack")).expect("it is kept");
    }
    let mut claimants: Vec<_> = (0..8)
        .map(|number| start("processes::child_claims_and_resumes_handoffs", number, &path))
        .collect();
    let mut won = Vec::new();
    for claimant in &mut claimants {
        won.extend(lines(claimant).filter_map(|line| Some(line.strip_prefix("won ")?.to_owned())));
        assert!(claimant.wait().expect("it ended").success());
    }
    won.sort();
    assert_eq!(won, (0..10).map(|number| number.to_string()).collect::<Vec<_>>());
}

#[test]
fn writer_that_waits_too_long_gets_busy_error() {
    let (_folder, path) = folder();
    let options = SqliteOptions { busy_timeout: Duration::ZERO, ..SqliteOptions::default() };
    let store = SqliteStore::open_with(&path, &options).expect("a new store");
    let lease = begun(&store, "a");
    let other = Connection::open(&path).expect("a database");
    other.execute_batch("BEGIN IMMEDIATE").expect("the lock");
    assert_eq!(store.append(&lease, &[message(b"one")], None), Err(Error::Busy));
    assert_eq!(store.conversation("a").expect("readers do not wait").messages, 0);
    other.execute_batch("ROLLBACK").expect("no lock");
    assert_eq!(store.append(&lease, &[message(b"one")], None), Ok(1));
}
