//! The search for secrets in imported, recorded, exported and appended blocks (RFC 0013 §1).

use lcp_continuity::Message;
use lcp_ingest::{FoundSecrets, SecretFilter, SecretFinding, SecretPolicy};
use lcp_secrets::{Renumbering, reserve_markers};
use lcp_types::{Annotation, Block, Tag};

use crate::config::Config;
use crate::error::{Error, ErrorKind, Result};

/// The maximum number of secrets in a warning.
const NAMED_MAX: usize = 3;

/// The advice of a command that only reports secrets.
pub const REDACT: &str = "pass `--secrets redact` to replace secrets by markers";

/// Applies a policy to blocks, and tags those with replaced secrets. Returns a warning if there are
/// secrets. `Exclude` is treated like `Warn`, because the blocks refer to one another.
pub(crate) fn apply_to_blocks(
    blocks: &mut Vec<Block<'_>>,
    policy: SecretPolicy,
    config: &Config,
) -> Result<Option<String>> {
    let filter = filter(policy, config)?;
    let mut found = FoundSecrets::new(&filter);
    apply(&mut found, blocks, "block");
    Ok(warning(&found.findings, policy).map(|warning| match policy {
        SecretPolicy::Redact => warning,
        _ => format!("{warning}; {REDACT}"),
    }))
}

/// The secrets in the messages of a transcript.
#[derive(Debug)]
pub struct MessageSecrets {
    policy: SecretPolicy,
    /// The number of messages.
    messages: usize,
    /// The index of the message of each secret.
    found: Vec<(usize, SecretFinding)>,
}

impl MessageSecrets {
    /// Applies a policy to messages, as with the blocks of an import.
    ///
    /// # Errors
    ///
    /// Returns an error if a glob of the settings is invalid.
    pub fn apply(messages: &mut [Message], policy: SecretPolicy, config: &Config) -> Result<Self> {
        let filter = filter(policy, config)?;
        let mut secrets = FoundSecrets::new(&filter);
        let mut found = Vec::new();
        for (index, message) in messages.iter_mut().enumerate() {
            let name = format!("message {index} ({})", message.block.label());
            secrets.apply_to_block(&name, &mut message.block);
            found.extend(secrets.findings.drain(..).map(|finding| (index, finding)));
        }
        Ok(Self { policy, messages: messages.len(), found })
    }

    /// Returns a warning about the newest messages, of which `recorded` were new, if they have
    /// secrets.
    #[must_use]
    pub fn warning(self, recorded: u64) -> Option<String> {
        let new =
            self.messages - usize::try_from(recorded).unwrap_or(usize::MAX).min(self.messages);
        let found = self.found.into_iter().filter(|(index, _)| *index >= new);
        warning(&found.map(|(_, finding)| finding).collect::<Vec<_>>(), self.policy)
    }
}

/// The secrets in packs that are appended to another one.
pub(crate) struct AppendedSecrets<'f> {
    policy: SecretPolicy,
    found: FoundSecrets<'f>,
    /// `true` if new markers get other numbers than those of the old blocks.
    is_reserved: bool,
}

impl<'f> AppendedSecrets<'f> {
    pub(crate) fn new(filter: &'f SecretFilter<'f>) -> Self {
        let (policy, found) = (filter.policy(), FoundSecrets::new(filter));
        Self { policy, found, is_reserved: false }
    }

    /// Applies the policy to the blocks of a pack with this name. Markers get numbers that the old
    /// blocks do not have, because their values may differ.
    pub(crate) fn apply(&mut self, old: &[Block<'_>], name: &str, blocks: &mut Vec<Block<'_>>) {
        if self.policy == SecretPolicy::Off {
            return;
        }
        if !self.is_reserved {
            for index in redacted(old) {
                reserve_markers(&old[index], &mut self.found.redactor);
            }
            self.is_reserved = true;
        }
        let mut renumbering = Renumbering::default();
        for index in redacted(blocks) {
            renumbering.apply(&mut blocks[index], &mut self.found.redactor);
        }
        apply(&mut self.found, blocks, &format!("{name}, block"));
    }

    pub(crate) fn warning(&self) -> Option<String> {
        warning(&self.found.findings, self.policy)
    }
}

/// Returns the search with the exceptions of the settings.
pub(crate) fn filter(policy: SecretPolicy, config: &Config) -> Result<SecretFilter<'_>> {
    SecretFilter::new(policy, &config.pack.secret_exceptions)
        .map_err(|error| Error::new(ErrorKind::Usage, error.to_string()))
}

fn apply(found: &mut FoundSecrets<'_>, blocks: &mut Vec<Block<'_>>, name: &str) {
    let mut tags = Vec::new();
    for (index, block) in blocks.iter_mut().enumerate() {
        let name = format!("{name} {index} ({})", block.label());
        let replaced = found.apply_to_block(&name, block);
        // A secret in an annotation belongs to the block that it annotates.
        let target = block.target_index().unwrap_or(index as u64);
        if replaced > 0 {
            let tag = Tag::new(Tag::REDACTED, replaced.to_string());
            tags.push(Block::new(Annotation::tag(target, &tag)));
        }
    }
    blocks.extend(tags);
}

/// Returns the indices of the blocks with replaced secrets.
fn redacted(blocks: &[Block<'_>]) -> Vec<usize> {
    let tags = blocks.iter().filter_map(Block::as_annotation);
    let tags = tags.filter(|it| it.as_tag().is_some_and(|tag| tag.key == Tag::REDACTED));
    let mut targets: Vec<_> =
        tags.filter_map(|it| usize::try_from(it.target_block_id).ok()).collect();
    targets.retain(|target| *target < blocks.len());
    targets.sort_unstable();
    targets.dedup();
    targets
}

fn warning(found: &[SecretFinding], policy: SecretPolicy) -> Option<String> {
    if found.is_empty() {
        return None;
    }
    let named = found.iter().take(NAMED_MAX).map(|secret| {
        format!("{}, line {}: {}", secret.path.escape_debug(), secret.line, secret.kind)
    });
    let mut named = named.collect::<Vec<_>>().join("; ");
    if found.len() > NAMED_MAX {
        named.push_str("; …");
    }
    let count = lcp_driver::plural(found.len(), "secret");
    Some(if policy == SecretPolicy::Redact {
        format!("replaced {count} by markers ({named})")
    } else {
        format!("found {count} ({named})")
    })
}
