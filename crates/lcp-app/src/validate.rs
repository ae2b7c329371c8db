//! Validation of packs with checks of token costs and hand-offs.

use std::path::Path;

use lcp_continuity::{PackageError, SessionHandoff};
use lcp_decoder::PackIndex;
use lcp_driver::{IndexCosts, RENDERER_REVISION};
use lcp_packfile::{Check, PackScan, Problem, Report, ValidateOptions, handoff_index};
use lcp_tokens::{Encoding, Tiktoken};
use lcp_types::{BlockSource, EncodingCosts};
use serde_json::{Value, json};

use crate::error::{Error, Result};
use crate::files;
use crate::reporter::Reporter;

/// Finds all problems of a pack, including those of its hand-offs. With `full`, also checks its
/// index and token costs.
pub fn validate(bytes: &[u8], full: bool) -> Report {
    let options = ValidateOptions { full, checks: CHECKS };
    let mut report = lcp_packfile::validate(bytes, &options);
    if let ([], Some(problem)) = (bytes, report.problems.first_mut()) {
        files::EMPTY.clone_into(&mut problem.message);
    }
    report
}

/// Finds all problems of the pack at `path`, like [`validate`]. A large pack is read in parts.
///
/// # Errors
///
/// Returns an error if the file cannot be read.
pub fn validate_file(path: &Path, full: bool, reporter: &dyn Reporter) -> Result<Report> {
    if let Some(file) = files::open_large(path) {
        let options = ValidateOptions { full, checks: CHECKS };
        let report = lcp_packfile::validate_source(&file, &options);
        if let Some(report) = report.map_err(|error| Error::io("read", path.display(), &error))? {
            return Ok(report);
        }
    }
    Ok(validate(&files::read(path, reporter)?, full))
}

const CHECKS: &[&dyn Check] = &[&HandoffCheck, &CostCheck];

/// Returns the reports of packs as JSON (`lcp.validate.v1`). Each entry has the name of the pack
/// and the report, or the error if the pack could not be read.
pub fn to_json(checked: &[(String, Result<Report>)]) -> Value {
    let row = |problem: &Problem| {
        json!({
            "code": problem.code,
            "message": problem.message,
            "block": problem.block,
            "offset": problem.offset,
            "inner_offset": problem.inner_offset,
        })
    };
    let rows = |problems: &[Problem]| problems.iter().map(row).collect::<Vec<_>>();
    let pack = |(name, found): &(String, Result<Report>)| match found {
        Ok(found) => json!({
            "file": name,
            "valid": found.problems.is_empty(),
            "blocks": found.blocks,
            "problems": rows(&found.problems),
            "notes": rows(&found.notes),
        }),
        Err(failure) => json!({ "file": name, "valid": Value::Null, "error": failure.message }),
    };
    let packs: Vec<_> = checked.iter().map(pack).collect();
    json!({ "schema": "lcp.validate.v1", "packs": packs })
}

/// A check that a hand-off agrees with its blocks.
struct HandoffCheck;

impl Check for HandoffCheck {
    fn check_pack(&self, pack: &[u8], scan: &PackScan<'_>, report: &mut Report) {
        let Some(index) = scan.blocks.iter().position(|block| handoff_index(block).is_some())
        else {
            return;
        };
        if scan.references().next().is_some() {
            return;
        }
        let Err(error) = SessionHandoff::from_pack(pack) else { return };
        let block = match &error {
            PackageError::BadIndex { block, .. } => *block,
            PackageError::Inconsistent { block, .. } => usize::try_from(*block).unwrap_or(index),
            _ => index,
        };
        // A block that does not exist has no offset.
        let block = if block < scan.blocks.len() { block } else { index };
        let problem = Problem::in_block(scan, block, "bad_handoff", error.to_string());
        let is_note = matches!(error, PackageError::TooNew { .. });
        if is_note { report.notes.push(problem) } else { report.problems.push(problem) }
    }
}

/// A check that the token costs in the index match the blocks.
struct CostCheck;

impl Check for CostCheck {
    fn check_index(&self, index: &PackIndex, blocks: &dyn BlockSource, report: &mut Report) {
        let offset = index.footer().index_offset;
        for stored in &index.block_index().costs {
            let name = stored.encoding.escape_debug();
            let encoding = Encoding::from_name(&stored.encoding);
            let encoding = encoding.filter(|_| stored.revision == RENDERER_REVISION);
            let counted = encoding.and_then(|of| {
                IndexCosts::new(&Tiktoken::new(of)).count_source(blocks).ok().flatten()
            });
            match counted {
                None => {
                    let message = format!("cannot recount the token costs in {name}");
                    report.notes.push(Problem::new("costs_unchecked", message, offset));
                }
                Some(counted) if !costs_match(stored, &counted) => {
                    let message = format!("the token costs in {name} do not match the blocks");
                    report.problems.push(Problem::new("bad_index", message, offset));
                }
                Some(_) => {}
            }
        }
    }
}

/// Returns whether stored costs match the counted ones. Unknown modes are not compared.
fn costs_match(stored: &EncodingCosts, counted: &EncodingCosts) -> bool {
    let mut modes = stored.modes.iter();
    stored.contents == counted.contents
        && stored.joins == counted.joins
        && modes.all(|mode| counted.mode(&mode.mode).is_none_or(|counted| counted == mode))
}
