//! What newer reads and results replace (RFC 0006 §5).

use lcp_dedup::{DedupLevel, Options, Survivor};
use lcp_types::{Block, DataFormat, DiffHunk, DuplicateKind, Lang, Priority};

use crate::support::{at, chunk, contents, covered, file, numbered, priority, tag, with};

const OLD: &str = "fn f() {\n    old()\n}\n\n// More than a line that refers to it.\n";
const NEW: &str = "fn f() {\n    new()\n}\n\n// More than a line that refers to it.\n";

#[test]
fn older_file_version_is_superseded() {
    let blocks = [file("a.rs", OLD), file("b.rs", "fn b() {}\n"), file("a.rs", NEW)];
    let found = at(DedupLevel::Overlap, &blocks);
    assert_eq!(covered(&found), [(0, DuplicateKind::Superseded, 2)]);
    let pack = found.to_pack_blocks(&blocks);
    assert_eq!(contents(&pack)[0], "[outdated: the newer one is a.rs below]");
    assert_eq!(pack[2], blocks[2]);
    assert!(covered(&at(DedupLevel::Exact, &blocks)).is_empty());
}

#[test]
fn older_table_of_the_same_path_is_superseded() {
    let rows = |last: &str| format!("id,name\n{}{last}\n", "1,a name\n".repeat(20));
    let table = |last| Block::structured_data(DataFormat::Csv, rows(last));
    let blocks = [table("2,old"), tag(0, "path=a.csv"), table("2,new"), tag(2, "path=a.csv")];
    let found = at(DedupLevel::Overlap, &blocks);
    assert_eq!(covered(&found), [(0, DuplicateKind::Superseded, 2)]);
    let pack = found.to_pack_blocks(&blocks);
    assert_eq!(contents(&pack)[0], "[outdated: the newer one is a.csv below]");
    // A part of the file does not change the table, which has no fields for a range of lines.
    let part = Block::code_lines(Lang::Unknown, "a.csv", rows("2,old"), 1, 22);
    let blocks = [table("2,old\n3,b"), tag(0, "path=a.csv"), part];
    let found = at(DedupLevel::Overlap, &blocks);
    assert_eq!(contents(&found.to_pack_blocks(&blocks))[0], rows("2,old\n3,b"));
    // Tables of other paths, or of none, are not versions of each other.
    for path in ["path=b.csv", "other"] {
        let blocks = [table("2,old"), tag(0, "path=a.csv"), table("2,new"), tag(2, path)];
        assert!(covered(&at(DedupLevel::Overlap, &blocks)).is_empty(), "{path}");
    }
}

#[test]
fn restored_version_counts_as_newest() {
    let blocks = [file("a.rs", OLD), file("a.rs", NEW), file("a.rs", OLD)];
    let found = at(DedupLevel::Overlap, &blocks);
    let both = [(0, DuplicateKind::Superseded, 2), (1, DuplicateKind::Superseded, 2)];
    assert_eq!(covered(&found), both);
    assert_eq!(contents(&found.to_pack_blocks(&blocks))[2], OLD);
}

#[test]
fn chunk_is_superseded_by_a_newer_full_read() {
    let newer = numbered(1, 30).replace("line 12 ", "line xii ");
    let blocks = [chunk("a.rs", 10, 20), Block::code(Lang::Rust, "a.rs", newer)];
    assert_eq!(covered(&at(DedupLevel::Overlap, &blocks)), [(0, DuplicateKind::Superseded, 1)]);
}

#[test]
fn newer_partial_read_does_not_supersede_the_file() {
    let newer = numbered(10, 20).replace("line 12 ", "line xii ");
    let blocks = [chunk("a.rs", 1, 30), Block::code_lines(Lang::Rust, "a.rs", newer, 10, 20)];
    assert!(covered(&at(DedupLevel::Overlap, &blocks)).is_empty());
}

#[test]
fn edit_supersedes_the_lines_it_shows() {
    let diff = |lines: &'static str| Block::diff("a.rs", vec![DiffHunk::new(10, 10, lines)]);
    let read = Block::code_lines(Lang::Rust, "a.rs", "b\nc\n", 11, 12);
    let shows = [read.clone(), diff(" a\n-b\n+B\n c\n d\n")];
    let found = at(DedupLevel::Overlap, &shows);
    assert_eq!(covered(&found), [(0, DuplicateKind::Superseded, 1)]);
    // Its content is shorter than the line would be.
    assert_eq!(contents(&found.to_pack_blocks(&shows))[0], "[outdated: see below]");
    // It does not show all of them, or other lines, or came before.
    let less = [read.clone(), diff(" a\n-b\n+B\n")];
    assert!(covered(&at(DedupLevel::Overlap, &less)).is_empty());
    let other = [read.clone(), diff(" a\n-x\n+B\n c\n d\n")];
    assert!(covered(&at(DedupLevel::Overlap, &other)).is_empty());
    let before = [diff(" a\n-b\n+B\n c\n d\n"), read];
    assert!(covered(&at(DedupLevel::Overlap, &before)).is_empty());
}

#[test]
fn pinned_reads_are_never_superseded() {
    let blocks = [file("a.rs", OLD), file("a.rs", NEW), tag(0, "pinned")];
    assert!(covered(&at(DedupLevel::Overlap, &blocks)).is_empty());
}

#[test]
fn critical_reads_are_superseded_only_by_critical_ones() {
    let critical = [file("a.rs", OLD), file("a.rs", NEW), priority(0, Priority::Critical)];
    assert!(covered(&at(DedupLevel::Overlap, &critical)).is_empty());
    let both = [&critical[..], &[priority(1, Priority::Critical)]].concat();
    assert_eq!(covered(&at(DedupLevel::Overlap, &both)), [(0, DuplicateKind::Superseded, 1)]);
}

