//! `parse`: a rendered text in, the manifest of its blocks out (RFC 0008 §2).

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use lcp_driver::parse::{ParseError, ParsedBlock, ParsedBlocks, ParsedPart, PartKind, detect_mode};
use lcp_driver::{LABEL_CHARS_MAX, OutputMode, escape_control, parse};
use lcp_encoder::manifest::{Entry, Manifest};
use lcp_types::wire::MAGIC_LCP;
use lcp_types::{Block, BlockContent, Tag};

use crate::Result;
use crate::arguments::by_name;
use crate::files;
use crate::output::Output;
use lcp_app::names::MODES;
use lcp_app::{Error, ErrorKind};

/// What errors call the text.
const TEXT: &str = "the text";

/// Print the JSON manifest of the blocks of a rendered text
///
/// Contents are exact, and so are labels of up to 200 characters; what the mode does
/// not show is absent. What stands in the text only by a placeholder or in part is
/// warned of. A text that `render` did not write ends with 3.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:
  lcp render samples/every-type.lcp -o /tmp/text.xml
  lcp parse /tmp/text.xml | lcp encode - -o /tmp/again.lcp
  lcp render samples/chat.lcp --mode minimal | lcp parse - --mode minimal")]
pub struct Args {
    /// The text; `-` for standard input
    text: PathBuf,
    /// The format that it was rendered in
    #[arg(long, value_parser = by_name(MODES), default_value = "xml")]
    mode: OutputMode,
    /// Write the manifest there; standard output by default
    #[arg(short, long, value_name = "PATH")]
    output: Option<PathBuf>,
}

/// Prints the manifest.
pub fn run(args: &Args, output: &Output) -> Result {
    let out = args.output.as_deref().map(|path| ("-o", path));
    files::check_distinct_paths(&[(TEXT, &args.text)], out.as_slice(), |_, _| false)?;
    let bytes = files::read(&args.text, output)?;
    let found = parse(&bytes, args.mode, &args.text)?;
    for warning in warnings(&found) {
        output.warn(warning);
    }
    let manifest = Manifest { entries: found.blocks.into_iter().map(entry).collect() };
    files::write(args.output.as_deref(), manifest.to_json().as_bytes())
}

/// The blocks of a text that was read from `path`.
fn parse(bytes: &[u8], mode: OutputMode, path: &Path) -> Result<ParsedBlocks> {
    let failure = |what: String, offset: usize| {
        let line = bytes[..offset].split(|byte| *byte == b'\n').count();
        Error::new(
            ErrorKind::Malformed,
            format!("{what} (line {line}, {})", files::display_name(path)),
        )
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

const CHANGED: &str = "its lines end with \\r\\n: it must be as `render` wrote it";
const A_PACK: &str = "this is a pack: `lcp decode` prints its manifest";

/// What may be the matter with a text that is not one of this mode.
fn hint(text: &str, mode: OutputMode, error: &ParseError) -> Option<String> {
    if text.as_bytes().starts_with(&MAGIC_LCP) {
        return Some(A_PACK.into());
    }
    if let Some(other) = detect_mode(text).filter(|other| *other != mode) {
        let name = other.name();
        return Some(format!("this looks like a text in {name}: --mode {name}"));
    }
    // Where lines end is known only to the mode; what is wrong is seen at the first.
    let line_end = text[error.offset..].lines().next().map_or(0, str::len) + error.offset;
    let is_changed = text[line_end..].starts_with('\r') || text[..error.offset].ends_with('\r');
    is_changed.then(|| CHANGED.into())
}

/// As a manifest has it.
fn entry(shown: ParsedBlock) -> Entry {
    let tags = shown.tool_call_id.map(|id| Tag::new("tool_call_id", id));
    Entry {
        priority: shown.priority,
        tags: tags.into_iter().collect(),
        ..Entry::new(shown.block).omit_fields(shown.absent)
    }
}

/// What is not in the manifest as it was in the pack, as far as the text tells.
fn warnings(found: &ParsedBlocks) -> Vec<String> {
    let mut warnings = left_out(&found.omitted);
    let mut tell = |name: &str, which: &dyn Fn(&ParsedBlock) -> bool, what: &str| {
        let mut of = found.blocks.iter().enumerate().filter(|(_, shown)| which(shown));
        let Some((first, shown)) = of.next() else { return };
        let label = shown.block.label();
        let (ty, label) = (shown.block_type.label(), escape_control(&label));
        let count = blocks(of.count() + 1);
        warnings
            .push(format!("{count} {what} [{name}] (the first is block {first}, {ty} {label})"));
    };
    for (kind, what) in [
        (PartKind::Detailed, "stood in the text by a detailed level, which is the content now"),
        (PartKind::Summary, "stood in the text by a summary, which is the content now"),
        (PartKind::Tags, "stood in the text by tags, which are the content now"),
        (PartKind::Excerpt, "stood in the text in part, which is the content now"),
    ] {
        tell("in_part", &|shown| shown.shown == kind, what);
    }
    let is_other = |shown: &ParsedBlock| shown.block.block_type() != shown.block_type;
    tell("became_document", &is_other, "of a type without a text of its own became a document");
    for (name, what) in [
        ("data", "without a picture: no text has it"),
        ("source_hash", "without a source hash: no text has it"),
        ("body", "of an unknown type without a body: no text has it"),
    ] {
        tell("not_in_text", &|shown| shown.absent.contains(&name), what);
    }
    let is_shortened = |shown: &ParsedBlock| {
        is_shortened(&shown.block.label())
            || shown.tool_call_id.as_deref().is_some_and(is_shortened)
            || words(&shown.block.content).into_iter().any(is_shortened)
            || has_shortened_name(&shown.block)
    };
    tell("shortened_label", &is_shortened, "with a label that the text may have shortened");
    warnings
}

/// What placeholders and roll-up lines stand for.
fn left_out(omitted: &[ParsedPart]) -> Vec<String> {
    let mut by_type: BTreeMap<&str, (usize, u64)> = BTreeMap::new();
    let mut warnings = Vec::new();
    for piece in omitted {
        match piece.kind {
            PartKind::RolledUp { count, tokens } => {
                let count = blocks(usize::try_from(count).unwrap_or(usize::MAX));
                warnings.push(format!(
                    "{count} of {tokens} tokens left out: one line stands for all [rolled_up]"
                ));
            }
            PartKind::Placeholder { tokens } => {
                let (count, sum) = by_type.entry(&piece.block_type).or_default();
                (*count, *sum) = (*count + 1, sum.saturating_add(tokens));
            }
            _ => {}
        }
    }
    let all = by_type.values().map(|(count, _)| count).sum();
    let each =
        by_type.iter().map(|(ty, (count, tokens))| format!("{count} {ty} of {tokens} tokens"));
    let each = each.collect::<Vec<_>>().join(", ");
    let line =
        format!("{} left out: a placeholder stands for each ({each}) [omitted]", blocks(all));
    warnings.splice(0..0, (all > 0).then_some(line));
    warnings
}

/// What a head says of a block beside its label.
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

/// Whether that is so of a name in a tree.
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

/// Whether a label may be what is left of a longer one.
fn is_shortened(label: &str) -> bool {
    let middle = label.chars().nth(LABEL_CHARS_MAX - LABEL_CHARS_MAX / 2 - 1);
    middle == Some('…') && label.chars().count() == LABEL_CHARS_MAX
}

/// `1 block`, `2 blocks`.
fn blocks(count: usize) -> String {
    format!("{count} {}", if count == 1 { "block" } else { "blocks" })
}
