//! The extent of a private key: its lines of Base64 between two markers, of which one may be missing.

use std::ops::Range;

use crate::check::is_filler;

/// The maximum bytes of a private key.
const BYTES_MAX: usize = 64 << 10;

/// The minimum characters of Base64 in a key. An Ed25519 key has 64.
const CHARS_MIN: usize = 40;

/// The minimum characters of Base64 in a line, except for the last one of a key.
const LINE_CHARS_MIN: usize = 16;

/// The beginnings of lines before the Base64 of a key.
const HEADERS: [&[u8]; 6] =
    [b"Proc-Type:", b"DEK-Info:", b"Version:", b"Comment:", b"Hash:", b"Charset:"];

/// Returns the end of a private key whose first marker is at `marker`. Without a last marker, the key
/// ends with its last line of Base64.
pub(crate) fn end(text: &[u8], marker: &Range<usize>) -> Option<usize> {
    let limit = text.len().min(marker.end + BYTES_MAX);
    let label = &text[marker.start + b"-----BEGIN ".len()..marker.end];
    let mut key = KeyLines::default();
    let (mut at, mut last) = (marker.end, marker.end);
    while at < limit {
        let (line, next) = next_line(&text[..limit], at);
        if let Some(end_marker) = find_end_marker(line, label) {
            let is_key = key.add(&line[content(&line[..end_marker])]) && key.is_complete();
            return is_key.then_some(at + end_marker + b"-----END ".len() + label.len());
        }
        let part = content(line);
        if !key.add(&line[part.clone()]) {
            break;
        }
        if !part.is_empty() {
            last = at + part.end;
        }
        at = next;
    }
    key.is_complete().then_some(last)
}

/// Returns the start of a private key whose last marker begins at `marker`, and whose first one is
/// missing.
pub(crate) fn start(text: &[u8], marker: usize) -> Option<usize> {
    let from = marker.saturating_sub(BYTES_MAX);
    let mut end = text[from..marker].iter().rposition(|byte| *byte == b'\n')? + from;
    let (mut start, mut characters) = (None, 0);
    loop {
        let begin = text[from..end].iter().rposition(|byte| *byte == b'\n');
        let begin = begin.map_or(from, |at| from + at + 1);
        let part = content(&text[begin..end]);
        let line = &text[begin + part.start..begin + part.end];
        // Only the line before the marker may be short.
        let is_short = line.len() < LINE_CHARS_MIN && start.is_some();
        if line.is_empty() || is_short || !is_base64(line) || is_filler(line) {
            break;
        }
        characters += line.len();
        start = Some(begin + part.start);
        if begin == from {
            break;
        }
        end = begin - 1;
    }
    start.filter(|_| characters >= CHARS_MIN)
}

/// The lines of a key that were read so far.
#[derive(Default)]
struct KeyLines {
    characters: usize,
    /// `true` after a line that is too short for the middle of a key.
    is_last: bool,
    is_filler: bool,
}

impl KeyLines {
    /// Adds a line. Returns `false` if it is not part of a key.
    fn add(&mut self, line: &[u8]) -> bool {
        if line.is_empty() || HEADERS.iter().any(|header| line.starts_with(header)) {
            return true;
        }
        // PGP adds a checksum in a line of its own.
        let is_checksum = line.first() == Some(&b'=') && line.len() == 5;
        if self.is_last && !is_checksum || !is_base64(line) {
            return false;
        }
        self.is_last = line.len() < LINE_CHARS_MIN;
        self.is_filler |= line.len() >= LINE_CHARS_MIN && is_filler(line);
        self.characters += line.len();
        true
    }

    fn is_complete(&self) -> bool {
        self.characters >= CHARS_MIN && !self.is_filler
    }
}

/// Returns the next line of a key, and the start of the line after it. A line ends with a newline or
/// with the escape of one.
fn next_line(text: &[u8], at: usize) -> (&[u8], usize) {
    let rest = &text[at..];
    let newline = memchr::memchr(b'\n', rest).unwrap_or(rest.len());
    let escape = rest[..newline].windows(2).position(|pair| pair == b"\\n" || pair == b"\\r");
    match escape {
        Some(escape) => (&rest[..escape], at + escape + 2),
        None => (&rest[..newline], (at + newline + 1).min(text.len())),
    }
}

