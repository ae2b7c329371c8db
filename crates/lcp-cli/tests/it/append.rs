//! `append` and `recover` (RFC 0003 §8 and §9).

use std::fs;
use std::io::ErrorKind;
use std::time::Duration;

use lcp_app::pack_output::count_costs;
use lcp_decoder::{DecodeOptions, PackIndex, decode};
use lcp_driver::IndexCosts;
use lcp_encoder::{Compression, EncodeOptions, Magic, PackWriter, encode, encode_with_costs};
use lcp_packfile::journal::{
    Journal, LockResult, PackFile, TailChange, journal_path, replace_tail,
};
use lcp_packfile::{AppendInput, AppendOptions, AppendResult, PackScan, append, merge};
use lcp_testkit::any_pack;
use lcp_tokens::{Encoding, Tiktoken};
use lcp_types::{Block, EncodingCosts, FormatHint, MemoryContentStore, Role};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::command::{LCP, printed, run, run_with, sample, stderr};

fn options(compression: Compression) -> EncodeOptions {
    EncodeOptions { compression, ..EncodeOptions::default() }
}

fn turns(texts: &[&'static str]) -> Vec<Block<'static>> {
    texts.iter().map(|text| Block::conversation(Role::User, *text)).collect()
}

fn scratch() -> (tempfile::TempDir, impl Fn(&str) -> String) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().to_owned();
    (folder, move |name| path.join(name).to_str().unwrap().to_owned())
}

fn append_options(compression: Option<Compression>) -> AppendOptions<'static> {
    AppendOptions { compression, count_costs: Some(&count_costs), change: None }
}

/// Returns the new pack and the result.
fn appended(old: &[u8], added: &[&[u8]]) -> (Vec<u8>, AppendResult) {
    let added: Vec<_> = added.iter().map(|pack| AppendInput { name: "x", pack }).collect();
    let appended = append(old, &added, &append_options(None)).unwrap();
    (appended.change.apply(old), appended)
}

/// Returns the journal of this change.
fn journal_of(old: &[u8], change: &TailChange) -> Vec<u8> {
    let len = change.end_offset + change.tail.len() as u64;
    Journal::new(old, change.end_offset, len).unwrap().unwrap().to_bytes()
}

proptest! {
    /// The pack is the one that encoding all at once makes.
    #[test]
    fn append_equals_encoding_all_blocks_at_once(
        a in any_pack(), b in any_pack(), c in any_pack(),
        is_compressed in any::<bool>(), is_counted in any::<bool>(),
    ) {
        let compression = if is_compressed { Compression::Block } else { Compression::None };
        let encoded = |blocks: &[Block<'_>]| {
            let costs = is_counted.then(|| costs(blocks));
            encode_with_costs(blocks, options(compression), costs.as_slice()).unwrap()
        };
        let old = encoded(&a);
        let [second, third] =
            [&b, &c].map(|blocks| encode(blocks, options(compression)).unwrap());
        let appended = {
            let added = [&second, &third].map(|pack| AppendInput { name: "x", pack });
            append(&old, &added, &append_options(Some(compression))).unwrap()
        };
        // What spoke of none in the old pack is not moved.
        let merged = merge(vec![a.clone(), b, c]).split_off(a.len());
        let all = [a, merged].concat();
        prop_assert_eq!(appended.change.apply(&old), encoded(&all));
        prop_assert_eq!(appended.blocks.1, all.len() as u64);
    }
}

