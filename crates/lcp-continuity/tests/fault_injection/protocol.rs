//! The lines that a child prints, and their totals in its parent.

use std::collections::BTreeMap;
use std::io::Write;
use std::time::Duration;

use lcp_continuity::store::Error;

use super::failed;
use crate::Result;

/// A line of a child.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Line {
    /// The child waits for its parent.
    Ready,
    /// The message with this number was stored.
    Message(u64),
    /// The hand-off with this number was stored.
    Handoff(u64),
    /// The child completed a command in this time.
    Done(Duration),
    /// The store failed after this time, with this error code.
    Failed(Duration, String),
}

impl Line {
    /// Creates the line of a failure.
    pub(super) fn failed(after: Duration, error: &Error) -> Self {
        Self::Failed(after, error.code().to_owned())
    }

    /// Prints the line for the parent, without buffering.
    pub(super) fn say(&self) -> Result {
        let micros = Duration::as_micros;
        let line = match self {
            Self::Ready => "ready".to_owned(),
            Self::Message(number) => format!("message {number}"),
            Self::Handoff(number) => format!("handoff {number}"),
            Self::Done(after) => format!("done {}", micros(after)),
            Self::Failed(after, code) => format!("failed {} {code}", micros(after)),
        };
        // The line is written at once, so that a killed process leaves whole lines.
        let mut stdout = std::io::stdout().lock();
        stdout.write_all(format!("{line}\n").as_bytes()).map_err(failed)?;
        stdout.flush().map_err(failed)
    }

    /// Parses a line. Returns `None` if it is incomplete.
    pub(super) fn read(line: &str) -> Option<Self> {
        let words: Vec<_> = line.split(' ').collect();
        let micros = |word: &str| word.parse().ok().map(Duration::from_micros);
        Some(match words[..] {
            ["ready"] => Self::Ready,
            ["message", number] => Self::Message(number.parse().ok()?),
            ["handoff", number] => Self::Handoff(number.parse().ok()?),
            ["done", after] => Self::Done(micros(after)?),
            ["failed", after, code] => Self::Failed(micros(after)?, code.to_owned()),
            _ => return None,
        })
    }
}

/// The totals that a writer reported.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Acknowledged {
    /// The number of messages that it stored, beginning with the first.
    pub(super) messages: u64,
    /// The number of hand-offs that it stored, beginning with the first.
    pub(super) handoffs: u64,
    /// The number of failures by error code.
    pub(super) failures: BTreeMap<String, u64>,
}

impl Acknowledged {
    pub(super) fn add(&mut self, line: Line) {
        match line {
            Line::Message(number) => self.messages = self.messages.max(number + 1),
            Line::Handoff(number) => self.handoffs = self.handoffs.max(number + 1),
            Line::Failed(_, code) => *self.failures.entry(code).or_default() += 1,
            Line::Ready | Line::Done(_) => {}
        }
    }

    /// Adds the totals of another writer.
    pub(super) fn add_all(&mut self, other: &Self) {
        self.messages += other.messages;
        self.handoffs += other.handoffs;
        for (code, times) in &other.failures {
            *self.failures.entry(code.clone()).or_default() += times;
        }
    }

    /// Returns the number of messages and hand-offs that it stored.
    pub(super) fn all(&self) -> u64 {
        self.messages + self.handoffs
    }

    /// Returns the number of failures with other codes than these.
    pub(super) fn failures_but(&self, codes: &[&str]) -> u64 {
        let others = self.failures.iter().filter(|(code, _)| !codes.contains(&code.as_str()));
        others.map(|(_, times)| times).sum()
    }

    /// Describes the failures in words: `full 5, io 2`.
    pub(super) fn failures_in_words(&self) -> String {
        let words: Vec<_> =
            self.failures.iter().map(|(code, times)| format!("{code} {times}")).collect();
        words.join(", ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn torn_lines_are_rejected() {
        assert_eq!(Line::read("message 12"), Some(Line::Message(12)));
        let failed = Line::Failed(Duration::from_micros(5), "io".to_owned());
        assert_eq!(Line::read("failed 5 io"), Some(failed));
        for torn in ["", "message", "message ", "messag", "failed 5", "done x"] {
            assert_eq!(Line::read(torn), None, "{torn:?}");
        }
    }

    #[test]
    fn acknowledged_writes_and_failures_add_up() {
        let mut said = Acknowledged::default();
        for line in ["ready", "message 0", "handoff 0", "failed 1 full", "failed 1 io", "message 1"]
        {
            said.add(Line::read(line).unwrap());
        }
        said.add_all(&said.clone());
        assert_eq!((said.messages, said.handoffs, said.all()), (4, 2, 6));
        assert_eq!(
            (said.failures_but(&["full"]), said.failures_in_words().as_str()),
            (2, "full 2, io 2")
        );
    }
}
