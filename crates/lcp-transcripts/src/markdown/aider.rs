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

#[cfg(test)]
mod tests {
    use super::*;

    fn said(text: &str) -> Vec<(Role, String)> {
        let text = format!("# aider chat started at 2026-01-01 10:00:00\n{text}");
        turns(&text).unwrap().turns.into_iter().map(|turn| (turn.role, turn.text)).collect()
    }

    #[test]
    fn each_kind_of_line_is_a_turn_of_its_own() {
        let history = "\n> Added a.rs  \n>  \n\n\
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
    fn a_boundary_ends_a_turn() {
        let history = "One.\n# aider chat started at 2026-01-01\nTwo.\n";
        let expected = [(Role::Assistant, "One."), (Role::Assistant, "Two.")];
        assert_eq!(said(history), expected.map(|(role, text)| (role, text.to_owned())));
    }

    #[test]
    fn what_says_nothing_is_no_turn() {
        assert!(said("\n>  \n\n####   \n\n# aider chat started at 2026-01-01\n").is_empty());
        // A mark that something follows at once is none.
        assert_eq!(said("#####\n"), [(Role::Assistant, "#####".to_owned())]);
    }

    #[test]
    fn indentation_stays() {
        assert_eq!(said(">   a\n>     b\n"), [(Role::Tool, "  a\n    b".to_owned())]);
    }

    #[test]
    fn without_a_session_it_is_something_else() {
        assert_eq!(turns("#### Deep heading\n> quoted\n"), None);
    }
}