fn costs(blocks: &[Block<'_>]) -> EncodingCosts {
    IndexCosts::new(&Tiktoken::new(Encoding::O200kBase)).count(blocks).unwrap()
}

#[test]
fn append_updates_costs_and_drops_unknown_encodings() {
    let (old, new) = (turns(&["one", "two words"]), turns(&["three more words"]));
    let pack = encode_with_costs(&old, EncodeOptions::default(), &[costs(&old)]).unwrap();
    let added = encode(&new, EncodeOptions::default()).unwrap();
    let (found, result) = appended(&pack, &[&added]);
    let all = merge(vec![old, new]);
    let expected = encode_with_costs(&all, EncodeOptions::default(), &[costs(&all)]).unwrap();
    assert_eq!((&found, &result.warnings[..]), (&expected, &[][..]));
    // Costs in an unknown encoding are removed, with a warning.
    let foreign = EncodingCosts { encoding: "other".into(), ..costs(&all) };
    let pack = encode_with_costs(&all, EncodeOptions::default(), &[foreign, costs(&all)]).unwrap();
    let (found, result) = appended(&pack, &[&added]);
    let index = PackIndex::find(&found).unwrap().unwrap();
    let names: Vec<_> = index.block_index().costs.iter().map(|costs| &costs.encoding).collect();
    assert_eq!(names, ["o200k_base"]);
    assert_eq!(result.warnings.len(), 1, "{:?}", result.warnings);
}

#[test]
fn append_without_a_counter_drops_costs_without_a_warning() {
    let old = turns(&["one"]);
    let pack = encode_with_costs(&old, EncodeOptions::default(), &[costs(&old)]).unwrap();
    let result = append(&pack, &[], &AppendOptions::default()).unwrap();
    assert_eq!(result.warnings, [""; 0]);
    assert_eq!(result.change.apply(&pack), encode(&old, EncodeOptions::default()).unwrap());
}

/// Counts of other revisions give way to those of this one, once for each encoding.
#[test]
fn append_recounts_costs_from_other_revisions() {
    let (old, new) = (turns(&["one", "two words"]), turns(&["three more words"]));
    let older = |revision| EncodingCosts { revision, ..costs(&old) };
    let added = encode(&new, EncodeOptions::default()).unwrap();
    let all = merge(vec![old.clone(), new]);
    let expected = encode_with_costs(&all, EncodeOptions::default(), &[costs(&all)]).unwrap();
    for revisions in [vec![7, 8], vec![7, costs(&old).revision, 8]] {
        let kept: Vec<_> = revisions.into_iter().map(older).collect();
        let pack = encode_with_costs(&old, EncodeOptions::default(), &kept).unwrap();
        assert_eq!(appended(&pack, &[&added]).0, expected);
    }
}

#[test]
fn append_copies_references_unchanged() {
    let mut builder = PackWriter::default();
    let block = Block::document("", "elsewhere", FormatHint::Plain);
    builder.add_reference(&block, &mut MemoryContentStore::default()).unwrap();
    let referring = builder.finish().unwrap();
    let plain = encode(&turns(&["here"]), EncodeOptions::default()).unwrap();
    let frame = &referring[8..referring.len()];
    for (old, new, at) in [(&referring, &plain, 0), (&plain, &referring, 1)] {
        let (found, _) = appended(old, &[new]);
        let walk = PackScan::with_bytes(&found);
        assert!(frame.starts_with(&walk.frames[at].bytes));
        assert_eq!((walk.frames.len(), walk.error.is_none()), (2, true));
    }
}

#[test]
fn append_adds_packs_and_manifests_in_place() {
    let (_folder, path) = scratch();
    let (pack, other, list) = (path("pack.lcp"), path("other.lcp"), path("list.json"));
    fs::write(&pack, encode(&turns(&["one"]), EncodeOptions::default()).unwrap()).unwrap();
    fs::write(&other, encode(&turns(&["two"]), EncodeOptions::default()).unwrap()).unwrap();
    let manifest = json!({ "blocks": [
        { "type": "conversation", "role": "user", "content": "three", "priority": "high" },
    ] });
    fs::write(&list, manifest.to_string()).unwrap();
    let four = encode(&turns(&["four"]), EncodeOptions::default()).unwrap();
    let output = run_with(&["append", &pack, &other, &list, "-"], &four);
    assert!(output.status.success() && output.stdout.is_empty(), "{}", stderr(&output));
    assert_eq!(stderr(&output), "");
    let bytes = fs::read(&pack).unwrap();
    let blocks = decode(&bytes, DecodeOptions::default()).unwrap().blocks;
    let targets: Vec<_> = blocks.iter().map(Block::target_index).collect();
    assert_eq!(targets, [None, None, None, Some(2), None]);
    let output = run(&["validate", "--full", &pack]);
    assert!(printed(&output).contains("5 blocks, no problems\n"), "{}", printed(&output));
    // To itself, and nothing.
    assert!(run(&["append", &pack, &pack]).status.success());
    let nothing = encode(&[], EncodeOptions::default()).unwrap();
    let before = fs::read(&pack).unwrap();
    assert!(run_with(&["append", &pack, "-"], &nothing).status.success());
    assert_eq!(fs::read(&pack).unwrap(), before);
    assert_eq!(decode(&before, DecodeOptions::default()).unwrap().blocks.len(), 10);
    assert!(!journal_path(pack.as_ref()).exists());
}

/// A pack without an index gets one.
#[test]
fn append_adds_a_missing_index() {
    let (_folder, path) = scratch();
    let pack = path("pack.lcp");
    let plain = EncodeOptions { index: false, ..EncodeOptions::default() };
    let (old, new) = (turns(&["one"]), turns(&["two"]));
    fs::write(&pack, encode(&old, plain).unwrap()).unwrap();
    assert!(run_with(&["append", &pack, "-"], &encode(&new, plain).unwrap()).status.success());
    let all = encode(&[old, new].concat(), EncodeOptions::default()).unwrap();
    assert_eq!(fs::read(&pack).unwrap(), all);
}

#[test]
fn failed_append_leaves_the_pack_unchanged() {
    let (_folder, path) = scratch();
    let (pack, added) = (path("pack.lcp"), path("added.lcp"));
    let blocks = turns(&["one"]);
    let whole = encode(&blocks, EncodeOptions::default()).unwrap();
    fs::write(&added, &whole).unwrap();
    let bcp = EncodeOptions { magic: Magic::Bcp, ..EncodeOptions::default() };
    let plain = encode(&blocks, EncodeOptions { index: false, ..EncodeOptions::default() });
    let mut flipped = whole.clone();
    flipped[13] ^= 1;
    for (old, code, said) in [
        (encode(&blocks, bcp).unwrap(), 2, "lcp merge"),
        (encode(&blocks, options(Compression::Payload)).unwrap(), 2, "lcp merge"),
        (flipped, 3, "the pack is damaged: "),
        (whole[..whole.len() - 1].to_vec(), 3, "lcp recover"),
        (whole[..12].to_vec(), 3, "[unexpected_eof]"),
        ([plain.unwrap(), b"more".to_vec()].concat(), 3, "lcp recover"),
        (b"{}".to_vec(), 3, "[bad_magic]"),
    ] {
        fs::write(&pack, &old).unwrap();
        let output = run(&["append", &pack, &added]);
        assert_eq!(output.status.code(), Some(code), "{}", stderr(&output));
        assert!(stderr(&output).contains(said), "{}", stderr(&output));
        assert_eq!(fs::read(&pack).unwrap(), old);
        assert!(!journal_path(pack.as_ref()).exists());
    }
    let none = path("none.lcp");
    for (arguments, code) in [
        (&["append", "-", &added][..], 2),
        (&["append", &added, "-", "-"], 2),
        (&["append", &none, &added], 1),
        (&["append", &added, &none], 1),
        (&["append", &added], 2),
    ] {
        let output = run(arguments);
        assert_eq!(output.status.code(), Some(code), "{}", stderr(&output));
    }
    assert_eq!(fs::read(&added).unwrap(), whole);
}

/// Two at once: the second one waits, and gives up when it is told to.
#[test]
fn append_waits_for_the_lock_on_the_pack() {
    let (_folder, path) = scratch();
    let pack = path("pack.lcp");
    let whole = encode(&turns(&["one"]), EncodeOptions::default()).unwrap();
    fs::write(&pack, &whole).unwrap();
    let held = fs::File::open(&pack).unwrap();
    held.lock().unwrap();
    let output = run_with(&["append", &pack, "-", "--wait", "0"], &whole);
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("another process is using the pack"), "{}", stderr(&output));
    assert_eq!(fs::read(&pack).unwrap(), whole);
    let all = std::thread::scope(|scope| {
        let waiting = scope.spawn(|| run_with(&["append", &pack, "-"], &whole));
        std::thread::sleep(Duration::from_millis(100));
        held.unlock().unwrap();
        assert!(waiting.join().unwrap().status.success());
        // Eight at once lose nothing.
        let each = || scope.spawn(|| run_with(&["append", &pack, "-", "--wait", "60"], &whole));
        let threads: Vec<_> = (0..8).map(|_| each()).collect();
        assert!(threads.into_iter().all(|thread| thread.join().unwrap().status.success()));
        fs::read(&pack).unwrap()
    });
    let ten = encode(&turns(&["one"; 10]), EncodeOptions::default()).unwrap();
    assert_eq!(all, ten);
}

