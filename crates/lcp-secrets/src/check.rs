//! Checks of a match, for shapes that other text can have too.

use std::ops::Range;

use base64::Engine as _;
use base64::engine::DecodePaddingMode;
use base64::engine::general_purpose::{GeneralPurpose, GeneralPurposeConfig, STANDARD_NO_PAD};

use crate::rules::Check;

/// The maximum bytes between the markers of a private key.
const PRIVATE_KEY_BYTES_MAX: usize = 64 << 10;

/// The minimum characters of a private key. An Ed25519 key has 64.
const PRIVATE_KEY_CHARS_MIN: usize = 40;

/// Words that documentation uses for a password.
const DUMMY_PASSWORDS: &[&str] = &[
    "changeme", "changeit", "dummy", "example", "foobar", "guest", "hunter2", "letmein", "pass",
    "passphrase", "passwd", "password", "postgres", "pswd", "pwd", "replaceme", "root", "secret",
    "test", "token", "admin", "user", "username", "mypassword", "mypass", "mysecretpassword",
    "yourpassword", "secretpassword", "password123", "pass123", "dbpass", "dbpassword",
];

/// Base64 of URLs. Tokens have no padding, and the last bits of a cut one are not zero.
const URL_SAFE: GeneralPurpose = GeneralPurpose::new(
    &base64::alphabet::URL_SAFE,
    GeneralPurposeConfig::new()
        .with_decode_allow_trailing_bits(true)
        .with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

pub(crate) fn passes(check: Check, text: &[u8], range: &Range<usize>) -> bool {
    let value = &text[range.clone()];
    match check {
        Check::Token | Check::PrivateKey => !is_filler(value),
        Check::NotExample => {
            !is_filler(value) && !value.ends_with(b"EXAMPLE") && !value.ends_with(b"EXAMPLEKEY")
        }
        Check::Jwt => is_jwt(value),
        Check::NumberInBase64 => {
            let number = first_part(value).is_some_and(|first| {
                let decoded = STANDARD_NO_PAD.decode(first);
                let decoded = decoded.or_else(|_| URL_SAFE.decode(first));
                decoded.is_ok_and(|id| {
                    (17..=20).contains(&id.len()) && id.iter().all(u8::is_ascii_digit)
                })
            });
            number && !is_filler(value)
        }
        Check::Password => is_password(text, range),
    }
}

/// Returns the end of a private key whose first marker ends at `start`.
pub(crate) fn private_key_end(text: &[u8], start: usize) -> Option<usize> {
    const END: &[u8] = b"-----END ";
    let rest = &text[start..text.len().min(start + PRIVATE_KEY_BYTES_MAX)];
    let body = rest.windows(END.len()).position(|part| part == END);
    let (body, end) = match body {
        Some(at) => {
            let after = &rest[at + END.len()..];
            let dashes = after.windows(5).take(64).position(|part| part == b"-----");
            (at, at + END.len() + dashes.map_or(0, |dashes| dashes + 5))
        }
        // A cut key ends with its last line of Base64.
        None => {
            let body = rest.iter().take_while(|byte| is_key_byte(**byte)).count();
            (body, body)
        }
    };
    // Escapes of newlines are not part of the key.
    let is_part = |byte: &&u8| byte.is_ascii_alphanumeric() || b"+/=".contains(byte);
    let body = &rest[..body];
    let longest = body.split(|byte| !is_part(&byte)).map(<[u8]>::len).sum::<usize>();
    let words = body.split(|byte| !is_part(&byte)).filter(|part| part.len() >= 16).count();
    (longest >= PRIVATE_KEY_CHARS_MIN && words > 0 && !is_filler(body)).then_some(start + end)
}

fn is_key_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"+/= \t\r\n\\\"',".contains(&byte)
}

/// Returns whether a value is a placeholder: after its prefix, it has only the letter x, zeros,
/// stars, dots and dashes.
fn is_filler(value: &[u8]) -> bool {
    let mut tail = value.iter().rev().take(16);
    tail.all(|byte| b"xX0*.-_#".contains(byte))
}

fn first_part(value: &[u8]) -> Option<&[u8]> {
    value.split(|byte| *byte == b'.').next()
}

fn is_jwt(value: &[u8]) -> bool {
    let mut parts = value.split(|byte| *byte == b'.').map(|part| URL_SAFE.decode(part));
    let has = |part: &[u8], text: &[u8]| part.windows(text.len()).any(|it| it == text);
    let (Some(Ok(header)), Some(Ok(claims))) = (parts.next(), parts.next()) else { return false };
    // The token with which jwt.io and many pages explain the format.
    let is_sample = has(&claims, b"\"1234567890\"") && has(&claims, b"John Doe");
    header.first() == Some(&b'{') && has(&header, b"\"alg\"") && !is_sample
}

/// Returns whether a part of a URL is a password rather than a variable or a dummy.
fn is_password(text: &[u8], range: &Range<usize>) -> bool {
    let value = &text[range.clone()];
    let is_variable = |byte: &u8| b"${}<>%()*\\|^".contains(byte);
    if value.iter().any(is_variable) && !is_percent_encoded(value) || is_filler(value) {
        return false;
    }
    let before = &text[..range.start.saturating_sub(1)];
    let user = before.rsplit(|byte| *byte == b'/').next().unwrap_or_default();
    let lower = value.to_ascii_lowercase();
    let letters: Vec<u8> = lower.iter().copied().filter(u8::is_ascii_alphanumeric).collect();
    let is_dummy = DUMMY_PASSWORDS.iter().any(|dummy| letters == dummy.as_bytes())
        || ["your", "replace", "placeholder", "example", "redacted"]
            .iter()
            .any(|word| lower.windows(word.len()).any(|part| part == word.as_bytes()));
    value.len() >= 4 && !is_dummy && !value.eq_ignore_ascii_case(user)
}

/// Returns whether each percent sign begins the code of a byte, and no other sign of a variable
/// occurs.
fn is_percent_encoded(value: &[u8]) -> bool {
    let is_code = |at: usize| {
        value.get(at + 1..at + 3).is_some_and(|code| code.iter().all(u8::is_ascii_hexdigit))
    };
    value.iter().enumerate().all(|(at, byte)| match byte {
        b'%' => is_code(at),
        byte => !b"${}<>()*\\|^".contains(byte),
    })
}
