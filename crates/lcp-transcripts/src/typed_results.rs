//! Tool results that become typed blocks: files with line numbers, and diffs.

use lcp_types::{Block, BlockContent, Lang};

use crate::line_numbers::Style;
use crate::raw_json::{self, Fields};
use crate::{diff, line_numbers};

/// The form of a text that became a DIFF.
const UNIFIED: &str = "unified";

/// The names of the argument that holds the path of the file.
const PATHS: [&str; 6] = ["file_path", "path", "filename", "file", "target_file", "absolute_path"];

/// Returns the CODE or DIFF block of a result, and its form, if [`text`] restores the text exactly.
pub(crate) fn block(arguments: Option<&str>, text: &str) -> Option<(Block<'static>, String)> {
    if let Some(diff) = diff::parse_exact(text) {
        return Some((Block::new(diff).into_owned(), UNIFIED.to_owned()));
    }
    let lines = line_numbers::parse_exact(text)?;
    let path = path(arguments?)?;
    // The consumers of the block detect its language.
    let block = Block::code_lines(Lang::Unknown, path, lines.content, lines.first, lines.last);
    Some((block, lines.style.name()))
}

pub(crate) fn text(form: &str, block: &Block<'_>) -> Option<String> {
    match &block.content {
        BlockContent::Diff(diff) if form == UNIFIED => Some(diff::write(diff)),
        BlockContent::Code(code) => {
            let style = Style::from_name(form)?;
            Some(line_numbers::write(&code.content.to_str_lossy(), code.line_start?, style))
        }
        _ => None,
    }
}

/// Returns the path of the file that a call with these arguments reads.
fn path(arguments: &str) -> Option<String> {
    let fields = Fields::parse(arguments)?;
    let named = PATHS.iter().find_map(|key| fields.string(key));
    named.or_else(|| path_of_command(&fields)).filter(|path| !path.is_empty())
}

/// Returns the path of the file that a shell command prints, if it is a plain `cat -n`.
fn path_of_command(fields: &Fields<'_>) -> Option<String> {
    let command = fields.get("command").or_else(|| fields.get("cmd"))?;
    let words: Vec<String> = match raw_json::array(command) {
        Some(words) => words.into_iter().map(raw_json::string).collect::<Option<_>>()?,
        None => raw_json::string(command)?.split_whitespace().map(str::to_owned).collect(),
    };
    // A path with shell syntax is skipped, because only a shell can expand it.
    let is_plain = |path: &str| !path.contains(['*', '?', '$', '"', '\'', '`', '|', ';', '&', '>']);
    match words.as_slice() {
        [cat, flag, path] if cat == "cat" && flag == "-n" && is_plain(path) => Some(path.clone()),
        _ => None,
    }
}
