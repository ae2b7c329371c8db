//! What was run, added up over runs, and the table that the document has of it.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use lcp_fuzz::{TARGETS, Target, corpus};
use serde::{Deserialize, Serialize};

use lcp_cli::Result;
use lcp_cli::failure::{Code, Failure};

use super::libfuzzer::{Run, size};
use crate::tools;

const RECORD: &str = "fuzz/record.json";
const DOCUMENT: &str = "docs/reliability.md";

/// What stands in front of the table there, and of the other figures.
const TABLE: &str = "<!-- figures: written by `cargo xtask fuzz --write` -->\n";
const EXHAUSTIVE: &str = "<!-- figures: written by `cargo xtask fuzz --exhaustive --write` -->\n";
const END: &str = "<!-- end of figures -->\n";

/// All runs of a target that were recorded.
#[derive(Debug, Default, Deserialize, PartialEq, Serialize)]
struct Recorded {
    executions: u64,
    /// Of them, with a sanitizer that watches memory.
    with_address: u64,
    /// By the clock, of one process.
    seconds: u64,
    /// Edges of the code that the inputs of the last run without that sanitizer reached.
    edges: u64,
    /// Inputs in `fuzz/artifacts` that broke a law after the last run.
    crashes: usize,
}

type Record = BTreeMap<String, Recorded>;

/// Adds a run to the record.
pub(super) fn add(target: &Target, run: &Run, address: bool) -> Result {
    let mut record = read()?;
    record.entry(target.name.to_owned()).or_default().add(run, address);
    let json = serde_json::to_string_pretty(&record).unwrap_or_default() + "\n";
    let path = crate::workspace().join(RECORD);
    std::fs::write(path, json).map_err(|error| Failure::io("write", RECORD, &error))
}

fn read() -> Result<Record> {
    match std::fs::read(crate::workspace().join(RECORD)) {
        Ok(json) => serde_json::from_slice(&json)
            .map_err(|error| Failure::new(Code::Malformed, format!("{RECORD}: {error}"))),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Record::new()),
        Err(error) => Err(Failure::io("read", RECORD, &error)),
    }
}

/// Writes the document anew: a table of the record, and the other figures where there are new.
pub(super) fn write(exhaustive: Option<&str>) -> Result {
    tools::write_between(DOCUMENT, (TABLE, END), &table(&read()?, &corpus()))?;
    exhaustive.map_or(Ok(()), |figures| tools::write_between(DOCUMENT, (EXHAUSTIVE, END), figures))
}

impl Recorded {
    fn add(&mut self, run: &Run, address: bool) {
        self.executions += run.executions;
        self.seconds += run.seconds;
        self.crashes = run.crashes.len();
        if address {
            self.with_address += run.executions;
        } else if run.edges > 0 {
            self.edges = run.edges;
        }
    }
}

fn table(record: &Record, corpus: &Path) -> String {
    let mut table = String::from(
        "| target | executions | of them with AddressSanitizer | seconds | edges reached | corpus, inputs | corpus, bytes | open crashes |\n\
         |---|---|---|---|---|---|---|---|\n",
    );
    let mut all = Recorded::default();
    let (mut inputs_of_all, mut bytes_of_all) = (0, 0);
    for target in TARGETS {
        let Some(of) = record.get(target.name) else { continue };
        let (inputs, bytes) = size(&corpus.join(target.name));
        row(&mut table, &format!("`{}`", target.name), of, &of.edges.to_string(), inputs, bytes);
        all.executions += of.executions;
        all.with_address += of.with_address;
        all.seconds += of.seconds;
        all.crashes += of.crashes;
        inputs_of_all += inputs;
        bytes_of_all += bytes;
    }
    row(&mut table, "all", &all, "", inputs_of_all, bytes_of_all);
    table
}

fn row(table: &mut String, name: &str, of: &Recorded, edges: &str, inputs: usize, bytes: u64) {
    let Recorded { executions, with_address, seconds, crashes, .. } = of;
    // Writing to a string cannot fail.
    _ = writeln!(
        table,
        "| {name} | {executions} | {with_address} | {seconds} | {edges} | {inputs} | {bytes} | {crashes} |"
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_add_up_and_the_last_one_says_what_is_open() {
        let run = |executions, crashes| Run { executions, seconds: 2, edges: 7, crashes };
        let mut recorded = Recorded::default();
        recorded.add(&run(100, vec!["crash".into()]), false);
        recorded.add(&Run { edges: 90, ..run(50, Vec::new()) }, true);
        let expected =
            Recorded { executions: 150, with_address: 50, seconds: 4, edges: 7, crashes: 0 };
        assert_eq!(recorded, expected);
        let record = Record::from([("decoder".to_owned(), recorded)]);
        let table = table(&record, Path::new("nowhere"));
        assert!(table.contains("| `decoder` | 150 | 50 | 4 | 7 | 0 | 0 | 0 |"), "{table}");
        assert!(table.contains("| all | 150 |"), "{table}");
    }
}
