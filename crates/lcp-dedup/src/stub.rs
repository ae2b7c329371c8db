//! Stubs, which replace covered blocks in the text.

use lcp_types::{Block, BlockContent, BlockMeta, CowBytes, DuplicateKind};

use crate::near::Changes;

/// The maximum number of characters of a label. A longer label is cut in the middle.
const LABEL_CHARS_MAX: usize = 120;

/// The number of characters that identify a text.
const BEGINNING_CHARS: usize = 30;

/// The block that a stub refers to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StubTarget<'t> {
    block: &'t Block<'t>,
    meta: Option<&'t BlockMeta<'t>>,
    /// `true` if the block still has all lines of its range.
    is_complete: bool,
}

impl<'t> StubTarget<'t> {
    pub(crate) fn new(block: &'t Block<'_>, meta: Option<&'t BlockMeta<'_>>) -> Self {
        Self { block, meta, is_complete: true }
    }

    /// Marks the target as cut: other blocks have some of its lines.
    pub(crate) fn cut(self) -> Self {
        Self { is_complete: false, ..self }
    }

    /// Returns the line that refers to this block, without a newline. `above` says whether this
    /// block is above or below the stub.
    pub(crate) fn line(self, above: bool, relation: DuplicateKind) -> String {
        let label = self.label();
        let direction = direction(above);
        match relation {
            DuplicateKind::Superseded => {
                format!("[outdated: the newer one is {label} {direction}]")
            }
            DuplicateKind::Equal => format!("[the same as {label} {direction}]"),
            _ => format!("[all of it stands in {label} {direction}]"),
        }
    }

    /// Returns a stub that names this block and describes the changes.
    pub(crate) fn changes(self, above: bool, changes: &Changes) -> Vec<u8> {
        changes.to_stub(&format!("{} {}", self.label(), direction(above)))
    }

    /// Returns the name of the block for a model, on one line.
    fn label(self) -> String {
        let tag = || self.meta.and_then(|meta| meta.tool_call_id.as_deref());
        let name = match &self.block.content {
            BlockContent::Code(code) => match (code.line_start, code.line_end) {
                (Some(first), Some(last)) if self.is_complete => {
                    format!("{}:{first}-{last}", code.path)
                }
                _ => code.path.to_string(),
            },
            BlockContent::Diff(diff) => format!("the diff of {}", diff.path),
            BlockContent::ToolResult(result) => {
                format!("the result of {} {}", result.tool_name, self.which(tag()))
            }
            BlockContent::Document(document) => document.title.to_string(),
            BlockContent::FileTree(tree) => format!("the files of {}", tree.root),
            BlockContent::Conversation(turn) => {
                let role = turn.role.name().unwrap_or("another");
                format!("the turn of {role} {}", self.which(turn.tool_call_id.as_deref()))
            }
            BlockContent::StructuredData(_) => {
                self.meta.and_then(|meta| meta.path.as_deref()).unwrap_or_default().to_owned()
            }
            BlockContent::Extension(extension) => extension.type_name.to_string(),
            _ => String::new(),
        };
        let name = on_one_line(&name);
        let name = name.trim();
        if name.is_empty() {
            return format!("the {}", self.block.block_type());
        }
        let chars = name.chars().count();
        if chars <= LABEL_CHARS_MAX {
            return name.to_owned();
        }
        let half = LABEL_CHARS_MAX / 2;
        let head: String = name.chars().take(half).collect();
        let tail: String = name.chars().skip(chars - half).collect();
        format!("{head}…{tail}")
    }

    /// Returns text that distinguishes blocks with the same name: the tool call id, or else the
    /// beginning of the content.
    fn which(self, call: Option<&str>) -> String {
        if let Some(id) = call {
            return format!("#{id}");
        }
        let text = self.block.content.text().map(CowBytes::as_slice).unwrap_or_default();
        let text = text.trim_ascii_start();
        let line = text.split(|byte| *byte == b'\n').next().unwrap_or_default();
        let line = String::from_utf8_lossy(&line[..line.len().min(4 * BEGINNING_CHARS)]);
        let beginning: String = line.chars().take(BEGINNING_CHARS).collect();
        format!("that begins {:?}", on_one_line(&beginning).trim())
    }
}

/// Returns whether a text is a stub. Stubs are not compared.
pub(crate) fn is_stub(text: &[u8]) -> bool {
    let Some(rest) = text.strip_prefix(b"[") else { return false };
    let mut lines = rest.splitn(2, |byte| *byte == b'\n');
    let line = lines.next().unwrap_or_default();
    let behind = lines.next().unwrap_or_default();
    let begins = [&b"outdated: "[..], b"the same as ", b"all of it stands in "];
    let is_line = behind.is_empty() && begins.iter().any(|begins| line.starts_with(begins));
    Changes::is_stub(text) || (is_line && line.ends_with(b"]"))
}

const fn direction(above: bool) -> &'static str {
    if above { "above" } else { "below" }
}

fn on_one_line(text: &str) -> String {
    let clean = |c: char| if c.is_control() || c.is_whitespace() { ' ' } else { c };
    text.chars().map(clean).collect()
}
