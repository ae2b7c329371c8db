//! Every limit that an input can exceed ends a command with 5, and the message has its name and
//! its value (RFC 0008 §5). 2²⁴ blocks, 2²² hunks of a manifest and a quarter of a gigabyte to
//! encode are left to the tests of decoder and encoder, records of sessions to those of lcp-continuity.

use lcp_testkit::wire::{
    bytes_field as bytes, frame, header, message_field as nested, pack, varint,
    varint_field as number,
};
use lcp_testkit::{SplitMix64, hostile};
use lcp_types::limits;

use crate::command::{LCP, run_with, stderr};

/// Every one of these commands fails with 5, and names the limit with its value: `NAME is VALUE`.
#[track_caller]
fn exceeds(commands: &[&[&str]], input: &[u8], limit: &str) {
    for message in refusals(commands, input) {
        let is_named = match limit.split_once(" is ") {
            Some((name, value)) => {
                let values = [format!("maximum {value}"), format!("({value})")];
                message.contains(&format!("exceeds {name}"))
                    && values.iter().any(|value| message.contains(value))
            }
            None => message.contains(limit),
        };
        assert!(is_named, "not {limit:?}: {message}");
    }
}

/// What each of these commands says, which fails with 5.
#[track_caller]
fn refusals(commands: &[&[&str]], input: &[u8]) -> Vec<String> {
    let mut all = Vec::new();
    for command in commands {
        let output = run_with(command, input);
        // `validate` tells what is wrong on standard output.
        let said = [String::from_utf8_lossy(&output.stdout).as_ref(), &stderr(&output)].concat();
        assert_eq!(output.status.code(), Some(5), "{command:?}: {said}");
        all.push(said);
    }
    all
}

/// What reads a whole pack.
const READ: &[&[&str]] = &[&["render", "-"], &["decode", "-"], &["validate", "-"], &["stats", "-"]];

const COMPRESSED: u8 = 0b010;

fn hostile_case(name: &str) -> Vec<u8> {
    let mut cases = hostile::cases_of(200_000).into_iter();
    cases.find(|(known, _)| *known == name).expect("a case of this name").1
}

#[test]
fn body_size_limits_exit_with_5() {
    let long = [&pack(&[])[..8], &[0x42, 0], &varint((256 << 20) + 1)].concat();
    exceeds(READ, &long, "BODY_BYTES_MAX is 268435456");
    let bomb = pack(&[frame(0x42, COMPRESSED, hostile::zeros(&[], (16 << 20) + 1))]);
    exceeds(READ, &bomb, "BODY_DECOMPRESSED_BYTES_MAX is 16777216");
}

#[test]
fn total_decompressed_size_limits_exit_with_5() {
    let some = frame(0x42, COMPRESSED, hostile::zeros(&[], 16 << 20));
    let bombs = pack(&[some.repeat(17)]);
    exceeds(&READ[..1], &bombs, "TOTAL_DECOMPRESSED_BYTES_MAX is 268435456");
    let head = [&[0x42, 0][..], &varint(256 << 20)].concat();
    let payload = [&header(1)[..], &hostile::zeros(&head, 1 << 29)].concat();
    exceeds(&READ[..1], &payload, "PAYLOAD_DECOMPRESSED_BYTES_MAX is 268435456");
}

#[test]
fn field_count_and_block_memory_limits_exit_with_5() {
    let turn = [number(1, 2), bytes(2, "")].concat();
    let fields = frame(2, 0, [turn, number(1, 2).repeat(1 << 22)].concat());
    exceeds(&READ[..2], &pack(&[fields]), "FIELDS_MAX is 4194304");
    for name in [
        "empty blocks behind zstd", "a tree of empty entries behind zstd",
        "unknown fields behind zstd",
    ] {
        // The constant, and what the bytes up to there have earned.
        let input = hostile_case(name);
        let least = limits::BLOCK_MEMORY_BYTES_MAX;
        let most = limits::block_memory(least, limits::BLOCK_MEMORY_PER_BYTE, input.len() as u64);
        for said in refusals(READ, &input) {
            let value = said.split_once("exceeds BLOCK_MEMORY_BYTES_MAX: ").unwrap().1;
            let value = value.split_once("maximum ").unwrap().1;
            let digits: String = value.chars().take_while(char::is_ascii_digit).collect();
            let value: u64 = digits.parse().unwrap();
            assert!((least + 1..=most).contains(&value), "{value} of {least} to {most}");
        }
    }
}

