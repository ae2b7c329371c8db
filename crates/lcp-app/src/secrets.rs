//! The search for secrets in imported, recorded, exported and appended blocks (RFC 0013 §1).

use lcp_continuity::Message;
use lcp_decoder::{DecodeOptions, PackReader, ReadAt, SourceReader};
use lcp_ingest::{SecretCollector, SecretFilter, SecretFinding, SecretPolicy};
use lcp_packfile::PackScan;
use lcp_secrets::{Redactor, Renumbering, find_in_block, reserve_markers};
use lcp_types::{Annotation, Block, BlockMeta, BlockSource as _, BlockSourceErrorKind, Tag};

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
    if policy == SecretPolicy::Off {
        return Ok(None);
    }
    let filter = filter(policy, config)?;
    let mut secrets = SecretCollector::new(&filter);
    apply(&mut secrets, blocks, "block");
    Ok(warning(&secrets.findings, policy).map(|warning| match policy {
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
    findings: Vec<(usize, SecretFinding)>,
}

impl MessageSecrets {
    /// Applies a policy to messages, as with the blocks of an import.
    ///
    /// # Errors
    ///
    /// Returns an error if a glob of the settings is invalid.
    pub fn apply(messages: &mut [Message], policy: SecretPolicy, config: &Config) -> Result<Self> {
        let filter = filter(policy, config)?;
        let mut secrets = SecretCollector::new(&filter);
        let mut findings = Vec::new();
        for (index, message) in messages.iter_mut().enumerate() {
            if policy == SecretPolicy::Off || find_in_block(&message.block).is_empty() {
                continue;
            }
            let label = message.block.label().into_owned();
            let name = name("message", index, &label);
            secrets.apply_to_block(&name, &label, &mut message.block);
            findings.extend(secrets.findings.drain(..).map(|finding| (index, finding)));
        }
        Ok(Self { policy, messages: messages.len(), findings })
    }

    /// Returns a warning about the newest messages, of which `recorded` were new, if they have
    /// secrets.
    #[must_use]
    pub fn warning(self, recorded: u64) -> Option<String> {
        let new =
            self.messages - usize::try_from(recorded).unwrap_or(usize::MAX).min(self.messages);
        let findings = self.findings.into_iter().filter(|(index, _)| *index >= new);
        warning(&findings.map(|(_, finding)| finding).collect::<Vec<_>>(), self.policy)
    }
}

/// Reserves the numbers of the markers in a pack that others are added to.
pub(crate) fn reserve_numbers(blocks: &[Block<'_>], redactor: &mut Redactor) {
    for index in redacted(blocks) {
        reserve_markers(&blocks[index], redactor);
    }
}

/// Reserves the numbers of the markers in a pack like [`reserve_numbers`]. If the pack has an index,
/// one block is in memory at a time. A damaged pack is left to the append, which refuses it.
fn reserve_numbers_of_pack(pack: &dyn ReadAt, redactor: &mut Redactor) -> Result {
    let unread =
        |error: String| Error::new(ErrorKind::Io, format!("cannot read the pack: {error}"));
    let scan = SourceReader::new(pack).and_then(PackScan::without_content);
    let scan = scan.map_err(|error| unread(error.to_string()))?;
    let indices = redacted(&scan.blocks);
    if indices.is_empty() || scan.problems().next().is_some() {
        return Ok(());
    }
    let reader = PackReader::open(pack, DecodeOptions::default());
    let reader = reader.map_err(|error| unread(error.to_string()))?;
    if reader.block_index().is_none() {
        let blocks = reader.read_all().map_err(|error| unread(error.to_string()))?;
        reserve_numbers(&blocks, redactor);
        return Ok(());
    }
    for index in indices {
        let index = u32::try_from(index).unwrap_or(u32::MAX);
        match reader.read(&[index]) {
            Ok(read) => read.iter().for_each(|block| reserve_markers(block, redactor)),
            Err(error) if error.kind == BlockSourceErrorKind::Io => {
                return Err(unread(error.to_string()));
            }
            Err(_) => return Ok(()),
        }
    }
    Ok(())
}

/// Gives the markers in an added pack new numbers. Their values are unknown, so they must not look
/// equal to those of other packs.
pub(crate) fn renumber(blocks: &mut [Block<'_>], redactor: &mut Redactor) {
    let mut renumbering = Renumbering::default();
    for index in redacted(blocks) {
        renumbering.apply(&mut blocks[index], redactor);
    }
}

/// The secrets in packs that are appended to another one.
pub(crate) struct AppendedSecrets<'f> {
    policy: SecretPolicy,
    secrets: SecretCollector<'f>,
}

impl<'f> AppendedSecrets<'f> {
    /// Reserves the numbers of the markers in the pack that will grow.
    pub(crate) fn new(filter: &'f SecretFilter<'f>, pack: &dyn ReadAt) -> Result<Self> {
        let (policy, mut secrets) = (filter.policy(), SecretCollector::new(filter));
        reserve_numbers_of_pack(pack, &mut secrets.redactor)?;
        Ok(Self { policy, secrets })
    }

    /// Renumbers the markers in the blocks of a pack with this name, and applies the policy.
    pub(crate) fn apply(&mut self, name: &str, blocks: &mut Vec<Block<'_>>) {
        renumber(blocks, &mut self.secrets.redactor);
        if self.policy != SecretPolicy::Off {
            apply(&mut self.secrets, blocks, &format!("{name}, block"));
        }
    }

    pub(crate) fn warning(&self) -> Option<String> {
        warning(&self.secrets.findings, self.policy)
    }
}

/// Returns the search with the exceptions of the settings.
pub(crate) fn filter(policy: SecretPolicy, config: &Config) -> Result<SecretFilter<'_>> {
    SecretFilter::new(policy, &config.pack.secret_exceptions)
        .map_err(|error| Error::new(ErrorKind::Usage, error.to_string()))
}

fn apply(secrets: &mut SecretCollector<'_>, blocks: &mut Vec<Block<'_>>, noun: &str) {
    let has_secret = |index: &usize| !find_in_block(&blocks[*index]).is_empty();
    let with_secrets: Vec<_> = (0..blocks.len()).filter(has_secret).collect();
    if with_secrets.is_empty() {
        return;
    }
    let labels = labels(blocks);
    let mut tags = Vec::new();
    for index in with_secrets {
        let block = &mut blocks[index];
        // A secret in an annotation belongs to the block that it annotates.
        let target = block.target_index().unwrap_or(index as u64);
        let label = usize::try_from(target).ok().and_then(|target| labels.get(target));
        let label = label.map_or("", String::as_str);
        let replaced = secrets.apply_to_block(&name(noun, index, label), label, block);
        if replaced > 0 {
            let tag = Tag::new(Tag::REDACTED, replaced.to_string());
            tags.push(Block::new(Annotation::tag(target, &tag)));
        }
    }
    blocks.extend(tags);
}

/// Returns the label of each block.
fn labels(blocks: &[Block<'_>]) -> Vec<String> {
    let metas = BlockMeta::resolve_all(blocks, &mut |_, _| {});
    blocks.iter().zip(&metas).map(|(block, meta)| meta.label(block).into_owned()).collect()
}

/// Returns the name of a block in a warning. A label with a secret is left out.
fn name(noun: &str, index: usize, label: &str) -> String {
    if label.is_empty() || !lcp_secrets::find(label.as_bytes()).is_empty() {
        return format!("{noun} {index}");
    }
    format!("{noun} {index} ({label})")
}

/// Returns the indices of the blocks with replaced secrets, and of their annotations.
fn redacted(blocks: &[Block<'_>]) -> Vec<usize> {
    let tags = blocks.iter().filter_map(Block::as_annotation);
    let tags = tags.filter(|it| it.as_tag().is_some_and(|tag| tag.key == Tag::REDACTED));
    let targets: std::collections::BTreeSet<u64> = tags.map(|it| it.target_block_id).collect();
    if targets.is_empty() {
        return Vec::new();
    }
    let is_redacted = |(index, block): &(u64, &Block<'_>)| {
        targets.contains(&block.target_index().unwrap_or(*index))
    };
    let indices = (0..).zip(blocks).filter(is_redacted);
    indices.filter_map(|(index, _)| usize::try_from(index).ok()).collect()
}

fn warning(findings: &[SecretFinding], policy: SecretPolicy) -> Option<String> {
    if findings.is_empty() {
        return None;
    }
    let named = findings.iter().take(NAMED_MAX).map(|secret| {
        format!("{}, line {}: {}", secret.path.escape_debug(), secret.line, secret.kind)
    });
    let mut named = named.collect::<Vec<_>>().join("; ");
    if findings.len() > NAMED_MAX {
        named.push_str("; …");
    }
    let count = lcp_driver::plural(findings.len(), "secret");
    Some(if policy == SecretPolicy::Redact {
        format!("replaced {count} by markers ({named})")
    } else {
        format!("found {count} ({named})")
    })
}