/// Ctrl-C while it waits: nothing was begun.
#[cfg(unix)]
#[test]
fn ctrl_c_during_wait_leaves_the_pack_unchanged() {
    use std::io::Write as _;
    use std::process::{Command, Stdio};

    let (folder, path) = scratch();
    let pack = path("pack.lcp");
    let whole = encode(&turns(&["one"]), EncodeOptions::default()).unwrap();
    let long = Block::document("", vec![b'x'; 1 << 20], FormatHint::Plain);
    let added = encode(&[long], EncodeOptions::default()).unwrap();
    fs::write(&pack, &whole).unwrap();
    let held = fs::File::open(&pack).unwrap();
    held.lock().unwrap();
    let mut command = LCP.command(folder.path(), &["append", "pack.lcp", "-", "--wait", "600"]);
    let mut child = command.stdin(Stdio::piped()).spawn().unwrap();
    // More than a pipe holds: when it is written, the program is there.
    child.stdin.take().unwrap().write_all(&added).unwrap();
    let sent = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(sent.success());
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert_eq!(fs::read(&pack).unwrap(), whole);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}

/// What an append leaves that was killed between two writes.
#[test]
fn interrupted_append_is_rolled_back() {
    let (_folder, path) = scratch();
    let (pack, saved) = (path("pack.lcp"), path("saved.lcp"));
    let journal = journal_path(pack.as_ref());
    let (old, new) = (turns(&["one"]), turns(&["two"]));
    let whole = encode(&old, EncodeOptions::default()).unwrap();
    let added = encode(&new, EncodeOptions::default()).unwrap();
    let (half, result) = appended(&whole, &[&added]);
    let kept = journal_of(&whole, &result.change);
    let interrupted = |written: &[u8], kept: &[u8]| {
        fs::write(&pack, written).unwrap();
        fs::write(&journal, kept).unwrap();
    };
    let torn = &half[..half.len() - 9];
    interrupted(torn, &kept);
    let output = run(&["validate", "--full", &pack]);
    assert!(output.status.success(), "{}", printed(&output));
    assert!(stderr(&output).contains("an append was interrupted"), "{}", stderr(&output));
    // Whoever only reads changes nothing.
    assert!(journal.exists() && fs::read(&pack).unwrap() == torn);
    let output = run_with(&["append", &pack, "-"], &added);
    assert!(output.status.success() && stderr(&output).contains("interrupted"));
    assert_eq!(fs::read(&pack).unwrap(), half);
    assert!(!journal.exists());
    interrupted(torn, &kept);
    let output = run(&["recover", &pack, "-o", &saved]);
    assert!(output.status.success(), "{}", stderr(&output));
    assert_eq!(
        (fs::read(&pack).unwrap(), fs::read(&saved).unwrap()),
        (whole.clone(), whole.clone())
    );
    assert!(!journal.exists());
    // One that is not whole was never acted upon; one of another pack is not touched.
    interrupted(&whole, &kept[..kept.len() - 1]);
    assert_eq!(stderr(&run_with(&["append", &pack, "-"], &added)), "");
    assert!(!journal.exists());
    let other = encode(&turns(&["another"]), EncodeOptions::default()).unwrap();
    interrupted(&other, &kept);
    let output = run_with(&["append", &pack, "-"], &added);
    assert_eq!(output.status.code(), Some(3), "{}", stderr(&output));
    assert!(journal.exists() && fs::read(&pack).unwrap() == other);
    // One of a newer version, or damaged beside a pack that is not whole: nobody removes it.
    let newer = [b"LCPJRNL2", &kept[8..]].concat();
    let damaged = [&kept[..60], b"?", &kept[61..]].concat();
    for (written, kept, code) in [(&whole[..], &newer, 0), (torn, &damaged, 3)] {
        interrupted(written, kept);
        let output = run_with(&["append", &pack, "-"], &added);
        let said = stderr(&output);
        assert_eq!(output.status.code(), Some(3), "{said}");
        assert!(said.contains("cannot read the journal of the pack"), "{said}");
        assert!(said.contains("hint: "), "{said}");
        let output = run(&["recover", &pack, "-o", &saved]);
        let said = stderr(&output);
        assert_eq!(output.status.code(), Some(code), "{said}");
        assert!(said.contains("using the pack unchanged"), "{said}");
        assert_eq!((&fs::read(&pack).unwrap()[..], &fs::read(&journal).unwrap()), (written, kept));
    }
    // A pack that takes its place takes the journal away.
    let output = run_with(&["merge", "-", "-o", &pack, "--no-config"], &whole);
    assert!(output.status.success() && !journal.exists(), "{}", stderr(&output));
    // What only has its name stays.
    fs::write(&journal, "notes").unwrap();
    let output = run_with(&["merge", "-", "-o", &pack, "--no-config"], &whole);
    assert!(output.status.success() && fs::read(&journal).unwrap() == b"notes");
}