#[test]
fn text_size_and_tree_depth_limits_exit_with_5() {
    exceeds(READ, &hostile_case("a tree that is too deep"), "DEPTH_MAX is 64");
    let long = "a".repeat((1 << 20) + 1);
    let path = frame(7, 0, bytes(1, &long));
    exceeds(READ, &pack(&[path]), "TEXT_BYTES_MAX is 1048576");
    let summary = [varint(long.len() as u64), long.into_bytes()].concat();
    exceeds(READ, &pack(&[frame(2, 1, summary)]), "SUMMARY_BYTES_MAX is 1048576");
    // Inside of a body that is compressed, too.
    let entry = nested(2, &[bytes(1, vec![b'a'; (1 << 20) + 1])]);
    let tree = hostile::zstd(&[bytes(1, "/"), entry].concat());
    exceeds(READ, &pack(&[frame(3, COMPRESSED, tree)]), "TEXT_BYTES_MAX is 1048576");
}

#[test]
fn manifest_limits_exit_with_5() {
    let encode: &[&[&str]] = &[&["encode", "-"]];
    let block = |more: &str| {
        format!(r#"{{"blocks":[{{"type":"diff","path":"","hunks":[]{more}}}]}}"#).into_bytes()
    };
    let long = "a".repeat((1 << 20) + 1);
    let deep = "[".repeat(201);
    exceeds(encode, deep.as_bytes(), "MANIFEST_DEPTH_MAX is 200");
    exceeds(encode, &block(&format!(r#","summary":"{long}""#)), "SUMMARY_BYTES_MAX is 1048576");
    let text = format!(r#"{{"blocks":[{{"type":"document","title":"{long}","content":""}}]}}"#);
    exceeds(encode, text.as_bytes(), "TEXT_BYTES_MAX is 1048576");
    let (mut entry, last) = (String::new(), r#""kind":"directory","size":0"#);
    for _ in 0..65 {
        entry = format!(r#"{{"name":"d",{last},"children":[{entry}]}}"#);
    }
    let tree = format!(r#"{{"blocks":[{{"type":"file_tree","root":"/","entries":[{entry}]}}]}}"#);
    exceeds(encode, tree.as_bytes(), "DEPTH_MAX is 64");
}

#[test]
fn transcript_depth_limit_exits_with_5() {
    let import: &[&[&str]] = &[&["import", "-", "--from", "openai-chat"]];
    let deep = format!("{}{}", "[".repeat(121), "]".repeat(121));
    exceeds(import, deep.as_bytes(), "nested deeper than 120 levels (TRANSCRIPT_DEPTH_MAX)");
}

#[test]
fn conversation_id_length_limit_exits_with_5() {
    let id = "c".repeat(257);
    let project = LCP.project("");
    let store = project.path("store.db").display().to_string();
    let track: &[&str] = &["track", &id, "--usage", "1", "--store", &store];
    exceeds(&[track], b"", "CONTINUITY_ID_BYTES_MAX is 256");
}

#[test]
fn parsed_tree_depth_limit_exits_with_5() {
    let lines = (0..65).map(|level| format!("{}d/\n", "  ".repeat(level)));
    let text = format!("[file-tree /]\n{}", lines.collect::<String>());
    exceeds(&[&["parse", "-", "--mode", "minimal"]], text.as_bytes(), "DEPTH_MAX is 64");
}

/// Noise is no bomb: what compresses badly may be long.
#[test]
fn incompressible_pack_is_within_the_limits() {
    let mut rng = SplitMix64::new(1);
    let blocks = (0..2000).map(|_| frame(0x42, 0, rng.bytes(100))).collect::<Vec<_>>();
    let output = run_with(&["validate", "-"], &pack(&blocks));
    assert!(output.status.success(), "{}", stderr(&output));
}
