//! Whether Markdown can stand as it is: whoever reads what follows it must still find the
//! heading there (RFC 0008 §1.1).
//!
//! A reader of `CommonMark` takes a line for less than a heading inside a fence, and inside of
//! HTML. Both are followed here where they are sure to end; where they may not, the answer is
//! no, and a fence goes around the whole.

use super::guard::{
    FENCE, OMITTED_WORD, WORD_CHARS_MAX, could_be_head, is_head_word, is_nothing, is_of_word,
    is_ours, may_be_head_word,
};
use super::markdown::{HEADING, OMITTED};

/// Whether this text needs no fence.
pub(super) fn stands_alone(text: &str) -> bool {
    !text.starts_with(FENCE)
        && !could_be_head(text, HEADING, OMITTED, looks_like_head)
        && ends_open(text)
}

/// Whether a line may show as a heading or a placeholder of ours: by the word that a reader sees
/// first, with marks of Markdown around it or in it.
fn looks_like_head(line: &str) -> bool {
    if let Some(heading) = line.strip_prefix(HEADING.trim_end()) {
        let (word, is_whole) = shown_word(heading);
        return if is_whole { is_head_word(&word) } else { may_be_head_word(&word) };
    }
    // By either mark of italics; behind one of a list is a blank.
    line.strip_prefix(['*', '_']).is_some_and(|shown| {
        let (word, is_whole) = shown_word(shown);
        let is_item = shown.starts_with(char::is_whitespace);
        !is_item && if is_whole { word == OMITTED_WORD } else { OMITTED_WORD.starts_with(&word) }
    })
}

/// The word that this shows first, in lower case, and whether that is all of it: not where an
/// entity, a tag or the end of a link is, behind which it may go on.
fn shown_word(text: &str) -> (String, bool) {
    let mut word = String::new();
    let mut in_link = false;
    for (at, c) in text.char_indices() {
        match c {
            // What is a word already, may not go on behind a mark that is none there.
            '*' | '_' | '`' | '~' | '\\' | '!' | '[' if is_ours(&word) => break,
            '*' | '_' | '`' | '~' | '\\' | '!' => {}
            '[' => in_link = true,
            ']' if in_link => return (word, false),
            '&' | '<' if stands_for_another(&text[at..]) => return (word, false),
            _ if is_of_word(c) && word.len() < WORD_CHARS_MAX => word.push(c.to_ascii_lowercase()),
            _ if is_nothing(c) || word.is_empty() && c.is_whitespace() => {}
            _ => break,
        }
    }
    (word, true)
}

/// Whether an entity, a tag or a comment begins here.
fn stands_for_another(text: &str) -> bool {
    let rest = &text[1..];
    if text.starts_with('<') {
        return rest.starts_with(|c: char| c.is_ascii_alphabetic() || "/!?".contains(c));
    }
    let name = rest.trim_start_matches('#');
    let end = name.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(name.len());
    end > 0 && name[end..].starts_with(';')
}

/// Whether a line behind this text begins anew, in no fence and in no HTML.
fn ends_open(text: &str) -> bool {
    let mut fence: Option<Fence> = None;
    // In HTML up to the next blank line.
    let mut in_html = false;
    // Where the line behind this one begins, and the last paragraph at the latest.
    let (mut behind, mut paragraph) = (0, 0);
    for line in text.split('\n') {
        behind += line.len() + 1;
        let line = line.strip_suffix('\r').unwrap_or(line);
        // Not all readers end a line there.
        if line.contains('\r') {
            return false;
        }
        let rest = line.trim_start_matches(' ');
        let indent = line.len() - rest.len();
        let is_blank = rest.trim_start_matches('\t').is_empty();
        let mark = Fence::begins(indent, rest);
        if let Some(open) = fence {
            match mark {
                Some(mark) if mark.closes(&open) => {
                    if indent != open.indent {
                        return false;
                    }
                    (fence, paragraph) = (None, behind);
                }
                // In a list the fence would end here.
                _ if !is_blank && indent < open.indent && !rest.starts_with('\t') => return false,
                _ => {}
            }
            continue;
        }
        if let Some(mark) = mark.filter(Fence::opens) {
            // In HTML it is no fence, and in doubt neither is known.
            if in_html {
                return false;
            }
            fence = Some(mark);
        } else if is_blank {
            (in_html, paragraph) = (false, behind);
        } else if indent < CODE_INDENT {
            match html(rest) {
                Html::None => {}
                Html::ToBlankLine => in_html = true,
                Html::Open => return false,
            }
        }
    }
    fence.is_none() && !in_html && !may_be_cut(text.get(paragraph..).unwrap_or_default())
}

