//! A writer that is killed: what it was told is kept, is kept.

use std::io::{BufRead, BufReader, Write};
use std::process::Stdio;

use lcp_store::content::BatchStore;

use crate::content::support::{CHILD, child, folder, hash, noise, open_sqlite};

/// Run by [`acknowledged_puts_survive_a_killed_process`]: puts until it is killed.
#[test]
fn child_puts_until_killed() {
    let Some(path) = std::env::var_os(CHILD) else { return };
    let mut store = open_sqlite(path).expect("a store");
    for number in 0.. {
        let bodies = batch(number);
        let bodies: Vec<_> = bodies.iter().map(Vec::as_slice).collect();
        store.put_many(&bodies).expect("a put");
        writeln!(std::io::stdout(), "\nkept {number}").expect("somebody listens");
    }
}

fn batch(number: u64) -> Vec<Vec<u8>> {
    (0..20).map(|body| noise(number << 16 | body, 3000)).collect()
}

#[test]
fn acknowledged_puts_survive_a_killed_process() {
    let folder = folder();
    let path = folder.path().join("bodies.db");
    let mut kept = None;
    for round in 1..=3 {
        let mut writer = child("content::killed::child_puts_until_killed", &path)
            .stdout(Stdio::piped())
            .spawn()
            .expect("a process");
        let mut lines = BufReader::new(writer.stdout.take().expect("piped")).lines();
        for line in lines.by_ref() {
            let line = line.expect("text");
            let Some(number) = line.strip_prefix("kept ") else { continue };
            let number: u64 = number.parse().expect("a number");
            if number >= round * 10 {
                break;
            }
        }
        writer.kill().expect("it runs");
        // What it said before that counts, too.
        let rest = lines.map_while(Result::ok).collect::<Vec<_>>();
        let said = rest.iter().filter_map(|line| line.strip_prefix("kept ")?.parse::<u64>().ok());
        kept = kept.max(said.max()).max(Some(round * 10));
        writer.wait().expect("it ended");

        let store = open_sqlite(&path).expect("nothing to repair by hand");
        for number in 0..=kept.expect("some") {
            let bodies = batch(number);
            let hashes: Vec<_> = bodies.iter().map(|body| hash(body)).collect();
            let found = store.get_many(&hashes).expect("whole");
            assert!(found.into_iter().eq(bodies.into_iter().map(Some)), "batch {number}");
        }
    }
}
