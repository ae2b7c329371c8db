//! Chat histories in the form in which aider writes them: Markdown.
//!
//! Lines that begin with `#### ` are the user's, those with `> ` what the program
//! said, all others the model's; a heading tells where a session began.

use lcp_continuity::Message;
use lcp_types::{Block, Status};

const USER: &str = "####";
const TOOL: &str = ">";
const BOUNDARY: &str = "# aider chat started at";

/// What the results of tools are called: a history does not tell which it was.
const TOOL_NAME: &str = "aider";

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    User,
    Tool,
    Assistant,
}

/// The messages of a history, in order; none is empty.
pub(super) fn messages(text: &str) -> Vec<Message> {
    let mut reader = Reader { messages: Vec::new(), open: None };
    for line in text.lines() {
        reader.line(line);
    }
    reader.close();
    reader.messages
}

struct Reader {
    messages: Vec<Message>,
    /// The message that goes on.
    open: Option<(Kind, String)>,
}

impl Reader {
    fn line(&mut self, line: &str) {
        if line.starts_with(BOUNDARY) {
            return self.close();
        }
        if let Some(text) = marked(line, USER) {
            return self.add(Kind::User, text.trim_end());
        }
        if let Some(text) = marked(line, TOOL) {
            return self.add(Kind::Tool, text.trim_end());
        }
        if !line.trim().is_empty() {
            return self.add(Kind::Assistant, line);
        }
        match self.open {
            // Each input of the user has a paragraph of its own.
            Some((Kind::User, _)) => self.close(),
            Some((kind, _)) => self.add(kind, ""),
            None => {}
        }
    }

    fn add(&mut self, kind: Kind, line: &str) {
        if self.open.as_ref().is_some_and(|(open, _)| *open != kind) {
            self.close();
        }
        let (_, text) = self.open.get_or_insert_with(|| (kind, String::new()));
        text.push_str(line);
        text.push('\n');
    }

    fn close(&mut self) {
        let Some((kind, text)) = self.open.take() else { return };
        let text = text.trim_matches('\n').to_owned();
        if text.trim().is_empty() {
            return;
        }
        self.messages.push(match kind {
            Kind::User => Message::user(text),
            Kind::Assistant => Message::assistant(text),
            Kind::Tool => Message::new(Block::tool_result(TOOL_NAME, Status::Ok, text)),
        });
    }
}

/// What follows a mark and a space; nothing where the line is the mark alone.
fn marked<'l>(line: &'l str, mark: &str) -> Option<&'l str> {
    let rest = line.strip_prefix(mark)?;
    if rest.is_empty() { Some(rest) } else { rest.strip_prefix(' ') }
}

#[cfg(test)]
mod tests {
    use lcp_types::Role;

    use super::*;

    fn said(text: &str) -> Vec<(Role, String)> {
        let said = |message: &Message| (message.role(), message.text().into_owned());
        messages(text).iter().map(said).collect()
    }

    #[test]
    fn each_kind_of_line_is_a_message_of_its_own() {
        let history = "\n# aider chat started at 2026-01-01 10:00:00\n\n> Added a.rs  \n>  \n\n\
                       #### Split it.  \n#### Keep the tests.  \n\n#### /run cargo test  \n\n\
                       I will.\n\n#heading\n> Applied edit to a.rs  \n";
        let expected = [
            (Role::Tool, "Added a.rs"),
            (Role::User, "Split it.\nKeep the tests."),
            (Role::User, "/run cargo test"),
            (Role::Assistant, "I will.\n\n#heading"),
            (Role::Tool, "Applied edit to a.rs"),
        ];
        assert_eq!(said(history), expected.map(|(role, text)| (role, text.to_owned())));
    }

    #[test]
    fn a_boundary_ends_a_message() {
        let history = "One.\n# aider chat started at 2026-01-01\nTwo.\n";
        let expected = [(Role::Assistant, "One."), (Role::Assistant, "Two.")];
        assert_eq!(said(history), expected.map(|(role, text)| (role, text.to_owned())));
    }

    #[test]
    fn what_says_nothing_is_no_message() {
        assert!(said("\n>  \n\n####   \n\n# aider chat started at 2026-01-01\n").is_empty());
        // A mark that something follows at once is none.
        assert_eq!(said("#####\n"), [(Role::Assistant, "#####".to_owned())]);
    }

    #[test]
    fn indentation_stays() {
        assert_eq!(said(">   a\n>     b\n"), [(Role::Tool, "  a\n    b".to_owned())]);
    }
}
