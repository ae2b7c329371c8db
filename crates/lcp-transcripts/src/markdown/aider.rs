//! Reads chat histories of aider.
//!
//! Lines that begin with `#### ` are from the user, lines that begin with `> ` are output of the
//! program, and all other lines are from the model. A heading marks the beginning of a session.

use lcp_types::Role;

use super::{Chat, Turn};

const USER: &str = "####";
const TOOL: &str = ">";
const BOUNDARY: &str = "# aider chat started at";

/// The tool name of all tool results in a history of aider, which does not record tool names.
pub const AIDER_TOOL_NAME: &str = "aider";

/// Returns the turns of a history in order; `None` if the text has no session heading.
pub(super) fn turns(text: &str) -> Option<Chat> {
    text.lines().any(|line| line.starts_with(BOUNDARY)).then(|| {
        let mut reader = Reader { turns: Vec::new(), open: None };
        for line in text.lines() {
            reader.line(line);
        }
        reader.close();
        Chat { tool: AIDER_TOOL_NAME, preamble: String::new(), turns: reader.turns }
    })
}

struct Reader {
    turns: Vec<Turn>,
    /// The turn that the next line can continue.
    open: Option<(Role, String)>,
}

impl Reader {
    fn line(&mut self, line: &str) {
        if line.starts_with(BOUNDARY) {
            return self.close();
        }
        if let Some(text) = marked(line, USER) {
            return self.add(Role::User, text.trim_end());
        }
        if let Some(text) = marked(line, TOOL) {
            return self.add(Role::Tool, text.trim_end());
        }
        if !line.trim().is_empty() {
            return self.add(Role::Assistant, line);
        }
        match self.open {
            // A blank line ends an input of the user.
            Some((Role::User, _)) => self.close(),
            Some((role, _)) => self.add(role, ""),
            None => {}
        }
    }

    fn add(&mut self, role: Role, line: &str) {
        if self.open.as_ref().is_some_and(|(open, _)| *open != role) {
            self.close();
        }
        let (_, text) = self.open.get_or_insert_with(|| (role, String::new()));
        text.push_str(line);
        text.push('\n');
    }

    fn close(&mut self) {
        let Some((role, text)) = self.open.take() else { return };
        let text = text.trim_matches('\n').to_owned();
        if !text.trim().is_empty() {
            self.turns.push(Turn { role, text });
        }
    }
}

/// Returns the text after a mark and a space, or an empty text if the line is only the mark.
fn marked<'l>(line: &'l str, mark: &str) -> Option<&'l str> {
    let rest = line.strip_prefix(mark)?;
    if rest.is_empty() { Some(rest) } else { rest.strip_prefix(' ') }
}
