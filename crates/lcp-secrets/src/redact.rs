//! Markers in the place of secrets.

use std::collections::HashMap;
use std::ops::Range;

use crate::rules::RULES;
use crate::scan::Secret;

/// The start of a marker.
const START: &[u8] = b"[secret ";

/// The maximum length of a marker after [`START`].
const MARKER_BYTES_MAX: usize = 80;

/// A replacement of secrets by markers such as `[secret github-token 1]`.
///
/// Equal values have equal markers, in all texts of one redactor: the first value of each kind has
/// the number 1. A marker has neither a part nor a hash of the value.
#[derive(Clone, Default)]
pub struct Redactor {
    numbers: HashMap<(&'static str, Vec<u8>), u64>,
    counts: HashMap<&'static str, u64>,
}

impl Redactor {
    /// Replaces the given secrets of a text. They must be in order and must not overlap, as
    /// [`find`](crate::find) returns them.
    ///
    /// # Panics
    ///
    /// Panics if a range is not within the text or the secrets overlap.
    pub fn redact(&mut self, text: &[u8], secrets: &[Secret]) -> Vec<u8> {
        self.replace(text, secrets, <[u8]>::to_vec, |_, marker| marker.to_vec())
    }

    /// Replaces the given secrets in the lines of a diff, each of which begins with `+`, `-` or a
    /// space. A secret of several lines becomes a marker on each of them, so that the number of
    /// lines does not change.
    ///
    /// # Panics
    ///
    /// Panics as [`Self::redact`] does.
    pub fn redact_diff(&mut self, lines: &[u8], secrets: &[Secret]) -> Vec<u8> {
        let in_file = |value: &[u8]| {
            let lines = value.split(|byte| *byte == b'\n').enumerate();
            let line =
                |(at, line): (usize, &[u8])| line.get(usize::from(at > 0)..).map(<[u8]>::to_vec);
            lines.filter_map(line).collect::<Vec<_>>().join(&b'\n')
        };
        self.replace(lines, secrets, in_file, |value, marker| {
            let mut parts = value.split(|byte| *byte == b'\n');
            let first = parts.next().map(|_| marker.to_vec());
            let others = parts.map(|line| [line.get(..1).unwrap_or_default(), marker].concat());
            first.into_iter().chain(others).collect::<Vec<_>>().join(&b'\n')
        })
    }

    fn replace(
        &mut self,
        text: &[u8],
        secrets: &[Secret],
        value_in_file: impl Fn(&[u8]) -> Vec<u8>,
        replacement: impl Fn(&[u8], &[u8]) -> Vec<u8>,
    ) -> Vec<u8> {
        let mut redacted = Vec::with_capacity(text.len());
        let mut end = 0;
        for secret in secrets {
            redacted.extend_from_slice(&text[end..secret.range.start]);
            let value = &text[secret.range.clone()];
            let number = self.number(secret.kind, &value_in_file(value));
            let marker = [START, format!("{} {number}]", secret.kind).as_bytes()].concat();
            redacted.extend(replacement(value, &marker));
            end = secret.range.end;
        }
        redacted.extend_from_slice(&text[end..]);
        redacted
    }

    /// Returns the number of different values that were replaced.
    #[must_use]
    pub fn len(&self) -> usize {
        self.numbers.len()
    }

    /// Returns whether nothing was replaced.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.numbers.is_empty()
    }

    fn number(&mut self, kind: &'static str, value: &[u8]) -> u64 {
        if let Some(number) = self.numbers.get(&(kind, value.to_vec())) {
            return *number;
        }
        let number = self.next(kind);
        self.numbers.insert((kind, value.to_vec()), number);
        number
    }

    /// Returns the next number of a kind.
    pub(crate) fn next(&mut self, kind: &'static str) -> u64 {
        let count = self.counts.entry(kind).or_default();
        *count += 1;
        *count
    }

    /// Reserves the numbers of a kind up to this one.
    fn reserve(&mut self, kind: &'static str, number: u32) {
        let count = self.counts.entry(kind).or_default();
        *count = (*count).max(number.into());
    }

    /// Reserves the numbers of the markers in a text, so that new markers get other numbers.
    pub fn reserve_markers(&mut self, text: &[u8]) {
        Markers::new(text).for_each(|marker| self.reserve(marker.kind, marker.number));
    }
}

/// A marker in a text.
pub(crate) struct Marker {
    pub(crate) kind: &'static str,
    pub(crate) number: u32,
    /// The position of its number.
    pub(crate) digits: Range<usize>,
}

