//! Secrets in the texts of blocks.

use std::borrow::Cow;
use std::collections::HashMap;
use std::convert::Infallible;

use lcp_types::codec::{FieldSpec, FieldWriter, Record};
use lcp_types::{Block, BlockContent, CowBytes, FieldVisitor, IntoOwned, UnknownField};

use crate::redact::{Markers, Redactor};
use crate::scan::{Secret, find};

/// Returns the secrets in all texts of a block. Their ranges and lines are those within each text.
///
/// The data of images and of unknown blocks is not searched.
///
/// ```
/// use lcp_secrets::{Redactor, find_in_block, redact_block};
/// use lcp_types::{Block, Role};
///
/// let mut block = Block::conversation(Role::User, "Use 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.");
/// assert_eq!(find_in_block(&block)[0].kind, "github-token");
///
/// redact_block(&mut block, &mut Redactor::default(), &|_| true);
/// assert_eq!(block, Block::conversation(Role::User, "Use [secret github-token 1]."));
/// ```
#[must_use]
pub fn find_in_block(block: &Block<'_>) -> Vec<Secret> {
    let mut search = Search(Vec::new());
    if let Some(summary) = &block.summary {
        search.0.extend(find(summary.as_bytes()));
    }
    match &block.content {
        BlockContent::Image(image) => search.0.extend(find(image.alt_text.as_bytes())),
        BlockContent::Raw(_) | BlockContent::EmbeddingRef(_) => {}
        content => {
            let Ok(_) = content.write(&mut search);
        }
    }
    search.0
}

/// Replaces the secrets in all texts of a block by markers, as far as `is_replaced` returns `true`
/// for them. Returns the replaced secrets, like [`find_in_block`].
pub fn redact_block(
    block: &mut Block<'_>,
    redactor: &mut Redactor,
    is_replaced: &dyn Fn(&Secret) -> bool,
) -> Vec<Secret> {
    let mut replaced = Vec::new();
    rewrite(block, &mut |text, is_diff| {
        let mut secrets = find(text);
        secrets.retain(is_replaced);
        if secrets.is_empty() {
            return None;
        }
        let redacted = if is_diff {
            redactor.redact_diff(text, &secrets)
        } else {
            redactor.redact(text, &secrets)
        };
        replaced.extend(secrets);
        Some(redacted)
    });
    replaced
}

/// A renumbering of the markers of one pack, whose blocks are added to another one.
#[derive(Debug, Default)]
pub struct Renumbering(HashMap<(&'static str, u32), u64>);

impl Renumbering {
    /// Gives the markers in a block numbers that the other pack does not have.
    pub fn apply(&mut self, block: &mut Block<'_>, redactor: &mut Redactor) {
        rewrite(block, &mut |text, _| {
            let mut end = 0;
            let mut renumbered = Vec::with_capacity(text.len());
            for marker in Markers::new(text) {
                let key = (marker.kind, marker.number);
                let number = *self.0.entry(key).or_insert_with(|| redactor.next(marker.kind));
                renumbered.extend_from_slice(&text[end..marker.digits.start]);
                renumbered.extend_from_slice(number.to_string().as_bytes());
                end = marker.digits.end;
            }
            if end == 0 {
                return None;
            }
            renumbered.extend_from_slice(&text[end..]);
            Some(renumbered)
        });
    }
}

/// Reserves the numbers of the markers in a block, so that new markers get other numbers.
pub fn reserve_markers(block: &Block<'_>, redactor: &mut Redactor) {
    // The closure changes nothing, so the copy only lends its texts.
    rewrite(&mut block.clone(), &mut |text, _| {
        redactor.reserve_markers(text);
        None
    });
}

/// The secrets in the texts of a record.
struct Search(Vec<Secret>);

impl FieldWriter for Search {
    type Error = Infallible;

    fn begin(
        &mut self,
        _: &'static str,
        _: &'static [FieldSpec],
        _: &[UnknownField<'_>],
    ) -> Result<(), Infallible> {
        Ok(())
    }

    fn text(&mut self, _: &FieldSpec, value: &str) -> Result<(), Infallible> {
        self.0.extend(find(value.as_bytes()));
        Ok(())
    }

    fn bytes(&mut self, _: &FieldSpec, value: &CowBytes<'_>) -> Result<(), Infallible> {
        self.0.extend(find(value.as_slice()));
        Ok(())
    }

    fn records<'a, T: Record<'a>>(&mut self, _: &FieldSpec, value: &[T]) -> Result<(), Infallible> {
        value.iter().try_for_each(|record| record.write(self).map(drop))
    }
}

/// A function that returns the new text if a text changes. It gets `true` for the lines of a diff.
type Change<'c> = dyn FnMut(&[u8], bool) -> Option<Vec<u8>> + 'c;

/// Changes the texts of a block.
fn rewrite(block: &mut Block<'_>, change: &mut Change<'_>) {
    if let Some(summary) = &mut block.summary {
        rewrite_text(summary, change);
    }
    match &mut block.content {
        BlockContent::Image(image) => rewrite_text(&mut image.alt_text, change),
        BlockContent::Raw(_) | BlockContent::EmbeddingRef(_) => {}
        BlockContent::Diff(diff) => {
            rewrite_text(&mut diff.path, change);
            for hunk in &mut diff.hunks {
                rewrite_bytes(&mut hunk.lines, true, change);
            }
        }
        content => IntoOwned::visit(content, &mut Rewrite(change)),
    }
}

fn rewrite_text(text: &mut Cow<'_, str>, change: &mut Change<'_>) {
    if let Some(changed) = change(text.as_bytes(), false) {
        // Secrets and markers are ASCII, so the rest is still UTF-8.
        *text = Cow::Owned(String::from_utf8_lossy(&changed).into_owned());
    }
}

fn rewrite_bytes(bytes: &mut CowBytes<'_>, is_diff: bool, change: &mut Change<'_>) {
    if let Some(changed) = change(bytes.as_slice(), is_diff) {
        *bytes = changed.into();
    }
}

struct Rewrite<'r, 'c>(&'r mut Change<'c>);

impl FieldVisitor for Rewrite<'_, '_> {
    fn text(&mut self, text: &mut Cow<'_, str>) {
        rewrite_text(text, self.0);
    }

    fn bytes(&mut self, bytes: &mut CowBytes<'_>) {
        rewrite_bytes(bytes, false, self.0);
    }
}
