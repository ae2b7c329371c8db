//! Placeholders, byte for byte (SPEC_08 §5), for every block type.

use expect_test::expect;
use lcp_driver::{OutputMode, render_placeholder};

use crate::packs::every_type;

#[test]
fn every_type_has_a_placeholder_in_every_mode() {
    let mut lines = String::new();
    for block in every_type() {
        for mode in OutputMode::ALL {
            lines += &render_placeholder(&block, 823, mode);
            lines.push('\n');
        }
    }
    expect![[r#"
        <omitted type="code" path="src/main.rs" lines="10-11" tokens="823" />
        _[Omitted: code src/main.rs:10-11, ~823 tokens]_
        [omitted: code src/main.rs:10-11 ~823tok]
        <omitted type="conversation" role="assistant" tool_call_id="call_1" tokens="823" />
        _[Omitted: conversation assistant #call_1, ~823 tokens]_
        [omitted: conversation assistant #call_1 ~823tok]
        <omitted type="file-tree" root="/repo" tokens="823" />
        _[Omitted: file-tree /repo, ~823 tokens]_
        [omitted: file-tree /repo ~823tok]
        <omitted type="tool-result" name="grep" status="error" tokens="823" />
        _[Omitted: tool-result grep error, ~823 tokens]_
        [omitted: tool-result grep error ~823tok]
        <omitted type="document" title="Guide to &quot;LCP&quot;" tokens="823" />
        _[Omitted: document "Guide to \"LCP\"", ~823 tokens]_
        [omitted: document "Guide to \"LCP\"" ~823tok]
        <omitted type="data" format="json" tokens="823" />
        _[Omitted: data json, ~823 tokens]_
        [omitted: data json ~823tok]
        <omitted type="diff" path="src/main.rs" tokens="823" />
        _[Omitted: diff src/main.rs, ~823 tokens]_
        [omitted: diff src/main.rs ~823tok]
        <omitted type="embedding-ref" vector_id="vec-7" model="text-embedding-3" tokens="823" />
        _[Omitted: embedding-ref vec-7 text-embedding-3, ~823 tokens]_
        [omitted: embedding-ref vec-7 text-embedding-3 ~823tok]
        <omitted type="image" media_type="png" bytes="2" tokens="823" />
        _[Omitted: image png 2, ~823 tokens]_
        [omitted: image png 2 ~823tok]
        <omitted type="extension" namespace="acme" type_name="ticket" tokens="823" />
        _[Omitted: extension acme ticket, ~823 tokens]_
        [omitted: extension acme ticket ~823tok]
        <omitted type="raw" type_id="66" bytes="3" tokens="823" />
        _[Omitted: raw 66 3, ~823 tokens]_
        [omitted: raw 66 3 ~823tok]
    "#]]
    .assert_eq(&lines);
}
