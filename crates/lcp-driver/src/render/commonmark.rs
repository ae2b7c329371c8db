//! The check for Markdown text that needs no fence: a reader must recognize the heading after it
//! (RFC 0008 §1.1).
//!
//! A `CommonMark` reader recognizes no heading inside a fence or HTML. This scanner follows both to
//! their ends. If the end is in doubt, the text gets a fence.

use lcp_types::Fence;

use super::collision::{
    FENCE, MARKDOWN, OMITTED_WORD, WORD_CHARS_MAX, is_head_word, is_invisible, is_reserved_word,
    is_word_char, may_be_head_word,
};

/// Returns whether this text needs no fence.
pub(super) fn is_self_contained(text: &str) -> bool {
    !text.starts_with(FENCE)
        && !MARKDOWN.may_begin_in(text, looks_like_head)
        && ends_at_top_level(text)
}

/// Returns whether a line may be displayed as a heading or a placeholder of this crate.
fn looks_like_head(line: &str) -> bool {
    if let Some(heading) = line.strip_prefix(MARKDOWN.opening.trim_end()) {
        let (word, is_whole) = first_displayed_word(heading);
        return if is_whole { is_head_word(&word) } else { may_be_head_word(&word) };
    }
    // Both marks of italics can begin a placeholder. The mark of a list item has a blank after it.
    line.strip_prefix(['*', '_']).is_some_and(|shown| {
        let (word, is_whole) = first_displayed_word(shown);
        let is_item = shown.starts_with(char::is_whitespace);
        !is_item && if is_whole { word == OMITTED_WORD } else { OMITTED_WORD.starts_with(&word) }
    })
}

/// Returns the first displayed word in lower case, and whether it is complete.
fn first_displayed_word(text: &str) -> (String, bool) {
    let mut word = String::new();
    let mut in_link = false;
    for (at, c) in text.char_indices() {
        match c {
            // A complete reserved word may end at a mark.
            '*' | '_' | '`' | '~' | '\\' | '!' | '[' if is_reserved_word(&word) => break,
            '*' | '_' | '`' | '~' | '\\' | '!' => {}
            '[' => in_link = true,
            ']' if in_link => return (word, false),
            '&' | '<' if is_entity_or_tag(&text[at..]) => return (word, false),
            _ if is_word_char(c) && word.len() < WORD_CHARS_MAX => {
                word.push(c.to_ascii_lowercase());
            }
            _ if is_invisible(c) || word.is_empty() && c.is_whitespace() => {}
            _ => break,
        }
    }
    (word, true)
}

/// Returns whether an entity, a tag or a comment begins here.
fn is_entity_or_tag(text: &str) -> bool {
    let rest = &text[1..];
    if text.starts_with('<') {
        return rest.starts_with(|c: char| c.is_ascii_alphabetic() || "/!?".contains(c));
    }
    let name = rest.trim_start_matches('#');
    let end = name.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(name.len());
    end > 0 && name[end..].starts_with(';')
}

/// Returns whether the line after this text is outside of any fence and any HTML.
fn ends_at_top_level(text: &str) -> bool {
    let mut fence: Option<Fence<'_>> = None;
    // `true` if the line is in HTML that ends at the next blank line.
    let mut in_html = false;
    // The offset of the next line, and the last possible beginning of the last paragraph.
    let (mut next_line, mut paragraph) = (0, 0);
    for line in text.split('\n') {
        next_line += line.len() + 1;
        let line = line.strip_suffix('\r').unwrap_or(line);
        // Only some readers take a lone carriage return for the end of a line.
        if line.contains('\r') {
            return false;
        }
        let rest = line.trim_start_matches(' ');
        let indent = line.len() - rest.len();
        let is_blank = rest.trim_start_matches('\t').is_empty();
        let mark = Fence::parse(line);
        if let Some(open) = fence {
            match mark {
                Some(mark) if open.is_closed_by(&mark) => {
                    if indent != open.indent {
                        return false;
                    }
                    (fence, paragraph) = (None, next_line);
                }
                // If the fence is in a list, it would end here.
                _ if !is_blank && indent < open.indent && !rest.starts_with('\t') => return false,
                _ => {}
            }
            continue;
        }
        if let Some(mark) = mark {
            // Within HTML this line is not a fence, and the end of the HTML is in doubt.
            if in_html {
                return false;
            }
            fence = Some(mark);
        } else if is_blank {
            (in_html, paragraph) = (false, next_line);
        } else if indent < Fence::CODE_INDENT {
            match html(rest) {
                Html::None => {}
                Html::ToBlankLine => in_html = true,
                Html::Open => return false,
            }
        }
    }
    fence.is_none() && !in_html && !may_end_inside_inline(text.get(paragraph..).unwrap_or_default())
}

/// Returns whether a paragraph may end inside a comment, a tag, a link, an image or code.
fn may_end_inside_inline(paragraph: &str) -> bool {
    let ends = [("<!--", "-->"), ("<?", "?>"), ("<![", "]]>"), ("[", "]"), ("](", ")")];
    let is_open = |(begin, end): (&str, &str)| {
        let at = paragraph.rfind(begin);
        at.is_some_and(|at| !paragraph[at + begin.len()..].contains(end))
    };
    // A tag must end before the next one begins, outside of quotes.
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

/// The HTML that begins on a line.
enum Html {
    /// No HTML, or HTML that ends on the same line.
    None,
    /// HTML that a blank line ends.
    ToBlankLine,
    /// HTML whose closing mark is not on the line.
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
        // Some readers take `<!-->` for a complete comment, others for the beginning of one.
        Some(rest.trim_start_matches('-').contains("-->"))
    } else if lower.starts_with("![cdata[") {
        Some(lower.contains("]]>"))
    } else if let Some(rest) = lower.strip_prefix('?') {
        Some(rest.contains("?>"))
    } else if lower.starts_with('!') {
        Some(lower.contains('>'))
    } else {
        // Readers disagree about which of these elements can end another.
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
