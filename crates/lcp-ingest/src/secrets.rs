//! Secrets in files and changes (RFC 0013 §1).

use lcp_secrets::{Redactor, Secret};
use lcp_types::Diff;

use crate::error::Result;
use crate::globs::{Globs, Pattern};
use crate::read::{ReadFile, ReadOutcome};
use crate::report::{SecretFinding, SkipReason, SkippedFile};

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

/// The search for secrets in the files of one pack.
pub(crate) struct SecretFilter<'o> {
    policy: SecretPolicy,
    exceptions: &'o [SecretException],
    /// The globs of the exceptions that have one, in order.
    globs: Globs,
    redactor: Redactor,
    /// The secrets that were found, in the order of the pack.
    pub(crate) findings: Vec<SecretFinding>,
}

impl<'o> SecretFilter<'o> {
    pub(crate) fn new(policy: SecretPolicy, exceptions: &'o [SecretException]) -> Result<Self> {
        let globs = exceptions.iter().filter_map(|exception| exception.pattern.as_ref());
        let globs = Globs::new(globs).map_err(crate::error::Error::invalid)?;
        let redactor = Redactor::default();
        Ok(Self { policy, exceptions, globs, redactor, findings: Vec::new() })
    }

    /// Returns the secrets of a text that no exception covers.
    pub(crate) fn find(&self, label: &str, text: &[u8]) -> Vec<Secret> {
        if self.policy == SecretPolicy::Off {
            return Vec::new();
        }
        let mut secrets = lcp_secrets::find(text);
        if !secrets.is_empty() && !self.exceptions.is_empty() {
            let matched = self.globs.matches(label);
            let mut globs = 0..;
            let applies: Vec<_> = self
                .exceptions
                .iter()
                .filter(|exception| {
                    exception.pattern.is_none()
                        || globs.next().is_some_and(|glob| matched.contains(&glob))
                })
                .collect();
            secrets.retain(|secret| {
                let covers = |kind: &String| kind == secret.kind;
                !applies.iter().any(|exception| exception.kind.as_ref().is_none_or(covers))
            });
        }
        secrets
    }

    /// Applies the policy to a file. Files must come in the order of the pack, because the markers
    /// are numbered.
    pub(crate) fn apply(&mut self, label: &str, outcome: &mut ReadOutcome) {
        let Ok(read) = outcome else { return };
        if read.secrets.is_empty() {
            return;
        }
        self.report(label, read.secrets.iter().map(|secret| (secret.line, secret.kind)));
        match self.policy {
            SecretPolicy::Redact => {
                read.bytes = self.redactor.redact(&read.bytes, &read.secrets);
            }
            SecretPolicy::Exclude => {
                let bytes = Some(read.file_bytes);
                let skipped = SkippedFile::new(label, SkipReason::Secret);
                *outcome = Err(SkippedFile { bytes, ..skipped });
            }
            SecretPolicy::Warn | SecretPolicy::Off => {}
        }
    }

    /// Applies the policy to a diff. Returns the number of replaced secrets, or `None` if the diff
    /// must be left out.
    pub(crate) fn apply_to_diff(&mut self, diff: &mut Diff<'_>) -> Option<usize> {
        let mut redacted = 0;
        for hunk in &mut diff.hunks {
            let text = hunk.lines.as_slice();
            let secrets = self.find(&diff.path, text);
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
            match self.policy {
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

    /// Returns the number of replaced secrets of a file.
    pub(crate) fn redacted(&self, read: &ReadFile) -> usize {
        if self.policy == SecretPolicy::Redact { read.secrets.len() } else { 0 }
    }

    fn report(&mut self, path: &str, secrets: impl Iterator<Item = (usize, &'static str)>) {
        let finding = |(line, kind)| SecretFinding { path: path.to_owned(), line, kind };
        self.findings.extend(secrets.map(finding));
    }
}