/// Returns the place of the Base64 in a line, without the signs around it: those of comments, strings
/// and diffs.
fn content(line: &[u8]) -> Range<usize> {
    let is_around = |byte: &u8| byte.is_ascii_whitespace() || b"\"'`,;\\#*>-".contains(byte);
    let mut start = line.iter().position(|byte| !is_around(byte)).unwrap_or(line.len());
    let rest = &line[start..];
    // A plus is part of Base64, except at the beginning of an added line. So is a slash, except in
    // the sign of a comment.
    if rest.starts_with(b"// ") {
        start += 3;
    } else if start == 0 && rest.starts_with(b"+") {
        start = 1;
    }
    let quote = line[start..].iter().position(|byte| b"\"'`\\".contains(byte));
    let end = quote.map_or(line.len(), |quote| start + quote);
    let spaces = line[start..end].iter().rev().take_while(|byte| byte.is_ascii_whitespace());
    start..end - spaces.count()
}

fn is_base64(line: &[u8]) -> bool {
    line.iter().all(|byte| byte.is_ascii_alphanumeric() || b"+/=".contains(byte))
}

/// Returns the position of the last marker with the same label.
fn find_end_marker(line: &[u8], label: &[u8]) -> Option<usize> {
    const END: &[u8] = b"-----END ";
    let at = line.windows(END.len()).position(|part| part == END)?;
    line[at + END.len()..].starts_with(label).then_some(at)
}

#[cfg(test)]
mod tests {
    use crate::find;

    const LINE: &str = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQDndJt7NaG8T64Q";

    fn marker(end: &str) -> String {
        format!("-----{end} RSA PRIVATE KEY-----")
    }

    /// Returns the text with `…` in the place of each secret.
    fn redacted(text: &str) -> String {
        let mut redacted = text.to_owned();
        for secret in find(text.as_bytes()).into_iter().rev() {
            assert_eq!(secret.kind, "private-key");
            redacted.replace_range(secret.range, "…");
        }
        redacted
    }

    #[test]
    fn key_is_found_with_comments_quotes_escapes_and_headers() {
        let (begin, end) = (marker("BEGIN"), marker("END"));
        let key = format!("{begin}\n{LINE}\n{LINE}\nabcd==\n{end}");
        assert_eq!(redacted(&format!("a\n{key}\nb")), "a\n…\nb");
        assert_eq!(redacted(&format!("k = \"{}\";", key.replace('\n', "\\n"))), "k = \"…\";");
        for prefix in ["# ", "// ", " * ", "+", "-", "    \""] {
            let lines: Vec<_> = key.lines().map(|line| format!("{prefix}{line}")).collect();
            let text = format!("a\n{}\nb", lines.join("\n"));
            assert_eq!(redacted(&text), format!("a\n{prefix}…\nb"), "{prefix:?}");
        }
        let header = "Proc-Type: 4,ENCRYPTED\nDEK-Info: AES-256-CBC,915C02A8D44E9B32\n";
        let encrypted = key.replacen(LINE, &format!("{header}\n{LINE}"), 1);
        assert_eq!(redacted(&encrypted), "…");
        // A last marker of another kind does not belong to the key.
        let other = format!("{begin}\n{LINE}\n-----END CERTIFICATE-----");
        assert_eq!(redacted(&other), "…\n-----END CERTIFICATE-----");
    }

    #[test]
    fn cut_key_is_found_and_the_code_around_it_remains() {
        let (begin, end) = (marker("BEGIN"), marker("END"));
        let code = "import os\n\ndef secret_function_follows():\n    pass\n";
        let without_end = format!("k = [\n{begin}\n{LINE}\n]\n{code}");
        assert_eq!(redacted(&without_end), format!("k = [\n…\n]\n{code}"));
        let without_begin = format!("{code}{LINE}\nabcd==\n{end}\n{code}");
        assert_eq!(redacted(&without_begin), format!("{code}…\n{code}"));
        let cut = format!("# {begin}\n# {LINE}\n# … 8 more lines\n");
        assert_eq!(redacted(&cut), "# …\n# … 8 more lines\n");
    }

    #[test]
    fn mention_of_a_marker_is_not_a_key() {
        let (begin, end) = (marker("BEGIN"), marker("END"));
        for text in [
            format!(
                "// Keys begin with {begin}.\nfunction importPrivateKeyFromPkcs8() {{}}\n{end}\n"
            ),
            format!("a(\"{begin}\")\nfunc generateSelfSignedCertificate() {{}}\nb(\"{end}\")\n"),
            format!("{begin}\n...\n{end}\n"),
            format!("{begin}\n{}\n{end}\n", "x".repeat(64)),
        ] {
            assert_eq!(redacted(&text), text);
        }
    }
}