/// A journal lies beside the pack itself, whatever name it is called by.
#[cfg(unix)]
#[test]
fn interrupted_append_is_rolled_back_through_a_symlink() {
    let ((_folder, path), (elsewhere, other)) = (scratch(), scratch());
    let (pack, link) = (path("pack.lcp"), other("link.lcp"));
    std::os::unix::fs::symlink(&pack, &link).unwrap();
    let blocks = turns(&["one", "two"]);
    let whole = encode_with_costs(&blocks, EncodeOptions::default(), &[costs(&blocks)]).unwrap();
    let added = encode(&turns(&["three"]), EncodeOptions::default()).unwrap();
    let (new, result) = appended(&whole, &[&added]);
    let kept = journal_of(&whole, &result.change);
    let journal = journal_path(pack.as_ref());
    // All is written but the removal of the journal: by the index alone, it is the new pack.
    fs::write(&pack, &new).unwrap();
    fs::write(&journal, &kept).unwrap();
    let output = run(&["render", &link, "--no-config", "--budget", "1000", "--mode", "minimal"]);
    let text = printed(&output);
    assert!(text.contains("two") && !text.contains("three"), "{text}");
    assert!(stderr(&output).contains("an append was interrupted"), "{}", stderr(&output));
    assert!(run(&["validate", "--full", &link]).status.success());
    let output = run_with(&["append", &link, "-"], &added);
    assert!(output.status.success() && stderr(&output).contains("interrupted"));
    assert_eq!(fs::read(&pack).unwrap(), new);
    assert!(!journal.exists() && fs::symlink_metadata(&link).unwrap().is_symlink());
    assert_eq!(fs::read_dir(elsewhere.path()).unwrap().count(), 1);
}