/// Other lines of the file were changed in between: these were not.
#[test]
fn unchanged_lines_are_not_superseded() {
    let other = numbered(1, 10).replace("line 3 ", "line iii ");
    let blocks = [
        chunk("a.rs", 1, 10),
        chunk("a.rs", 100, 110),
        Block::code_lines(Lang::Rust, "a.rs", other, 1, 10),
        chunk("a.rs", 100, 110),
    ];
    let found = at(DedupLevel::Overlap, &blocks);
    assert_eq!(covered(&found), [(0, DuplicateKind::Superseded, 2), (3, DuplicateKind::Equal, 1)]);
}

#[test]
fn survivor_first_disables_superseding() {
    let options = Options { survivor: Survivor::First, ..Options::new(DedupLevel::Overlap) };
    let blocks = [file("a.rs", OLD), file("a.rs", NEW), file("a.rs", NEW)];
    assert_eq!(covered(&with(&blocks, &options)), [(2, DuplicateKind::Equal, 1)]);
    // Between two equal reads something else was read: the last is no copy.
    let rewind = [file("a.rs", OLD), file("a.rs", NEW), file("a.rs", OLD), file("a.rs", OLD)];
    assert_eq!(covered(&with(&rewind, &options)), [(3, DuplicateKind::Equal, 2)]);
}

#[test]
fn all_old_versions_are_superseded_by_the_newest() {
    let texts: Vec<String> =
        (0..50).map(|n| format!("fn f() {{\n    version_{n}()\n}}\n")).collect();
    let blocks: Vec<_> =
        texts.iter().map(|text| Block::code(Lang::Rust, "a.rs", text.clone())).collect();
    let found = at(DedupLevel::Overlap, &blocks);
    assert_eq!(found.duplicates.count(DuplicateKind::Superseded).0, 49);
    assert!(found.duplicates.covered.values().all(|covered| covered.by == 49 && covered.in_place));
}

#[test]
fn costly_reference_line_saves_zero_tokens() {
    let blocks = [file("a.rs", "x\n"), file("a.rs", "y\n")];
    let found = at(DedupLevel::Overlap, &blocks);
    assert_eq!(found.duplicates.tokens_saved(), 0);
}

/// A, then B, then A again: the last is the newest, whatever it is a copy of.
#[test]
fn reverted_version_is_not_a_duplicate() {
    let other = || {
        Block::code_lines(
            Lang::Rust,
            "a.rs",
            numbered(5, 15).replace("line 7 ", "line vii "),
            5,
            15,
        )
    };
    let edit = || Block::diff("a.rs", vec![DiffHunk::new(4, 4, " a\n-b\n+c\n")]);
    let doc = |text: &'static str| Block::document("notes", text, lcp_types::FormatHint::Plain);
    let sequences = [
        [chunk("a.rs", 1, 10), other(), chunk("a.rs", 1, 10)],
        [chunk("a.rs", 1, 10), edit(), chunk("a.rs", 1, 10)],
        [doc("one\n"), doc("two\n"), doc("one\n")],
        [edit(), chunk("b.rs", 1, 3), edit()],
    ];
    for blocks in sequences {
        for level in DedupLevel::ALL {
            for keep in Survivor::ALL {
                let options = Options { survivor: keep, ..Options::new(level) };
                let found = with(&blocks, &options);
                assert!(!found.duplicates.covered.contains_key(&2), "{blocks:?} {options:?}");
            }
        }
    }
}

/// Chunks of before and after an edit are of two states of the file.
#[test]
fn chunks_are_not_merged_across_an_edit() {
    let edit = Block::diff("a.rs", vec![DiffHunk::new(10, 10, " a\n+b\n+c\n")]);
    let blocks = [chunk("a.rs", 1, 50), edit, chunk("a.rs", 51, 90)];
    for keep in Survivor::ALL {
        let options = Options { survivor: keep, ..Options::new(DedupLevel::Overlap) };
        assert!(covered(&with(&blocks, &options)).is_empty());
    }
    // Nor across a read of another state.
    let other = Block::code_lines(
        Lang::Rust,
        "a.rs",
        numbered(5, 15).replace("line 7 ", "line vii "),
        5,
        15,
    );
    let blocks = [chunk("a.rs", 1, 10), other, chunk("a.rs", 6, 20)];
    assert!(covered(&at(DedupLevel::Overlap, &blocks)).is_empty());
}

#[test]
fn shorter_reread_supersedes_the_file() {
    let whole = |last| Block::code(Lang::Rust, "a.rs", numbered(1, last));
    let blocks = [whole(30), whole(20)];
    assert_eq!(covered(&at(DedupLevel::Overlap, &blocks)), [(0, DuplicateKind::Superseded, 1)]);
}

#[test]
fn blocks_without_path_are_unrelated() {
    let blocks = [file("", "one\n"), file("", "another\n"), chunk("", 1, 5), chunk("", 4, 9)];
    assert!(covered(&at(DedupLevel::Overlap, &blocks)).is_empty());
}

/// The newest read stays under its own name, though another file has the same text.
#[test]
fn newest_read_survives_under_its_own_path() {
    let blocks = [file("a.rs", OLD), file("b.rs", NEW), file("a.rs", NEW)];
    let found = at(DedupLevel::Overlap, &blocks);
    assert_eq!(covered(&found), [(0, DuplicateKind::Superseded, 2), (1, DuplicateKind::Equal, 2)]);
}
