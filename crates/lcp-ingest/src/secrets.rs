//! Secrets in files and changes (RFC 0013 §1).

use lcp_secrets::{Redactor, Secret, find_in_block, redact_block};
use lcp_types::{Block, BlockContent, Diff};

use crate::error::Result;
use crate::globs::{Globs, Pattern};
use crate::report::SecretFinding;

lcp_types::named_enum! {
    /// The treatment of secrets in files.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum SecretPolicy {
        /// A marker replaces each secret.
        #[default]
        Redact = "redact",
        /// A file with a secret is left out.
        Exclude = "exclude",
        /// Secrets are packed, and the report lists them.
        Warn = "warn",
        /// Files are not searched.
        Off = "off",
    }
}

/// Secrets that are neither reported nor replaced.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SecretException {
    /// The files; `None` for all files.
    pub pattern: Option<Pattern>,
    /// The kind, one of [`lcp_secrets::kinds`]; `None` for all kinds.
    pub kind: Option<String>,
}

/// The search for secrets in the files or blocks of one pack.
#[derive(Debug)]
pub struct SecretFilter<'o> {
    policy: SecretPolicy,
    exceptions: &'o [SecretException],
    /// The globs of the exceptions that have one, in order.
    globs: Globs,
}

/// The secrets of one pack, whose files and blocks must come in the order of the pack, because the
/// markers are numbered.
#[derive(Debug)]
pub struct SecretCollector<'f> {
    filter: &'f SecretFilter<'f>,
    /// The markers of the pack.
    pub redactor: Redactor,
    /// The secrets that were found, in the order of the pack.
    pub findings: Vec<SecretFinding>,
}

impl<'o> SecretFilter<'o> {
    /// Creates a filter.
    ///
    /// # Errors
    ///
    /// Returns an error if a glob of the exceptions is invalid.
    pub fn new(policy: SecretPolicy, exceptions: &'o [SecretException]) -> Result<Self> {
        let globs = exceptions.iter().filter_map(|exception| exception.pattern.as_ref());
        let globs = Globs::new(globs).map_err(crate::error::Error::invalid)?;
        Ok(Self { policy, exceptions, globs })
    }

    /// Returns the policy.
    #[must_use]
    pub fn policy(&self) -> SecretPolicy {
        self.policy
    }

    /// Returns the secrets of a text that no exception covers.
    pub(crate) fn find(&self, label: &str, text: &[u8]) -> Vec<Secret> {
        if self.policy == SecretPolicy::Off {
            return Vec::new();
        }
        let mut secrets = lcp_secrets::find(text);
        if !secrets.is_empty() && !self.exceptions.is_empty() {
            let exceptions = self.exceptions(label);
            secrets.retain(|secret| !is_excepted(secret, &exceptions));
        }
        secrets
    }

    /// Returns the exceptions for the file or block with this label.
    fn exceptions(&self, label: &str) -> Vec<&'o SecretException> {
        let matched = self.globs.matches(label);
        let mut globs = 0..;
        let applies = |exception: &&SecretException| {
            exception.pattern.is_none() || globs.next().is_some_and(|glob| matched.contains(&glob))
        };
        self.exceptions.iter().filter(applies).collect()
    }
}

impl<'f> SecretCollector<'f> {
    /// Creates a list without findings.
    #[must_use]
    pub fn new(filter: &'f SecretFilter<'f>) -> Self {
        Self { filter, redactor: Redactor::default(), findings: Vec::new() }
    }

    /// Replaces or only reports the secrets in all texts of a block. Returns the number of replaced
    /// secrets. `name` is the name of the block in the findings, and `label` its path or title, for
    /// the globs of exceptions.
    pub fn apply_to_block(&mut self, name: &str, label: &str, block: &mut Block<'_>) -> usize {
        if self.filter.policy == SecretPolicy::Off {
            return 0;
        }
        let exceptions = self.filter.exceptions(label);
        let secrets = if self.redacts() {
            redact_block(block, &mut self.redactor, &|it| !is_excepted(it, &exceptions))
        } else {
            let mut secrets = find_in_block(block);
            secrets.retain(|secret| !is_excepted(secret, &exceptions));
            secrets
        };
        let first = match &block.content {
            BlockContent::Code(code) => code.line_start.unwrap_or(1).max(1) as usize,
            _ => 1,
        };
        self.report(name, secrets.iter().map(|secret| (secret.line - 1 + first, secret.kind)));
        if self.redacts() { secrets.len() } else { 0 }
    }

    /// Applies the policy to a file with these secrets. Returns `false` if the file must be left
    /// out.
    pub(crate) fn apply(&mut self, label: &str, bytes: &mut Vec<u8>, secrets: &[Secret]) -> bool {
        self.report(label, secrets.iter().map(|secret| (secret.line, secret.kind)));
        if self.filter.policy == SecretPolicy::Redact && !secrets.is_empty() {
            *bytes = self.redactor.redact(bytes, secrets);
        }
        secrets.is_empty() || self.filter.policy != SecretPolicy::Exclude
    }

    /// Applies the policy to a diff. Returns the number of replaced secrets, or `None` if the diff
    /// must be left out.
    pub(crate) fn apply_to_diff(&mut self, diff: &mut Diff<'_>) -> Option<usize> {
        let mut redacted = 0;
        for hunk in &mut diff.hunks {
            let text = hunk.lines.as_slice();
            let secrets = self.filter.find(&diff.path, text);
            if secrets.is_empty() {
                continue;
            }
            let lines = |secret: &Secret| {
                // Removed lines are not in the new file.
                let before = text[..secret.range.start].split(|byte| *byte == b'\n');
                let above = before.filter(|line| line.first() != Some(&b'-')).count();
                let start = usize::try_from(hunk.new_start).unwrap_or_default();
                (start + above.saturating_sub(1), secret.kind)
            };
            let found: Vec<_> = secrets.iter().map(lines).collect();
            self.report(&diff.path, found.into_iter());
            match self.filter.policy {
                SecretPolicy::Redact => {
                    redacted += secrets.len();
                    let lines = self.redactor.redact_diff(text, &secrets);
                    hunk.lines = lines.into();
                }
                SecretPolicy::Exclude => return None,
                SecretPolicy::Warn | SecretPolicy::Off => {}
            }
        }
        Some(redacted)
    }

    /// Returns whether markers replace secrets.
    pub(crate) fn redacts(&self) -> bool {
        self.filter.policy == SecretPolicy::Redact
    }

    fn report(&mut self, path: &str, secrets: impl Iterator<Item = (usize, &'static str)>) {
        let finding = |(line, kind)| SecretFinding { path: path.to_owned(), line, kind };
        self.findings.extend(secrets.map(finding));
    }
}

fn is_excepted(secret: &Secret, exceptions: &[&SecretException]) -> bool {
    let covers = |exception: &&SecretException| {
        exception.kind.as_ref().is_none_or(|kind| kind == secret.kind)
    };
    exceptions.iter().any(covers)
}