/// A journal that came between is of another process: it is not removed.
#[test]
fn existing_journal_of_another_process_is_not_replaced() {
    let (_folder, path) = scratch();
    let pack = path("pack.lcp");
    let whole = encode(&turns(&["one"]), EncodeOptions::default()).unwrap();
    let (_, new) = appended(&whole, &[&whole]);
    fs::write(&pack, &whole).unwrap();
    let LockResult::Acquired(mut disk) = PackFile::lock(pack.as_ref(), Duration::ZERO).unwrap()
    else {
        panic!("nobody else has it");
    };
    fs::write(disk.journal_path(), "somebody's").unwrap();
    let error = replace_tail(&mut disk, &new.change).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::AlreadyExists);
    assert_eq!(fs::read(disk.journal_path()).unwrap(), b"somebody's");
    assert_eq!(fs::read(&pack).unwrap(), whole);
}

#[test]
fn recover_writes_intact_blocks_and_reports_lost_ones() {
    let (_folder, path) = scratch();
    let (pack, saved) = (path("pack.lcp"), path("saved.lcp"));
    let whole = encode(&turns(&["one", "two", "three"]), EncodeOptions::default()).unwrap();
    let mut damaged = whole.clone();
    damaged[13] ^= 1;
    fs::write(&pack, &damaged).unwrap();
    let output = run(&["recover", &pack, "-o", &saved, "--json"]);
    assert_eq!(output.status.code(), Some(3), "{}", stderr(&output));
    let found: Value = serde_json::from_str(&printed_of(&output)).unwrap();
    assert_eq!(
        (&found["schema"], &found["whole"], &found["blocks"], &found["missing"]),
        (&json!("lcp.recover.v1"), &json!(false), &json!(2), &json!(1))
    );
    assert_eq!((&found["lost"][0]["block"], &found["lost"][0]["start"]), (&json!(0), &json!(8)));
    let rest = encode(&turns(&["two", "three"]), EncodeOptions::default()).unwrap();
    assert_eq!(fs::read(&saved).unwrap(), rest);
    let output = run_with(&["recover", "-"], &whole[..25]);
    assert_eq!(output.status.code(), Some(3));
    assert!(stderr(&output).contains("an unknown number lost"), "{}", stderr(&output));
    assert_eq!(output.stdout, encode(&turns(&["one"]), EncodeOptions::default()).unwrap());
    let output = run_with(&["recover", "-"], &whole);
    assert_eq!(
        (output.status.code(), &output.stdout, stderr(&output)),
        (Some(0), &whole, String::new())
    );
    let session = sample("session.lcp");
    let output = run(&["recover", &session]);
    assert_eq!((output.status.code(), output.stdout), (Some(0), fs::read(&session).unwrap()));
    for (arguments, code) in [
        (&["recover", &pack, "-o", &pack][..], 2),
        (&["recover", &pack, "--json"], 2),
        (&["recover", "/no/such/pack", "-o", &saved], 1),
        (&["recover", &sample("session.json"), "-o", &saved], 3),
    ] {
        let output = run(arguments);
        assert_eq!(output.status.code(), Some(code), "{}", stderr(&output));
        assert_eq!(fs::read(&saved).unwrap(), rest);
    }
}

/// What a command that failed has printed.
fn printed_of(output: &std::process::Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}