/// Whether a paragraph may end inside of something that a line of ours behind it could close,
/// and be hidden by: a comment, a tag, a link or a picture, code.
fn may_be_cut(paragraph: &str) -> bool {
    let ends = [("<!--", "-->"), ("<?", "?>"), ("<![", "]]>"), ("[", "]"), ("](", ")")];
    let is_open = |(begin, end): (&str, &str)| {
        let at = paragraph.rfind(begin);
        at.is_some_and(|at| !paragraph[at + begin.len()..].contains(end))
    };
    // A tag ends before the next one, and outside of quotes.
    let mut tags = paragraph
        .split('<')
        .skip(1)
        .filter(|tag| tag.starts_with(|c: char| c.is_ascii_alphabetic() || c == '/'));
    let is_cut = |tag: &str| {
        let end = tag.find('>').map(|end| &tag[..end]);
        end.is_none_or(|tag| ['"', '\''].iter().any(|quote| tag.matches(*quote).count() % 2 == 1))
    };
    let ticks = paragraph.bytes().filter(|byte| *byte == b'`').count();
    ends.into_iter().any(is_open) || tags.any(is_cut) || ticks % 2 == 1
}

/// Spaces from which on a line is code, or of a list.
const CODE_INDENT: usize = 4;

/// A line that could begin or end a fence.
#[derive(Clone, Copy)]
struct Fence {
    indent: usize,
    mark: u8,
    count: usize,
    /// Nothing but blanks is behind the marks.
    is_bare: bool,
    /// A backtick is behind them.
    has_backtick: bool,
}

impl Fence {
    fn begins(indent: usize, rest: &str) -> Option<Self> {
        let mark = *rest.as_bytes().first().filter(|mark| b"`~".contains(mark))?;
        let count = rest.bytes().take_while(|byte| *byte == mark).count();
        let info = rest.get(count..)?;
        let is_bare = info.trim_matches([' ', '\t']).is_empty();
        let fence = Self { indent, mark, count, is_bare, has_backtick: info.contains('`') };
        (indent < CODE_INDENT && count >= FENCE.len()).then_some(fence)
    }

    fn opens(&self) -> bool {
        self.mark == b'~' || !self.has_backtick
    }

    fn closes(&self, open: &Self) -> bool {
        self.is_bare && self.mark == open.mark && self.count >= open.count
    }
}

/// What a line is to HTML.
enum Html {
    /// No HTML, or some that ends on the line.
    None,
    /// HTML that a blank line ends.
    ToBlankLine,
    /// HTML that only its own end ends, which is not on the line.
    Open,
}

fn html(line: &str) -> Html {
    let Some(rest) = line.strip_prefix('<') else { return Html::None };
    let lower = rest.to_ascii_lowercase();
    let is = |name: &&str| {
        let behind = lower.strip_prefix(*name);
        behind.is_some_and(|behind| behind.starts_with(['>', ' ', '\t']) || behind.is_empty())
    };
    let ends = if let Some(rest) = lower.strip_prefix("!--") {
        // Some readers take `<!-->` for a whole comment, some for the beginning of one.
        Some(rest.trim_start_matches('-').contains("-->"))
    } else if lower.starts_with("![cdata[") {
        Some(lower.contains("]]>"))
    } else if let Some(rest) = lower.strip_prefix('?') {
        Some(rest.contains("?>"))
    } else if lower.starts_with('!') {
        Some(lower.contains('>'))
    } else {
        // Which of them may end another, readers do not agree on.
        let name = ["script", "pre", "style", "textarea"].iter().find(|name| is(name));
        name.map(|name| lower.contains(&format!("</{name}>")))
    };
    let name = lower.strip_prefix('/').unwrap_or(&lower);
    let behind = name.trim_start_matches(|c: char| c.is_ascii_alphanumeric() || c == '-');
    let is_tag = name.starts_with(|c: char| c.is_ascii_alphabetic())
        && (behind.is_empty() || behind.starts_with([' ', '\t', '>', '/']));
    match ends {
        Some(false) => Html::Open,
        None if is_tag => Html::ToBlankLine,
        Some(true) | None => Html::None,
    }
}
