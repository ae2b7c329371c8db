//! Parsing of rendered texts into blocks (RFC 0008 §2).

use std::collections::BTreeMap;
use std::path::Path;

use lcp_driver::parse::{ParseError, ParsedBlock, ParsedBlocks, ParsedPart, PartKind, detect_mode};
use lcp_driver::{LABEL_CHARS_MAX, OutputMode, escape_control, parse};
use lcp_encoder::manifest::{Entry, Manifest};
use lcp_types::wire::MAGIC_LCP;
use lcp_types::{Block, BlockContent, Tag};

use crate::error::{Error, ErrorKind, Result};
use crate::files;

/// The blocks of a rendered text.
#[derive(Clone, Debug)]
pub struct ParsedText {
    /// The blocks, as far as the text contains them.
    pub manifest: Manifest,
    /// Descriptions of the data that the text does not contain.
    pub warnings: Vec<String>,
}

impl ParsedText {
    /// Parses a text that was rendered in `mode` and read from `path`.
    ///
    /// # Errors
    ///
    /// Returns an error with the line if the text is not a rendered text of this mode, or if a
    /// block is too large.
    pub fn new(path: &Path, bytes: &[u8], mode: OutputMode) -> Result<Self> {
        let parsed = parse(path, bytes, mode)?;
        let warnings = warnings(&parsed);
        let manifest = Manifest { entries: parsed.blocks.into_iter().map(entry).collect() };
        Ok(Self { manifest, warnings })
    }
}

fn parse(path: &Path, bytes: &[u8], mode: OutputMode) -> Result<ParsedBlocks> {
    let failure = |message: String, offset: usize| {
        let line = bytes[..offset].split(|byte| *byte == b'\n').count();
        let message = format!("{message} (line {line}, {})", files::display_name(path));
        Error::new(ErrorKind::Malformed, message)
    };
    let text = str::from_utf8(bytes).map_err(|error| {
        let at = error.valid_up_to();
        let failure = failure(format!("not a rendered text: not UTF-8 at byte {at}"), at);
        if bytes.starts_with(&MAGIC_LCP) { failure.with_hint(A_PACK) } else { failure }
    })?;
    parse::parse_blocks(text, mode).map_err(|error| {
        let mut failure = failure(error.to_string(), error.offset);
        if error.exceeded.is_some() {
            failure.kind = ErrorKind::Limit;
        }
        match hint(text, mode, &error) {
            Some(hint) => failure.with_hint(hint),
            None => failure,
        }
    })
}

const CHANGED: &str = "pass the text unchanged; its lines end with \\r\\n";
const A_PACK: &str = "it is a pack; print its manifest with `lcp decode`";

/// Returns a hint about the probable problem of a text that is not a text of this mode.
fn hint(text: &str, mode: OutputMode, error: &ParseError) -> Option<String> {
    if text.as_bytes().starts_with(&MAGIC_LCP) {
        return Some(A_PACK.into());
    }
    if let Some(other) = detect_mode(text).filter(|other| *other != mode) {
        let name = other.name();
        return Some(format!("it looks like a text in {name}; pass --mode {name}"));
    }
    // Changed line ends are visible at the first error.
    let line_end = text[error.offset..].lines().next().map_or(0, str::len) + error.offset;
    let is_changed = text[line_end..].starts_with('\r') || text[..error.offset].ends_with('\r');
    if is_changed {
        return Some(CHANGED.into());
    }
    // The first line decides whether it is a rendered text.
    let others =
        OutputMode::ALL.map(OutputMode::name).into_iter().filter(|name| *name != mode.name());
    let others = others.collect::<Vec<_>>().join(" or ");
    (error.offset == 0).then(|| {
        format!("pass the output of `lcp render`, and --mode {others} if it has that mode")
    })
}

/// Returns the entry of a block in a manifest.
fn entry(shown: ParsedBlock) -> Entry {
    let tags = [
        (Tag::TOOL_CALL_ID, shown.tool_call_id),
        (Tag::LANG, shown.lang.map(str::to_owned)),
        (Tag::PATH, shown.path),
        (Tag::RENAMED_FROM, shown.renamed_from),
    ];
    let tags = tags.into_iter().filter_map(|(key, value)| Some(Tag::new(key, value?)));
    Entry {
        priority: shown.priority,
        tags: tags.collect(),
        ..Entry::new(shown.block).omit_fields(shown.absent)
    }
}

