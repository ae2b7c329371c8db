//! Readers of each output form, as simple as the documentation of the form suggests. They use no
//! heuristics.

use super::Entries;

/// Reads repomix's XML: `<file path="…">`, the content, `</file>`. With `unescape`, replaces
/// entities.
pub(super) fn elements(text: &str, unescape: bool) -> Entries {
    const BEGIN: &str = "<file path=\"";
    let value = |text: &str| if unescape { unescaped(text) } else { text.to_owned() };
    let mut entries = Entries::new();
    let mut rest = text;
    while let Some((_, behind)) = rest.split_once(BEGIN) {
        let Some((path, behind)) = behind.split_once("\">") else { break };
        // An attribute ends at the first quote.
        let (path, behind) = match path.split_once('"') {
            Some((short, _)) => (short, &rest[rest.len() - behind.len() - 2..]),
            None => (path, behind),
        };
        let Some((content, behind)) = behind.split_once("</file>") else { break };
        entries.push((value(path), value(content.strip_prefix('\n').unwrap_or(content))));
        rest = behind;
    }
    entries
}

/// Replaces XML's five named entities and numeric character references.
fn unescaped(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, behind)) = rest.split_once('&') {
        out.push_str(before);
        let entity = behind.split_once(';').filter(|(name, _)| name.len() <= 8);
        let meant = entity.and_then(|(name, behind)| Some((character(name)?, behind)));
        rest = if let Some((meant, behind)) = meant {
            out.push(meant);
            behind
        } else {
            out.push('&');
            behind
        };
    }
    out + rest
}

fn character(entity: &str) -> Option<char> {
    Some(match entity {
        "lt" => '<',
        "gt" => '>',
        "amp" => '&',
        "quot" => '"',
        "apos" => '\'',
        _ => {
            let number = entity.strip_prefix('#')?;
            let code = match number.strip_prefix('x') {
                Some(hex) => u32::from_str_radix(hex, 16).ok()?,
                None => number.parse().ok()?,
            };
            char::from_u32(code)?
        }
    })
}

/// Reads Markdown: a line with `heading` and a path, a fence, the content, a fence of the same
/// length.
pub(super) fn fences(text: &str, heading: &str) -> Entries {
    let mut entries = Entries::new();
    let mut lines = text.split_inclusive('\n').peekable();
    while let Some(line) = lines.next() {
        let Some(path) = line.trim_end_matches('\n').strip_prefix(heading) else { continue };
        let ticks = |line: &str| line.chars().take_while(|c| *c == '`').count();
        let Some(count) = lines.peek().map(|line| ticks(line)).filter(|count| *count >= 3) else {
            continue;
        };
        lines.next();
        let is_end = |line: &&str| ticks(line) == count && line.trim_end().len() == count;
        let mut content = String::new();
        for line in lines.by_ref().take_while(|line| !is_end(line)) {
            content += line;
        }
        entries.push((path.to_owned(), content));
    }
    entries
}

/// Reads repomix's plain form and gitingest: a rule, a line with the path, a rule, the content.
pub(super) fn rules(text: &str, rule: &str, before_path: &str) -> Entries {
    let begin = format!("{rule}\n{before_path}");
    let end = format!("\n{rule}\n");
    let mut entries = Entries::new();
    // A rule must begin at the start of a line.
    let starts: Vec<_> = text
        .match_indices(&begin)
        .map(|(at, _)| at)
        .filter(|at| *at == 0 || text[..*at].ends_with('\n'))
        .collect();
    for (place, start) in starts.iter().enumerate() {
        let stop = starts.get(place + 1).copied().unwrap_or(text.len());
        let Some((path, content)) = text[start + begin.len()..stop].split_once(&end) else {
            continue;
        };
        entries.push((path.to_owned(), content.to_owned()));
    }
    entries
}

/// Reads files-to-prompt: the path, `---`, the content, `---`.
pub(super) fn dashes(text: &str) -> Entries {
    let parts = text.split("\n\n---\n").filter(|part| !part.trim().is_empty());
    let entry = |part: &str| {
        let (path, content) = part.split_once("\n---\n")?;
        Some((path.trim_start_matches('\n').to_owned(), content.to_owned()))
    };
    parts.filter_map(entry).collect()
}

/// Reads files-to-prompt's `--cxml`: `<source>…</source>` and
/// `<document_content>…</document_content>`.
pub(super) fn documents(text: &str) -> Entries {
    let mut entries = Entries::new();
    for part in text.split("<document index=\"").skip(1) {
        let source = part.split_once("<source>").and_then(|(_, rest)| rest.split_once("</source>"));
        let Some((path, rest)) = source else { continue };
        let content = rest.split_once("<document_content>\n").map(|(_, rest)| rest);
        let content = content.and_then(|rest| rest.split_once("\n</document_content>"));
        let Some((content, _)) = content else { continue };
        entries.push((path.to_owned(), content.to_owned()));
    }
    entries
}

/// Removes the suffix that a form adds to each content.
pub(super) fn without(mut entries: Entries, added: &str) -> Entries {
    for (_, text) in &mut entries {
        let len = text.strip_suffix(added).map_or(text.len(), str::len);
        text.truncate(len);
    }
    entries
}

/// Reads repomix's JSON, an object whose `files` map paths to contents.
pub(super) fn object(text: &str) -> Entries {
    let json: serde_json::Value = serde_json::from_str(text).unwrap_or_default();
    let files = json["files"].as_object().into_iter().flatten();
    let text = |value: &serde_json::Value| value.as_str().unwrap_or_default().to_owned();
    files.map(|(path, content)| (path.clone(), text(content))).collect()
}

#[cfg(test)]
mod tests;
