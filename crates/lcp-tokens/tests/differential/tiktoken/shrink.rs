//! A shorter text that shows the same.

/// The shortest part of `text`, in one piece, that was found for which `fails`
/// is true; `text` itself is one.
pub(super) fn shrink<E>(
    text: &str,
    mut fails: impl FnMut(&str) -> Result<bool, E>,
) -> Result<&str, E> {
    let mut ends: Vec<usize> = text.char_indices().map(|(at, _)| at).collect();
    ends.push(text.len());
    let (mut start, mut end) = (0, ends.len() - 1);
    // Half of it is tried first, then less and less; what worked is tried again.
    let mut step = (end - start) / 2;
    while step > 0 {
        let shorter = [(start, end.saturating_sub(step)), (start + step, end)];
        let mut found = None;
        for (start, end) in shorter {
            if start < end && fails(&text[ends[start]..ends[end]])? {
                found = Some((start, end));
                break;
            }
        }
        match found {
            Some(part) => {
                (start, end) = part;
                step = step.min((end - start) / 2).max(usize::from(end - start > 1));
            }
            None => step /= 2,
        }
    }
    Ok(&text[ends[start]..ends[end]])
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use super::shrink;

    #[track_caller]
    fn shrinks_to(text: &str, expected: &str) {
        let fails = |part: &str| Ok::<_, Infallible>(part.contains(expected));
        assert_eq!(shrink(text, fails), Ok(expected));
    }

    #[test]
    fn shrink_returns_the_minimal_failing_part() {
        let long = "é漢 ".repeat(300) + "'ſ" + &"x".repeat(700);
        shrinks_to(&long, "'ſ");
        shrinks_to("'ſ", "'ſ");
        shrinks_to("abcdefgh", "h");
        shrinks_to("abcdefgh", "a");
        shrinks_to("abcdefgh", "cdef");
    }

    #[test]
    fn shrink_returns_the_first_error() {
        assert_eq!(shrink("some text", |_| Err("gone")), Err("gone"));
    }
}
