//! The difference of a text from the text that covers it: a change of white space, hunks of a diff,
//! or both.

use super::delta::{Diff, diff};
use super::spaces::SpaceChange;

/// The changes that restore a text from another one: first the change of white space, then the
/// hunks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Changes {
    pub(super) spaces: SpaceChange,
    pub(crate) hunks: Vec<u8>,
}

/// The end of a line that introduces only hunks.
const HUNKS: &str = ", but for these changes]";
/// The beginning of the description of other changes.
const EXCEPT: &str = ", same except for ";
/// The last part of a description before hunks.
const THESE: &str = "these changes";

/// The result of a comparison.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Comparison {
    Changes(Changes),
    /// The changes would be at least as long as the text.
    TooLong,
    /// The texts have too many lines for a diff.
    Bound,
}

/// Returns the shortest changes from `covering` to `text`.
pub(super) fn compare(covering: &[u8], text: &[u8]) -> Comparison {
    let mut best = match diff(covering, text) {
        Diff::Hunks(hunks) => {
            Comparison::Changes(Changes { spaces: SpaceChange::default(), hunks })
        }
        Diff::TooLong => Comparison::TooLong,
        Diff::Bound => Comparison::Bound,
    };
    // White space is rarely more than three quarters of a text. Larger differences would make the
    // work exceed the size of the smaller text.
    let (short, long) = (text.len().min(covering.len()), text.len().max(covering.len()));
    if long / 4 > short {
        return best;
    }
    let spaces = SpaceChange::infer(covering, text);
    if spaces.is_empty() {
        return best;
    }
    match diff(&spaces.apply(covering), text) {
        Diff::Hunks(hunks) => {
            let changes = Changes { spaces, hunks };
            let is_longer = |best: &Changes| best.to_stub("").len() > changes.to_stub("").len();
            match &best {
                Comparison::Changes(best) if !is_longer(best) => {}
                _ => best = Comparison::Changes(changes),
            }
        }
        Diff::Bound if best == Comparison::TooLong => best = Comparison::Bound,
        Diff::TooLong | Diff::Bound => {}
    }
    best
}

impl Changes {
    /// Returns the text in place of the covered text. Its first line names the `covering` block and
    /// describes the change of white space. Hunks follow, if there are any.
    pub(crate) fn to_stub(&self, covering: &str) -> Vec<u8> {
        let mut parts = self.spaces.describe();
        if parts.is_empty() {
            return [format!("[{covering}{HUNKS}\n").as_bytes(), &self.hunks].concat();
        }
        if !self.hunks.is_empty() {
            parts.push(THESE.to_owned());
        }
        let end = if self.hunks.is_empty() { "]" } else { "]\n" };
        let line = format!("[{covering}{EXCEPT}{}{end}", parts.join(" and "));
        [line.as_bytes(), &self.hunks].concat()
    }

    /// Parses a stub. Returns the change of white space and the hunks; `None` if it is another text
    /// or another kind of stub.
    pub(super) fn parse(stub: &[u8]) -> Option<(SpaceChange, &[u8])> {
        let end = stub.iter().position(|byte| *byte == b'\n');
        let (line, hunks) = end.map_or((stub, &b""[..]), |end| (&stub[..end], &stub[end + 1..]));
        // A label is not always UTF-8, but the description is.
        let line = line.strip_prefix(b"[")?;
        if line.ends_with(HUNKS.as_bytes()) {
            return Some((SpaceChange::default(), hunks));
        }
        let at = line.windows(EXCEPT.len()).rposition(|window| window == EXCEPT.as_bytes())?;
        let description = str::from_utf8(&line[at + EXCEPT.len()..]).ok()?.strip_suffix(']')?;
        let mut parts: Vec<_> = description.split(" and ").collect();
        let has_hunks = parts.pop_if(|part| *part == THESE).is_some();
        let spaces = SpaceChange::parse(&parts).filter(|spaces| !spaces.is_empty())?;
        (has_hunks != hunks.is_empty()).then_some((spaces, hunks))
    }

    /// Returns whether a text is such a stub.
    pub(crate) fn is_stub(text: &[u8]) -> bool {
        Self::parse(text).is_some_and(|(spaces, hunks)| {
            hunks.starts_with(b"@@ ") || (hunks.is_empty() && !spaces.is_empty())
        })
    }
}
