//! What was packed, and what was left out: for programs and for people.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::kinds::Kind;
use super::rules::Says;
use super::skipped::{Reason, Skipped};

/// A file that has a block.
#[derive(Clone, Debug, PartialEq)]
pub struct PackedFile {
    /// Its label.
    pub path: String,
    /// What it is.
    pub kind: Kind,
    /// Its size.
    pub bytes: u64,
    /// What the rules say of it.
    pub says: Says,
    /// Whether it differs from a revision that was asked for.
    pub changed: bool,
    /// Bytes of its summary, where it has one.
    pub summary_bytes: Option<u64>,
}

/// What became of all that was found.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Report {
    /// Files that have a block, in the order of the pack.
    pub files: Vec<PackedFile>,
    /// The path of each block of changes, with what the rules say of it and its hunks.
    pub diffs: Vec<(String, Says, usize)>,
    /// What has no block, sorted by path.
    pub skipped: Vec<Skipped>,
    /// What is odd, in lines for people.
    pub warnings: Vec<String>,
}

impl Report {
    /// Bytes of all files that have a block.
    pub fn bytes(&self) -> u64 {
        self.files.iter().map(|file| file.bytes).sum()
    }

    /// How many were left out for each reason that there is.
    pub fn reasons(&self) -> BTreeMap<Reason, usize> {
        let mut reasons = BTreeMap::new();
        for skipped in &self.skipped {
            *reasons.entry(skipped.reason).or_default() += 1;
        }
        reasons
    }

    /// What was left out for this reason.
    pub fn skipped_by(&self, reason: Reason) -> impl Iterator<Item = &Skipped> {
        self.skipped.iter().filter(move |skipped| skipped.reason == reason)
    }

    /// How many were left out and why, in words, if any were.
    pub fn left_out(&self) -> Option<String> {
        let reasons: Vec<_> = self
            .reasons()
            .into_iter()
            .map(|(reason, count)| format!("{count} {}", reason.name().replace('_', " ")))
            .collect();
        let count = self.skipped.len();
        let files = if count == 1 { "file" } else { "files" };
        (count > 0).then(|| format!("{count} {files} left out: {}", reasons.join(", ")))
    }

    /// The report as `lcp.pack.v1`, but for what belongs to the written pack.
    pub fn to_json(&self) -> Value {
        let reasons = self.reasons().into_iter();
        let reasons = reasons.map(|(reason, count)| (reason.name().to_owned(), count.into()));
        json!({
            "schema": "lcp.pack.v1",
            "totals": {
                "files": self.files.len(),
                "bytes": self.bytes(),
                "diffs": self.diffs.len(),
                "skipped": self.skipped.len(),
                "skipped_by_reason": Value::Object(reasons.collect()),
            },
            "packed": self.files.iter().map(file).collect::<Vec<_>>(),
            "diffs": self.diffs.iter().map(diff).collect::<Vec<_>>(),
            "skipped": self.skipped.iter().map(left_out).collect::<Vec<_>>(),
            "warnings": self.warnings,
        })
    }
}

fn file(file: &PackedFile) -> Value {
    let (kind, format) = file.kind.names();
    let mut value = json!({
        "path": file.path,
        "type": kind,
        "format": format,
        "bytes": file.bytes,
        "changed": file.changed,
        "summary_bytes": file.summary_bytes,
    });
    add(&mut value, &file.says);
    value
}

fn diff((path, says, hunks): &(String, Says, usize)) -> Value {
    let mut value = json!({ "path": path, "hunks": hunks });
    add(&mut value, says);
    value
}

fn add(value: &mut Value, says: &Says) {
    value["priority"] = says.priority.unwrap_or_default().name().into();
    value["category"] = says.category.clone().into();
    value["rank"] = says.rank.into();
    value["pinned"] = says.pinned.unwrap_or_default().into();
}

fn left_out(skipped: &Skipped) -> Value {
    json!({
        "path": skipped.path,
        "reason": skipped.reason.name(),
        "bytes": skipped.bytes,
        "message": skipped.message,
    })
}