/// Returns warnings about all data that differs from the original pack, as far as the text shows
/// it.
fn warnings(parsed: &ParsedBlocks) -> Vec<String> {
    let mut warnings = left_out(&parsed.omitted);
    let mut tell = |name: &str, which: &dyn Fn(&ParsedBlock) -> bool, what: &str| {
        let mut of = parsed.blocks.iter().enumerate().filter(|(_, shown)| which(shown));
        let Some((first, shown)) = of.next() else { return };
        let label = shown.block.label();
        let (ty, label) = (shown.block_type.label(), escape_control(&label));
        let count = lcp_driver::plural(of.count() + 1, "block");
        warnings
            .push(format!("{count} {what} [{name}] (the first is block {first}, {ty} {label})"));
    };
    for (kind, what) in [
        (
            PartKind::Detailed,
            "recovered from the detailed level only; the full content is not in the text",
        ),
        (PartKind::Summary, "recovered from the summary only; the full content is not in the text"),
        (PartKind::Tags, "recovered from the tags only; the full content is not in the text"),
        (PartKind::Excerpt, "recovered from an excerpt only; the full content is not in the text"),
    ] {
        tell("in_part", &|shown| shown.shown == kind, what);
    }
    let is_other = |shown: &ParsedBlock| shown.block.block_type() != shown.block_type;
    tell("became_document", &is_other, "recovered as document; the text does not keep the type");
    for (name, what) in [
        ("data", "recovered without image data, which is not in the text"),
        ("source_hash", "recovered without a source hash, which is not in the text"),
        ("body", "of unknown type recovered without a body, which is not in the text"),
    ] {
        tell("not_in_text", &|shown| shown.absent.contains(&name), what);
    }
    let is_shortened = |shown: &ParsedBlock| {
        is_shortened(&shown.block.label())
            || [&shown.tool_call_id, &shown.path, &shown.renamed_from]
                .into_iter()
                .any(|label| label.as_deref().is_some_and(is_shortened))
            || words(&shown.block.content).into_iter().any(is_shortened)
            || has_shortened_name(&shown.block)
    };
    tell("shortened_label", &is_shortened, "with a label that may be shortened in the text");
    warnings
}

/// Returns warnings about blocks that the text has only as placeholders or in roll-up lines.
fn left_out(omitted: &[ParsedPart]) -> Vec<String> {
    let mut by_type: BTreeMap<&str, (usize, u64)> = BTreeMap::new();
    let mut warnings = Vec::new();
    for piece in omitted {
        match piece.kind {
            PartKind::RolledUp { count, tokens } => {
                let (count, tokens) =
                    (lcp_driver::plural(count, "block"), lcp_driver::plural(tokens, "token"));
                warnings.push(format!(
                    "{count} ({tokens}) not recovered: the text has only a roll-up line [rolled_up]"
                ));
            }
            PartKind::Placeholder { tokens } => {
                let (count, sum) = by_type.entry(&piece.block_type).or_default();
                (*count, *sum) = (*count + 1, sum.saturating_add(tokens));
            }
            _ => {}
        }
    }
    let all: usize = by_type.values().map(|(count, _)| count).sum();
    let each = by_type.iter().map(|(ty, (count, tokens))| {
        let tokens = lcp_driver::plural(*tokens, "token");
        format!("{count} {ty} of {tokens}")
    });
    let each = each.collect::<Vec<_>>().join(", ");
    let all_blocks = lcp_driver::plural(all, "block");
    let line =
        format!("{all_blocks} not recovered: the text has only placeholders ({each}) [omitted]");
    warnings.splice(0..0, (all > 0).then_some(line));
    warnings
}

/// Returns the texts in the head of a block other than its label.
fn words<'b>(content: &'b BlockContent<'_>) -> Vec<&'b str> {
    match content {
        BlockContent::Conversation(turn) => turn.tool_call_id.as_deref().into_iter().collect(),
        BlockContent::ToolResult(result) => result.schema_hint.as_deref().into_iter().collect(),
        BlockContent::StructuredData(data) => data.schema.as_deref().into_iter().collect(),
        BlockContent::EmbeddingRef(embedding) => vec![&embedding.model],
        BlockContent::Extension(extension) => vec![&extension.namespace, &extension.type_name],
        _ => Vec::new(),
    }
}

/// Returns whether a name in a tree may be shortened.
fn has_shortened_name(block: &Block<'_>) -> bool {
    let BlockContent::FileTree(tree) = &block.content else { return false };
    let mut entries: Vec<_> = tree.entries.iter().collect();
    while let Some(entry) = entries.pop() {
        if is_shortened(&entry.name) {
            return true;
        }
        entries.extend(&entry.children);
    }
    false
}

/// Returns whether a label may be shortened.
fn is_shortened(label: &str) -> bool {
    let middle = label.chars().nth(LABEL_CHARS_MAX - LABEL_CHARS_MAX / 2 - 1);
    middle == Some('…') && label.chars().count() == LABEL_CHARS_MAX
}
