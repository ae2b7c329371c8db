use super::*;

/// Every reader finds both files in the output of its program for harmless files.
#[test]
fn every_reader_parses_harmless_files() {
    let of = |first: &str, second: &str| {
        vec![("a/b.rs".to_owned(), first.to_owned()), ("c d".to_owned(), second.to_owned())]
    };
    let xml = "<files>\n<file path=\"a/b.rs\">\n1\n</file>\n\n<file path=\"c d\">\n2\n</file>\n";
    assert_eq!(elements(xml, false), of("1\n", "2\n"));
    let escaped = "<file path=\"a/b.rs\">&lt;&#x1B;&amp;</file><file path=\"c d\">2</file>";
    assert_eq!(elements(escaped, true), of("<\u{1b}&", "2"));
    let markdown = "## File: a/b.rs\n```rust\n1\n```\n\n## File: c d\n````\n```\n````\n";
    assert_eq!(fences(markdown, "## File: "), of("1\n", "```\n"));
    assert_eq!(fences("a/b.rs\n```rust\n1\n```\nc d\n```\n2\n```\n", ""), of("1\n", "2\n"));
    let rule = "=".repeat(16);
    let plain = format!("{rule}\nFile: a/b.rs\n{rule}\n1\n\n{rule}\nFile: c d\n{rule}\n2\n");
    assert_eq!(rules(&plain, &rule, "File: "), of("1\n\n", "2\n"));
    assert_eq!(dashes("a/b.rs\n---\n1\n\n\n---\nc d\n---\n2\n\n---\n"), of("1\n", "2"));
    let document = |path: &str, text: &str| {
        format!(
            "<document index=\"1\">\n<source>{path}</source>\n<document_content>\n{text}\n\
             </document_content>\n</document>\n"
        )
    };
    let cxml = document("a/b.rs", "1\n") + &document("c d", "2");
    assert_eq!(documents(&cxml), of("1\n", "2"));
    assert_eq!(object(r#"{"files":{"a/b.rs":"1","c d":"2"}}"#), of("1", "2"));
}