/// The markers of a text, in order.
pub(crate) struct Markers<'t> {
    text: &'t [u8],
    at: usize,
}

impl<'t> Markers<'t> {
    pub(crate) fn new(text: &'t [u8]) -> Self {
        Self { text, at: 0 }
    }
}

impl Iterator for Markers<'_> {
    type Item = Marker;

    fn next(&mut self) -> Option<Marker> {
        loop {
            self.at += memchr::memmem::find(&self.text[self.at..], START)? + START.len();
            let rest = &self.text[self.at..];
            let Some(length) = rest.iter().take(MARKER_BYTES_MAX).position(|byte| *byte == b']')
            else {
                continue;
            };
            let marker = str::from_utf8(&rest[..length]).ok().and_then(|marker| {
                let (kind, digits) = marker.split_once(' ')?;
                let rule = RULES.iter().find(|rule| rule.kind == kind)?;
                let start = self.at + kind.len() + 1;
                // Numbers have no leading zeros.
                let number: u32 = digits.parse().ok().filter(|n: &u32| n.to_string() == digits)?;
                Some(Marker { kind: rule.kind, number, digits: start..start + digits.len() })
            });
            if marker.is_some() {
                return marker;
            }
        }
    }
}

impl std::fmt::Debug for Redactor {
    /// Shows the number of values, not the values.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Redactor").field("len", &self.len()).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::find;

    const TOKENS: [&str; 2] =
        ["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", "ghp_0UcnZwJUVFk6LO0pINUxwWPw5k4aXcaT4fNP"];

    fn redact(redactor: &mut Redactor, text: &str) -> String {
        let redacted = redactor.redact(text.as_bytes(), &find(text.as_bytes()));
        String::from_utf8(redacted).unwrap()
    }

    #[test]
    fn equal_values_have_equal_markers_in_all_texts() {
        let mut redactor = Redactor::default();
        let [first, second] = TOKENS;
        let text = format!("a {first}, b {second}, a {first}");
        let [one, two] = ["[secret github-token 1]", "[secret github-token 2]"];
        assert_eq!(redact(&mut redactor, &text), format!("a {one}, b {two}, a {one}"));
        assert_eq!(redact(&mut redactor, second), two);
        assert_eq!((redactor.len(), redactor.is_empty()), (2, false));
        assert!(!format!("{redactor:?}").contains(first));
    }

    #[test]
    fn markers_are_parsed_as_they_are_written() {
        let token = TOKENS[0];
        let text = redact(&mut Redactor::default(), &format!("a {token} b {} c", TOKENS[1]));
        let text =
            format!("[secret x 1] [secret jwt] [secret jwt 01] {text} [secret jwt 12][secret");
        let markers = Markers::new(text.as_bytes()).map(|marker| {
            assert_eq!(text[marker.digits], marker.number.to_string());
            (marker.kind, marker.number)
        });
        let wanted = [("github-token", 1), ("github-token", 2), ("jwt", 12)];
        assert_eq!(markers.collect::<Vec<_>>(), wanted);

        // A hostile number neither overflows nor wraps around.
        let mut redactor = Redactor::default();
        let max = u64::from(u32::MAX);
        redactor.reserve_markers(format!("[secret jwt {}][secret jwt {max}]", u64::MAX).as_bytes());
        assert_eq!(redactor.next("jwt"), max + 1);
    }

    #[test]
    fn secret_in_a_diff_keeps_its_lines() {
        let key = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQDndJt7NaG8T64";
        let lines = [
            " # Keys",
            "+-----BEGIN PRIVATE KEY-----",
            &format!("+{key}"),
            "+-----END PRIVATE KEY-----",
            "-old",
            "",
        ];
        let lines = lines.join("\n");
        let mut redactor = Redactor::default();
        let redacted = redactor.redact_diff(lines.as_bytes(), &find(lines.as_bytes()));
        let marker = "[secret private-key 1]";
        let wanted = format!(" # Keys\n+{marker}\n+{marker}\n+{marker}\n-old\n");
        assert_eq!(String::from_utf8(redacted).unwrap(), wanted);
        // The key in the file is the same value.
        let file = format!("-----BEGIN PRIVATE KEY-----\n{key}\n-----END PRIVATE KEY-----\n");
        assert_eq!(redact(&mut redactor, &file), format!("{marker}\n"));
    }
}
