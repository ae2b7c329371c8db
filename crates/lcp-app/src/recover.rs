//! Recovery of truncated or damaged packs.

use std::path::Path;

use lcp_packfile::{LostRange, Recovery};
use serde_json::{Value, json};

use crate::append::pack_error;
use crate::error::Result;

/// Recovers a pack that was read from `path`.
///
/// # Errors
///
/// Returns an error if no part of a pack is readable, or if the new one would exceed a limit.
pub fn recover(path: &Path, bytes: &[u8]) -> Result<Recovery> {
    lcp_packfile::recover(bytes).map_err(|error| pack_error(path, &bytes, &error))
}

/// Joins adjacent ranges that were lost for the same reason; returns each with its count.
pub fn join_lost(lost: &[LostRange]) -> Vec<(LostRange, u64)> {
    let mut joined: Vec<(LostRange, u64)> = Vec::new();
    for lost in lost {
        match joined.last_mut() {
            Some((before, count))
                if before.reason == lost.reason
                    && before.bytes.end == lost.bytes.start
                    && lost.block.is_some() =>
            {
                before.bytes.end = lost.bytes.end;
                *count += 1;
            }
            _ => joined.push((lost.clone(), 1)),
        }
    }
    joined
}

/// Returns the report on the pack of this name as JSON (`lcp.recover.v1`).
pub fn to_json(name: &str, recovered: &Recovery) -> Value {
    let row = |lost: &LostRange| {
        json!({
            "start": lost.bytes.start,
            "end": lost.bytes.end,
            "block": lost.block,
            "why": lost.reason,
        })
    };
    json!({
        "schema": "lcp.recover.v1",
        "file": name,
        "whole": recovered.lost.is_empty(),
        "blocks": recovered.blocks,
        "missing": recovered.missing,
        "dropped": recovered.dropped,
        "lost": recovered.lost.iter().map(row).collect::<Vec<_>>(),
    })
}
