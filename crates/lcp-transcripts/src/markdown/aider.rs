//! Chat histories in the form in which aider writes them.
//!
//! Lines that begin with `#### ` are the user's, those with `> ` what the program
//! said, all others the model's; a heading tells where a session began.

use lcp_types::Role;

use super::{Chat, Turn};

const USER: &str = "####";
const TOOL: &str = ">";
const BOUNDARY: &str = "# aider chat started at";

/// What the results of tools are called in a history of aider, which does not tell which
/// tool it was.
pub const AIDER_TOOL_NAME: &str = "aider";

/// The turns of a history, in order; `None` where no session begins.
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
    /// The turn that goes on.
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
            // Each input of the user has a paragraph of its own.
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

/// What follows a mark and a space; nothing where the line is the mark alone.
fn marked<'l>(line: &'l str, mark: &str) -> Option<&'l str> {
    let rest = line.strip_prefix(mark)?;
    if rest.is_empty() { Some(rest) } else { rest.strip_prefix(' ') }
}
