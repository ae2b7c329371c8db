//! Sizes in bytes.

/// Parses a number of bytes such as `4096`, `500k` or `2M`, with units of 1,024.
///
/// # Errors
///
/// A message for people, if it is no such number.
pub fn parse_size(value: &str) -> Result<u64, String> {
    const UNITS: [(char, u32); 4] = [('k', 10), ('m', 20), ('g', 30), ('t', 40)];
    let end = value.chars().next_back().map(|unit| unit.to_ascii_lowercase());
    let unit = UNITS.iter().find(|(unit, _)| Some(*unit) == end);
    let (number, shift) = match unit {
        Some((_, shift)) => (&value[..value.len() - 1], *shift),
        None => (value, 0),
    };
    let number = number.parse::<u64>().ok().filter(|_| !number.starts_with('+'));
    let bytes = number.and_then(|number| number.checked_mul(1 << shift));
    let bytes = bytes.filter(|bytes| *bytes > 0);
    bytes.ok_or_else(|| "a number of bytes is wanted, such as 4096, 500k or 2M".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_have_units() {
        for (text, wanted) in [("1", 1), ("500k", 512_000), ("2M", 2 << 20), ("1g", 1 << 30)] {
            assert_eq!(parse_size(text), Ok(wanted), "{text}");
        }
        for text in ["", "0", "k", "-1", "+1", "1.5M", "1kk", "99999999999t", "1 k", "1ä"] {
            assert!(parse_size(text).is_err(), "{text}");
        }
    }
}
