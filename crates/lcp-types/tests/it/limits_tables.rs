//! The tables of limits in the RFCs say what `lcp_types::limits` says.

use lcp_types::limits;

/// The table of all limits, and one that has some of them.
const ALL: &str = "rfcs/0008-hostile-input.md";
const SOME: &str = "rfcs/0001-block-stream.md";

fn read(path: &str) -> String {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../").to_owned() + path;
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// Returns the differences between a table and the constants. With `has_all`, a limit that the
/// table lacks is one, too.
fn compare(path: &str, text: &str, has_all: bool) -> Vec<String> {
    let rows = rows(text);
    let mut problems = Vec::new();
    for (name, value) in &rows {
        match limits::ALL.iter().find(|(known, _)| known == name) {
            None => problems.push(format!("{path}: lcp_types::limits has no {name}")),
            Some((_, known)) if number(value) != Some(*known) => {
                problems.push(format!("{path}: {name} is {value:?}, in lcp_types::limits {known}"));
            }
            Some(_) => {}
        }
    }
    let lacks = |name: &str| !rows.iter().any(|(row, _)| *row == name);
    for (name, _) in limits::ALL.iter().filter(|(name, _)| has_all && lacks(name)) {
        problems.push(format!("{path}: {name} is not in the table"));
    }
    problems
}

/// Name and value of each row that begins with a name in capitals.
fn rows(text: &str) -> Vec<(&str, &str)> {
    let is_name = |name: &str| name.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'_');
    let row = |line| {
        let (name, rest) = str::strip_prefix(line, "| `")?.split_once('`')?;
        Some((name, rest.split('|').nth(1)?.trim())).filter(|(name, _)| is_name(name))
    };
    text.lines().filter_map(row).collect()
}

/// `64`, `256 MiB`, `2²⁴`.
fn number(value: &str) -> Option<u64> {
    if let Some(power) = value.strip_prefix('2').filter(|rest| rest.starts_with(is_raised)) {
        let digits: String = power.chars().map(lowered).collect::<Option<_>>()?;
        return 1u64.checked_shl(digits.parse().ok()?);
    }
    let (digits, unit) = value.split_once(' ').unwrap_or((value, ""));
    let unit = match unit {
        "" => 1,
        "KiB" => 1 << 10,
        "MiB" => 1 << 20,
        _ => return None,
    };
    digits.parse::<u64>().ok()?.checked_mul(unit)
}

const RAISED: &str = "⁰¹²³⁴⁵⁶⁷⁸⁹";

fn is_raised(c: char) -> bool {
    RAISED.contains(c)
}

fn lowered(c: char) -> Option<char> {
    let at = RAISED.chars().position(|raised| raised == c)?;
    char::from_digit(u32::try_from(at).ok()?, 10)
}

#[test]
fn table_values_are_parsed() {
    let values = ["64", "256 MiB", "64 KiB", "2²⁴", "2", "2 GB", "many"];
    let expected = [Some(64), Some(256 << 20), Some(64 << 10), Some(1 << 24), Some(2), None, None];
    assert_eq!(values.map(number), expected);
}

#[test]
fn differences_are_reported() {
    let table = "| `DEPTH_MAX` | 65 | levels |\n| `NO_SUCH_MAX` | 1 | – |\n| `lcp` | 1 |\n";
    assert_eq!(
        compare("a.md", table, false),
        [
            "a.md: DEPTH_MAX is \"65\", in lcp_types::limits 64",
            "a.md: lcp_types::limits has no NO_SUCH_MAX"
        ]
    );
    let all = compare("a.md", "| `DEPTH_MAX` | 64 | levels |", true);
    assert_eq!(all.len(), limits::ALL.len() - 1, "{all:?}");
}

#[test]
fn doc_tables_match_the_constants() {
    assert_eq!(compare(ALL, &read(ALL), true), Vec::<String>::new());
    assert_eq!(compare(SOME, &read(SOME), false), Vec::<String>::new());
}
