//! Extracts the files that a session works on.

use lcp_types::BlockContent;
use serde_json::Value;

use super::super::tool_calls::Call;
use super::{MAX_FILES, push_newest};

/// Words in the names of tools that read, write or edit files.
const TOOLS: [&str; 17] = [
    "read", "write", "edit", "view", "open", "cat", "patch", "update", "create", "replace",
    "insert", "multiedit", "notebook", "file", "save", "append", "editor",
];

const KEYS: [&str; 10] = [
    "file_path", "path", "filepath", "filePath", "filename", "file", "notebook_path",
    "target_file", "relative_path", "absolute_path",
];

/// The prefixes of file names in patches.
const PATCHED: [&str; 4] = ["*** Update File: ", "*** Add File: ", "*** Move to: ", "+++ b/"];
const MAX_PATH: usize = 300;

/// Returns the path of a block that is a file or part of one.
pub(super) fn path_of_block(content: &BlockContent<'_>) -> Option<String> {
    match content {
        BlockContent::Code(code) => is_plausible_path(&code.path).then(|| code.path.to_string()),
        BlockContent::Diff(diff) => is_plausible_path(&diff.path).then(|| diff.path.to_string()),
        BlockContent::Document(document) => {
            is_path(&document.title).then(|| document.title.to_string())
        }
        _ => None,
    }
}

pub(super) fn add_from_call(call: &Call, files: &mut Vec<String>) {
    if !call.names_any(&TOOLS) {
        return;
    }
    for path in paths(call) {
        push_newest(files, path, MAX_FILES);
    }
}

fn paths(call: &Call) -> Vec<String> {
    let Some(json) = &call.json else { return paths_in_text(&call.text) };
    let named = call.argument(&KEYS).and_then(Value::as_str).filter(|path| is_plausible_path(path));
    let mut paths: Vec<String> = named.map(str::to_owned).into_iter().collect();
    if let Some(Value::Array(many)) = call.argument(&["paths", "files", "file_paths"]) {
        let many = many.iter().filter_map(|path| {
            path.as_str().or_else(|| KEYS.iter().find_map(|key| path.get(*key)?.as_str()))
        });
        paths.extend(many.filter(|path| is_plausible_path(path)).map(str::to_owned));
    }
    if paths.is_empty() {
        let patch = ["patch", "input", "diff"].iter().find_map(|key| json.get(*key)?.as_str());
        paths = patch.map(patched_files).unwrap_or_default();
    }
    paths
}

/// Returns the files of a patch, or else the first word that is a path.
fn paths_in_text(text: &str) -> Vec<String> {
    let patched = patched_files(text);
    if !patched.is_empty() {
        return patched;
    }
    let trim = |word| str::trim_matches(word, ['"', '\'', '`', ',', '(', ')']);
    text.split_whitespace()
        .map(trim)
        .find(|word| is_path(word))
        .map(str::to_owned)
        .into_iter()
        .collect()
}

fn patched_files(patch: &str) -> Vec<String> {
    let named = |line: &str| {
        PATCHED.iter().find_map(|mark| Some(line.strip_prefix(mark)?.trim().to_owned()))
    };
    patch.lines().filter_map(named).filter(|path| is_plausible_path(path)).collect()
}

/// Returns whether a text given as a path can be one.
fn is_plausible_path(path: &str) -> bool {
    (1..=MAX_PATH).contains(&path.len())
        && path.trim() == path
        && !path.contains(char::is_control)
        && !matches!(path, "." | ".." | "/")
}

fn is_path(text: &str) -> bool {
    let name = text.rsplit(['/', '\\']).next().unwrap_or(text);
    let has_extension = name.rsplit_once('.').is_some_and(|(_, extension)| {
        (1..=8).contains(&extension.len())
            && extension.starts_with(|c: char| c.is_ascii_alphabetic())
            && extension.chars().all(|c| c.is_ascii_alphanumeric())
    });
    is_plausible_path(text)
        && !text.contains(char::is_whitespace)
        && !text.contains("://")
        && !text.starts_with(['-', '{', '['])
        && (has_extension || name.len() < text.len() && !name.is_empty())
}
