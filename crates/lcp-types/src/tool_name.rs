//! Names of tools, which agents and servers write in different ways.

/// Returns the last part of the name of a tool, in lower case and without separators, so that names
/// of different agents can be compared: `mcp__files__read_text_file` is `readtextfile`.
///
/// ```
/// use lcp_types::normalize_tool_name;
///
/// for name in ["WebSearch", "web_search", "web-search", "mcp__brave__web_search", "tools.WebSearch"] {
///     assert_eq!(normalize_tool_name(name), "websearch");
/// }
/// ```
#[must_use]
pub fn normalize_tool_name(name: &str) -> String {
    let name = name.rsplit("__").next().unwrap_or(name);
    let name = name.rsplit(['.', '/', ':']).next().unwrap_or(name);
    let letters = name.chars().filter(char::is_ascii_alphanumeric);
    letters.map(|c| c.to_ascii_lowercase()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn normalized_name_is_the_last_part_without_case_and_separators() {
        for (name, wanted) in [
            ("Read", "read"),
            ("mcp__files__read_text_file", "readtextfile"),
            ("functions.read", "read"),
            ("server/search:files", "files"),
            ("brave-web-search", "bravewebsearch"),
            ("read__", ""),
            ("__", ""),
            ("", ""),
        ] {
            assert_eq!(normalize_tool_name(name), wanted, "{name}");
        }
    }
}
