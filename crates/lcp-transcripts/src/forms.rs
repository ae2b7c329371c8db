//! Results of tools that are more than text: files with line numbers, diffs.

use lcp_types::{Block, BlockContent, Lang};

use crate::json::{self, Fields};
use crate::line_numbers::Style;
use crate::{diff, line_numbers};

/// The form of a text that became a DIFF.
const UNIFIED: &str = "unified";

/// What arguments call the file that is read.
const PATHS: [&str; 6] = ["file_path", "path", "filename", "file", "target_file", "absolute_path"];

/// What a result is of.
pub(crate) struct ResultOf<'r> {
    /// The arguments of the call, where they are known.
    pub(crate) arguments: Option<&'r str>,
}

/// A block that says more than TOOL_RESULT, and the value of its tag
/// [`FORM`](crate::annotation_keys::FORM); only where [`text`] gives exactly this text again.
pub(crate) fn block(of: &ResultOf<'_>, text: &str) -> Option<(Block<'static>, String)> {
    if let Some(diff) = diff::parse_exact(text) {
        return Some((Block::new(diff).into_owned(), UNIFIED.to_owned()));
    }
    let lines = line_numbers::parse_exact(text)?;
    let path = path(of.arguments?)?;
    // What language it is, its readers know better.
    let block = Block::code_lines(Lang::Unknown, path, lines.content, lines.first, lines.last);
    Some((block, lines.style.name()))
}

/// The text that such a block was made of.
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

/// The file that a call with these arguments reads.
fn path(arguments: &str) -> Option<String> {
    let fields = Fields::parse(arguments)?;
    let named = PATHS.iter().find_map(|key| fields.string(key));
    named.or_else(|| shown(&fields)).filter(|path| !path.is_empty())
}

/// The file that a shell command shows, if it does nothing else.
fn shown(fields: &Fields<'_>) -> Option<String> {
    let command = fields.get("command").or_else(|| fields.get("cmd"))?;
    let words: Vec<String> = match json::array(command) {
        Some(words) => words.into_iter().map(json::string).collect::<Option<_>>()?,
        None => json::string(command)?.split_whitespace().map(str::to_owned).collect(),
    };
    // What a shell would not take as it stands is left to shells.
    let is_plain = |path: &str| !path.contains(['*', '?', '$', '"', '\'', '`', '|', ';', '&', '>']);
    match words.as_slice() {
        [cat, flag, path] if cat == "cat" && flag == "-n" && is_plain(path) => Some(path.clone()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made(arguments: &str, text: &str) -> Option<(Block<'static>, String)> {
        block(&ResultOf { arguments: Some(arguments) }, text)
    }

    #[test]
    fn forms_give_their_text_again() {
        let lines = "     4→fn f() {\n     5→}";
        let unified = "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n";
        let read = |arguments| made(arguments, lines);
        for made in [
            read(r#"{"file_path":"/src/f.rs","offset":4}"#),
            read(r#"{"command":"cat -n src/f.rs"}"#),
            read(r#"{"command":["cat","-n","src/f.rs"]}"#),
        ] {
            let (block, form) = made.unwrap();
            assert_eq!(
                (form.as_str(), text(&form, &block).as_deref()),
                ("cat-n,6,arrow", Some(lines))
            );
            let BlockContent::Code(code) = &block.content else { panic!("{block:?}") };
            assert_eq!((code.line_start, code.line_end), (Some(4), Some(5)));
            assert!(code.path.ends_with("src/f.rs"));
        }
        let (block, form) = made("{}", unified).unwrap();
        assert_eq!(text(&form, &block).as_deref(), Some(unified));
        for arguments in ["", "{}", r#"{"path":""}"#, r#"{"command":"cat -n a | head"}"#] {
            assert!(read(arguments).is_none(), "{arguments}");
        }
    }
}
