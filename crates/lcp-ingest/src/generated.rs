//! Detection of generated and minified text.

/// Lines in which such a comment is looked for.
const LINES: usize = 20;

/// Bytes in which it is looked for.
const BEGINNING: usize = 4 << 10;

/// Bytes of a line, on average, that only minifiers write, and of the shortest such text.
const LONG_LINE: usize = 1_000;

/// Returns whether the text has a comment near its top that it is generated.
pub(crate) fn is_generated(text: &[u8]) -> bool {
    let beginning = String::from_utf8_lossy(&text[..text.len().min(BEGINNING)]);
    let is_notice = |line: &str| {
        line.contains(concat!("@", "generated"))
            || (line.contains("DO NOT EDIT") && line.to_ascii_lowercase().contains("generated"))
    };
    beginning.lines().take(LINES).any(is_notice)
}

/// Returns whether the text has lines of a length that only minifiers write.
pub(crate) fn is_minified(text: &[u8]) -> bool {
    let lines = text.split_inclusive(|byte| *byte == b'\n').count();
    text.len() >= 2 * LONG_LINE && text.len() / lines.max(1) >= LONG_LINE
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_says_so_near_its_top() {
        let go = format!("// Code {} by x. DO NOT EDIT.\n", "generated");
        assert!(is_generated(go.as_bytes()));
        assert!(is_generated(format!("# {}generated\n", '@').as_bytes()));
        assert!(!is_generated(("a\n".repeat(30) + &go).as_bytes()));
        assert!(!is_generated(b"DO NOT EDIT this by hand"));
        assert!(!is_generated(b""));
    }

    #[test]
    fn what_has_very_long_lines() {
        assert!(is_minified("x".repeat(5_000).as_bytes()));
        assert!(!is_minified("let x = 1;\n".repeat(1_000).as_bytes()));
        assert!(!is_minified("x".repeat(1_500).as_bytes()));
        assert!(!is_minified(b""));
    }
}
