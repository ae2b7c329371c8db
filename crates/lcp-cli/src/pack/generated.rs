//! Whether a program made a text: it says so near its top, or no person writes such lines.

/// Lines in which a text says that it is generated.
const LINES: usize = 20;

/// Bytes of the beginning that are looked at.
const BEGINNING: usize = 4 << 10;

/// Bytes of a line, on average, that only minifiers write, and of the shortest such text.
const LONG_LINE: usize = 1_000;

/// Whether the text says that it is generated, or is minified.
pub(super) fn is_generated(text: &[u8]) -> bool {
    let beginning = String::from_utf8_lossy(&text[..text.len().min(BEGINNING)]);
    let says = |line: &str| {
        line.contains(concat!("@", "generated"))
            || (line.contains("DO NOT EDIT") && line.to_ascii_lowercase().contains("generated"))
    };
    beginning.lines().take(LINES).any(says)
}

/// Whether the text has lines of a length that only minifiers write.
pub(super) fn is_minified(text: &[u8]) -> bool {
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
