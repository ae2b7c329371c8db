//! Checks of a match, for shapes that other text can have too.

use std::ops::Range;

use base64::Engine as _;
use base64::engine::DecodePaddingMode;
use base64::engine::general_purpose::{GeneralPurpose, GeneralPurposeConfig, STANDARD_NO_PAD};

use crate::rules::Check;

/// Words that documentation uses for a password.
const DUMMY_PASSWORDS: &[&str] = &[
    "changeme", "changeit", "dummy", "example", "foobar", "guest", "hunter2", "letmein", "pass",
    "passphrase", "passwd", "password", "postgres", "pswd", "pwd", "replaceme", "root", "secret",
    "test", "token", "admin", "user", "username", "mypassword", "mypass", "mysecretpassword",
    "yourpassword", "secretpassword", "password123", "pass123", "dbpass", "dbpassword",
];

/// Words that show that a password must still be set.
const PLACEHOLDERS: &[&str] = &["your", "replace", "placeholder", "example", "redacted"];

/// URL-safe Base64. Tokens have no padding, and the last bits of a truncated token can be nonzero.
const URL_SAFE: GeneralPurpose = GeneralPurpose::new(
    &base64::alphabet::URL_SAFE,
    GeneralPurposeConfig::new()
        .with_decode_allow_trailing_bits(true)
        .with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

pub(crate) fn passes(check: Check, text: &[u8], range: &Range<usize>) -> bool {
    let value = &text[range.clone()];
    match check {
        Check::Token | Check::PrivateKey | Check::PrivateKeyEnd => !is_filler(value),
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

/// Returns whether a value is a placeholder: its last 16 characters are letters x, zeros, stars, dots,
/// dashes, underscores or number signs.
pub(crate) fn is_filler(value: &[u8]) -> bool {
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
    // The sample token of jwt.io and many other pages.
    let is_sample = has(&claims, b"\"1234567890\"") && has(&claims, b"John Doe");
    header.first() == Some(&b'{') && has(&header, b"\"alg\"") && !is_sample
}

/// Returns whether a part of a URL is a password rather than a variable or a dummy.
fn is_password(text: &[u8], range: &Range<usize>) -> bool {
    let value = &text[range.clone()];
    if value.len() < 4 || is_variable(value) || is_filler(value) {
        return false;
    }
    let before = &text[..range.start.saturating_sub(1)];
    let user = before.rsplit(|byte| *byte == b'/').next().unwrap_or_default();
    let lower = value.to_ascii_lowercase();
    let letters: Vec<u8> = lower.iter().copied().filter(u8::is_ascii_alphanumeric).collect();
    let is_dummy = DUMMY_PASSWORDS.iter().any(|dummy| letters == dummy.as_bytes());
    let mut words = lower.split(|byte| !byte.is_ascii_alphanumeric());
    let is_placeholder = words.any(|word| PLACEHOLDERS.iter().any(|it| word == it.as_bytes()));
    !is_dummy && !is_placeholder && !value.eq_ignore_ascii_case(user)
}

/// Returns whether a value is a variable of a template, such as `$NAME`, `${NAME}`, `{{name}}`,
/// `<name>`, `%(name)s` and `%s`, or stars in its place.
fn is_variable(value: &[u8]) -> bool {
    let is_name = |name: &[u8]| {
        let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
        !name.is_empty() && name.iter().all(is_part)
    };
    match value {
        [b'$', name @ ..] if is_name(name) => true,
        [b'$', b'{' | b'(', .., b'}' | b')']
        | [b'{', .., b'}']
        | [b'<', .., b'>']
        | [b'%', b'(', .., b')', _]
        | [b'%', .., b'%']
        | [b'%', _] => true,
        _ => value.iter().all(|byte| *byte == b'*'),
    }
}
