//! Unified diffs.

use expect_test::expect;
use lcp_transcripts::diff::{DiffErrorKind, Patch, parse, parse_exact, write};
use lcp_types::{Diff, DiffHunk, UnknownFields};
use proptest::prelude::*;

/// Describes the diffs and notes of a text, one per line.
fn read(text: &str) -> String {
    let Patch { diffs, notes, other_lines } = parse(text).unwrap();
    let hunk = |hunk: &DiffHunk<'_>| {
        let lines = hunk.lines.as_str().unwrap();
        format!(" -{} +{} {lines:?}", hunk.old_start, hunk.new_start)
    };
    let diff = |diff: &Diff<'_>| {
        format!("{:?}{}\n", diff.path, diff.hunks.iter().map(hunk).collect::<String>())
    };
    let note = |note: &lcp_transcripts::diff::Note<'_>| {
        format!("line {}: {:?} {:?}\n", note.line, note.path, note.text)
    };
    let diffs: String = diffs.iter().map(diff).collect();
    let notes: String = notes.iter().map(note).collect();
    format!("{diffs}{notes}{other_lines} others\n")
}

#[test]
fn git_diff_output_is_parsed() {
    let text = "\
commit 0123456
Author: A <a@example.org>

    --- not a header

diff --git a/src/a.rs b/src/a.rs
index 1111111..2222222 100644
--- a/src/a.rs
+++ b/src/a.rs
@@ -1,3 +1,3 @@ fn head()
 one
--- two
+++ two

@@ -9 +9,2 @@
-x
\\ No newline at end of file
+x
+y
diff --git a/old name.txt b/new name.txt
similarity index 90%
rename from old name.txt
rename to new name.txt
--- a/old name.txt\t
+++ b/new name.txt\t
@@ -1 +1 @@
-a
+b
diff --git a/logo.png b/logo.png
new file mode 100644
index 0000000..3333333
Binary files /dev/null and b/logo.png differ
diff --git \"a/t\\303\\244g\\t.txt\" \"b/t\\303\\244g\\t.txt\"
deleted file mode 100644
--- \"a/t\\303\\244g\\t.txt\"
+++ /dev/null
@@ -1 +0,0 @@
-gone
diff --git a/run.sh b/run.sh
old mode 100644
new mode 100755
diff --cc merged.rs
index 1,2..3
--- a/merged.rs
+++ b/merged.rs
@@@ -1,1 -1,1 +1,2 @@@
++both
";
    expect![[r#"
        "src/a.rs" -1 +1 " one\n--- two\n+++ two\n \n" -9 +9 "-x\n\\ No newline at end of file\n+x\n+y\n"
        "new name.txt" -1 +1 "-a\n+b\n"
        "täg\t.txt" -1 +0 "-gone\n"
        line 22: "new name.txt" "rename from old name.txt"
        line 23: "new name.txt" "rename to new name.txt"
        line 30: "logo.png" "new file mode 100644"
        line 32: "logo.png" "Binary files /dev/null and b/logo.png differ"
        line 34: "täg\t.txt" "deleted file mode 100644"
        line 40: "run.sh" "old mode 100644"
        line 41: "run.sh" "new mode 100755"
        line 42: "merged.rs" "diff --cc merged.rs"
        8 others
    "#]]
    .assert_eq(&read(text));
}

#[test]
fn diff_output_from_other_tools_is_parsed() {
    let plain = "\
diff -ru one/x.c two/x.c
--- one/x.c\t2026-01-01 10:00:00.000000000 +0100
+++ two/x.c\t2026-01-02 10:00:00.000000000 +0100
@@ -1 +1 @@
-a
+b
Only in two: y.c
--- c/same.c
+++ c/same.c
@@ -0,0 +1 @@
+x
";
    expect![[r#"
        "two/x.c" -1 +1 "-a\n+b\n"
        "c/same.c" -0 +1 "+x\n"
        line 2: "two/x.c" "--- one/x.c\t2026-01-01 10:00:00.000000000 +0100"
        line 7: "" "Only in two: y.c"
        0 others
    "#]]
    .assert_eq(&read(plain));
    let crlf = "--- a/x\r\n+++ b/x\r\n@@ -1,2 +1,2 @@\r\n \r\n\r\n@@ -9 +9 @@\r\n-a\r\n+b";
    expect![[r#"
        "x" -1 +1 " \r\n \r\n" -9 +9 "-a\r\n+b\n"
        0 others
    "#]]
    .assert_eq(&read(crlf));
    // Without prefixes, a folder may have the name of a prefix.
    let bare =
        "diff --git b/x b/x\nnew file mode 100644\n--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+a\n";
    expect![[r#"
        "b/x" -0 +1 "+a\n"
        line 2: "b/x" "new file mode 100644"
        0 others
    "#]]
    .assert_eq(&read(bare));
    assert_eq!(read("no diff\n\n--- at all\n"), "2 others\n");
}

#[test]
fn parse_errors_report_kind_and_line() {
    let wrong = |text: &str| parse(text).map_err(|error| (error.kind, error.line)).unwrap_err();
    let head = "--- a/x\n+++ b/x\n";
    let hunk = |hunk: &str| wrong(&format!("{head}{hunk}"));
    assert_eq!(wrong("@@ -1 +1 @@\n-a\n+b\n"), (DiffErrorKind::NoFile, 1));
    for header in ["@@ -1\n", "@@ -x +1 @@\n", "@@ -1,2 +3,+4 @@\n", "@@ -4294967296 +1 @@\n"] {
        assert_eq!(hunk(header), (DiffErrorKind::HunkHeader, 3), "{header}");
    }
    assert_eq!(hunk("@@ -1,2 +1,2 @@\n a\nb\n"), (DiffErrorKind::HunkLine, 5));
    assert_eq!(hunk("@@ -1 +1,2 @@\n a\n-b\n"), (DiffErrorKind::HunkLine, 5));
    assert_eq!(hunk("@@ -1,9 +1,9 @@\n a\n"), (DiffErrorKind::UnexpectedEnd, 4));
    let error = parse("--- a/x\n+++ b/x\n@@ -1,9 +1,9 @@\n a\n").unwrap_err();
    assert_eq!(error.to_string(), "line 4: unexpected end of the text in a hunk");
}

#[test]
fn parse_exact_accepts_only_reproducible_diffs() {
    for text in [
        "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n",
        "--- /dev/null\n+++ b/x\n@@ -0,0 +1,2 @@\n+a\n+b\n\\ No newline at end of file\n",
        "--- a/x y\t\n+++ b/x y\t\n@@ -1,2 +1 @@\n a\r\n-b\n",
    ] {
        assert_eq!(write(&parse_exact(text).unwrap()), text);
    }
    for text in [
        "",
        "--- a/x\n+++ b/x\n",
        "--- x\n+++ x\n@@ -1 +1 @@\n-a\n+b\n",
        "--- a/x\n+++ b/x\n@@ -1 +1 @@ fn f()\n-a\n+b\n",
        "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b",
        "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\nand a word\n",
        "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n--- a/y\n+++ b/y\n@@ -1 +1 @@\n-a\n+b\n",
    ] {
        assert!(parse_exact(text).is_none(), "{text:?}");
    }
}

fn a_line() -> impl Strategy<Value = String> {
    let text = prop_oneof![
        "[ a-z\r\\\\+@-]{0,8}".boxed(),
        Just("-- a/x".to_owned()).boxed(),
        Just("\u{2028}é".to_owned()).boxed(),
    ];
    let no_newline = prop::option::weighted(0.1, Just("\\ No newline at end of file\n"));
    (prop::sample::select(vec!["+", "-", " "]), text, no_newline)
        .prop_map(|(mark, text, rest)| format!("{mark}{text}\n{}", rest.unwrap_or_default()))
}

fn a_diff() -> impl Strategy<Value = Diff<'static>> {
    let lines = prop::collection::vec(a_line(), 0..5).prop_map(|lines| lines.concat());
    let hunk = (any::<u32>(), any::<u32>(), lines)
        .prop_map(|(old, new, lines)| DiffHunk::new(old % 3, new, lines));
    let path = prop_oneof![
        "[abiw]/[a-z]{0,3}".boxed(),
        "/dev/null".boxed(),
        "[ a-z\"\\\\\t\n\r/é\u{7f}]{0,8}".boxed(),
    ];
    (path, prop::collection::vec(hunk, 0..4)).prop_map(|(path, hunks)| Diff {
        path: path.into(),
        hunks,
        unknown: UnknownFields::new(),
    })
}

proptest! {
    #[test]
    fn written_diffs_parse_to_equal_diffs(diffs in prop::collection::vec(a_diff(), 0..4)) {
        let text: String = diffs.iter().map(write).collect();
        let patch = parse(&text).unwrap();
        prop_assert_eq!(&patch.diffs, &diffs, "{}", text);
        prop_assert_eq!((patch.notes.len(), patch.other_lines), (0, 0));
        if let [diff] = diffs.as_slice() && !diff.hunks.is_empty() {
            prop_assert_eq!(parse_exact(&text), Some(diff.clone()));
        }
    }

    #[test]
    fn parsing_arbitrary_diff_text_never_panics(
        text in "((--- |\\+\\+\\+ |@@ -|diff --git |diff --cc |rename from )?[ab/\"\\\\0-9,+ @-]{0,9}(\r?\n)?){0,9}",
    ) {
        if let Some(diff) = parse_exact(&text) {
            prop_assert_eq!(write(&diff), text.clone());
        }
        let _ = parse(&text);
    }
}
