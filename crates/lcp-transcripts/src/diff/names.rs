//! The file names in diffs: quoted as in C, with a prefix for each side.

use std::borrow::Cow;

/// The name that stands for a missing file.
pub(super) const NULL: &str = "/dev/null";

/// The letters that git uses as prefixes of the sides.
const SIDES: &[u8] = b"abciow12";

/// Returns the name after `--- ` or `+++ `, without quotes and without the text after a tab.
pub(super) fn name(text: &str) -> Cow<'_, str> {
    match unquoted(text) {
        Some((name, _)) => name,
        None => text.split('\t').next().unwrap_or(text).into(),
    }
}

/// Returns the path of the file with these two names. `git` is the path in the preceding git
/// header.
pub(super) fn path<'a>(old: &Cow<'a, str>, new: &Cow<'a, str>, git: Option<&str>) -> Cow<'a, str> {
    let known = |name: &str| git.is_some_and(|git| name == git);
    match (old.as_ref() == NULL, new.as_ref() == NULL) {
        (true, false) if known(new) => new.clone(),
        (false, true) if known(old) => old.clone(),
        (true, false) => without_side(new),
        (false, true) => without_side(old),
        _ if are_sides(old, new) => without_side(new),
        _ => new.clone(),
    }
}

/// Returns whether two names refer to one file, apart from their prefixes. A missing file matches
/// any name.
pub(super) fn is_one(old: &str, new: &str) -> bool {
    let is_same = || old == new || are_sides(old, new) && old.get(2..) == new.get(2..);
    old == NULL || new == NULL || is_same()
}

/// Returns whether two names have prefixes of different sides.
fn are_sides(old: &str, new: &str) -> bool {
    matches!((side(old), side(new)), (Some(one), Some(other)) if one != other)
}

/// Returns the letter of a prefix such as `a/`.
fn side(name: &str) -> Option<u8> {
    match name.as_bytes() {
        [letter, b'/', ..] if SIDES.contains(letter) => Some(*letter),
        _ => None,
    }
}

fn without_side<'a>(name: &Cow<'a, str>) -> Cow<'a, str> {
    match name {
        name if side(name).is_none() => name.clone(),
        Cow::Borrowed(name) => Cow::Borrowed(&name[2..]),
        Cow::Owned(name) => Cow::Owned(name[2..].to_owned()),
    }
}

/// Returns the new name of the file in a line `diff --git A B`; both names if they cannot be
/// separated.
pub(super) fn of_git(names: &str) -> Cow<'_, str> {
    if let Some((old, rest)) = unquoted(names) {
        let new = name(rest.trim_start());
        return path(&old, &new, None);
    }
    // Names can contain spaces, but the two names of one file have the same length.
    let middle = names.len() / 2;
    let halves = names.is_char_boundary(middle).then(|| names.split_at(middle));
    if let Some((old, new)) = halves.and_then(|(old, new)| Some((old, new.strip_prefix(' ')?))) {
        let (old, new) = (Cow::Borrowed(old), Cow::Borrowed(new));
        if is_one(&old, &new) {
            return path(&old, &new, None);
        }
    }
    // In a rename, only the prefix shows the beginning of the new name.
    let renamed = names.strip_prefix("a/").and_then(|names| names.split_once(" b/"));
    renamed.map_or(names, |(_, new)| new).into()
}

/// Returns the quoted name at the beginning of a text, and the rest of the text.
fn unquoted(text: &str) -> Option<(Cow<'_, str>, &str)> {
    let quoted = text.strip_prefix('"')?;
    let mut bytes = Vec::new();
    let mut at = 0;
    let raw = quoted.as_bytes();
    loop {
        match *raw.get(at)? {
            b'"' => break,
            b'\\' => {
                let escape = *raw.get(at + 1)?;
                if let Some(digits @ [b'0'..=b'3', b'0'..=b'7', b'0'..=b'7']) =
                    raw.get(at + 1..at + 4)
                {
                    bytes.push(digits.iter().fold(0, |byte, digit| byte << 3 | (digit - b'0')));
                    at += 4;
                    continue;
                }
                bytes.push(ESCAPES.iter().find(|(letter, _)| *letter == escape)?.1);
                at += 2;
            }
            byte => {
                bytes.push(byte);
                at += 1;
            }
        }
    }
    // Invalid UTF-8 in a name becomes U+FFFD.
    let name = String::from_utf8_lossy(&bytes).into_owned();
    Some((name.into(), &quoted[at + 1..]))
}

/// The letters of escape sequences, and the bytes that they represent.
#[rustfmt::skip]
const ESCAPES: [(u8, u8); 9] = [
    (b'a', 7), (b'b', 8), (b't', b'\t'), (b'n', b'\n'), (b'v', 11), (b'f', 12), (b'r', b'\r'),
    (b'"', b'"'), (b'\\', b'\\'),
];

/// Appends a name as git prints it, with quotes if it needs them.
pub(super) fn push(out: &mut String, side: &str, path: &str) {
    let is_plain = |c: char| !c.is_ascii_control() && c != '"' && c != '\\';
    if path.chars().all(is_plain) {
        out.push_str(side);
        out.push_str(path);
    } else {
        out.push('"');
        out.push_str(side);
        for c in path.chars() {
            let escape = ESCAPES.iter().find(|(_, byte)| char::from(*byte) == c);
            match escape {
                Some((letter, _)) => out.extend(['\\', char::from(*letter)]),
                None if c.is_ascii_control() => {
                    let digit = |by: u32| char::from_digit(u32::from(c) >> by & 7, 8);
                    out.push('\\');
                    out.extend([digit(6), digit(3), digit(0)].into_iter().flatten());
                }
                None => out.push(c),
            }
        }
        out.push('"');
    }
    // The tab shows readers the end of a name with spaces.
    if path.contains(' ') {
        out.push('\t');
    }
}
