//! Checks of packs that need more than the pack: token costs and hand-offs.

use lcp_continuity::{PackageError, SessionHandoff};
use lcp_decoder::PackIndex;
use lcp_driver::{IndexCosts, RENDERER_REVISION};
use lcp_packfile::{Check, PackScan, Problem, Report, ValidateOptions, handoff_index};
use lcp_tokens::{Encoding, Tiktoken};
use lcp_types::{Block, EncodingCosts};
use serde_json::{Value, json};

use crate::error::Result;

/// Finds all problems of a pack, its costs and hand-offs included; with `full` those of its index.
pub fn validate(bytes: &[u8], full: bool) -> Report {
    let checks: [&dyn Check; 2] = [&HandoffCheck, &CostCheck];
    lcp_packfile::validate(bytes, &ValidateOptions { full, checks: &checks })
}

/// Returns the reports of packs as JSON (`lcp.validate.v1`): each with its name, or with the error
/// of a pack that could not be read.
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

/// Checks that a hand-off agrees with its blocks.
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
        // A block that does not exist has no place.
        let block = if block < scan.blocks.len() { block } else { index };
        let problem = Problem::in_block(scan, block, "bad_handoff", error.to_string());
        let is_note = matches!(error, PackageError::TooNew { .. });
        if is_note { report.notes.push(problem) } else { report.problems.push(problem) }
    }
}

/// Checks that the blocks have the token costs that the index gives.
struct CostCheck;

impl Check for CostCheck {
    fn check_index(&self, index: &PackIndex, blocks: &[Block<'_>], report: &mut Report) {
        let offset = index.footer().index_offset;
        for stored in &index.block_index().costs {
            let name = stored.encoding.escape_debug();
            let encoding = Encoding::from_name(&stored.encoding);
            let encoding = encoding.filter(|_| stored.revision == RENDERER_REVISION);
            let counted = encoding.and_then(|of| IndexCosts::new(&Tiktoken::new(of)).count(blocks));
            match counted {
                None => {
                    let message = format!("what blocks cost in {name} cannot be counted here");
                    report.notes.push(Problem::new("costs_unchecked", message, offset));
                }
                Some(counted) if !costs_match(stored, &counted) => {
                    let message = format!("the index does not have what the blocks cost in {name}");
                    report.problems.push(Problem::new("bad_index", message, offset));
                }
                Some(_) => {}
            }
        }
    }
}

/// Returns whether costs are those counted; modes that are unknown here are not compared.
fn costs_match(stored: &EncodingCosts, counted: &EncodingCosts) -> bool {
    let mut modes = stored.modes.iter();
    stored.contents == counted.contents
        && stored.joins == counted.joins
        && modes.all(|mode| counted.mode(&mode.mode).is_none_or(|counted| counted == mode))
}
