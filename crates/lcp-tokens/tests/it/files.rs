//! Tokenizer files, small ones made here: counts by hand, and all that can be
//! wrong with a file. The files that providers publish are compared by
//! the test `differential`.

use std::fmt::Write as _;
use std::path::Path;

use lcp_tokens::{
    FILE_BYTES_MAX, FileTokenizer, TokenEstimator, TokenizerFileError, TokenizerFileFormat,
};

fn load(name: &str, bytes: &[u8]) -> FileTokenizer {
    FileTokenizer::from_bytes(name, bytes).unwrap_or_else(|error| panic!("{name}: {error}"))
}

#[track_caller]
fn counts(counter: &FileTokenizer, wanted: &[(&str, u32)]) {
    for (text, count) in wanted {
        assert_eq!(counter.estimate(text), *count, "{text:?} by {}", counter.name());
    }
}

/// A tokenizer.json that cuts at words and would add, cut off and fill up.
const BPE: &str = r#"{
    "version": "1.0",
    "truncation": {"direction": "Right", "max_length": 2, "strategy": "LongestFirst", "stride": 0},
    "padding": {"strategy": {"Fixed": 64}, "direction": "Right", "pad_to_multiple_of": null,
        "pad_id": 0, "pad_type_id": 0, "pad_token": "<s>"},
    "added_tokens": [
        {"id": 20, "content": "<s>", "single_word": false, "lstrip": false, "rstrip": false,
            "normalized": false, "special": true},
        {"id": 21, "content": "<think>", "single_word": false, "lstrip": false, "rstrip": false,
            "normalized": false, "special": false}],
    "normalizer": {"type": "NFC"},
    "pre_tokenizer": {"type": "Sequence", "pretokenizers": [
        {"type": "Split", "pattern": {"Regex": "\\p{L}+|[^\\s\\p{L}]+|\\s+(?!\\S)|\\s+"},
            "behavior": "Isolated", "invert": false},
        {"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true,
            "use_regex": false}]},
    "post_processor": {"type": "TemplateProcessing",
        "single": [{"SpecialToken": {"id": "<s>", "type_id": 0}},
            {"Sequence": {"id": "A", "type_id": 0}}],
        "pair": [{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 1}}],
        "special_tokens": {"<s>": {"id": "<s>", "ids": [20], "tokens": ["<s>"]}}},
    "decoder": null,
    "model": {"type": "BPE", "dropout": 0.5, "unk_token": null,
        "vocab": {"a": 0, "b": 1, "<": 2, "s": 3, ">": 4, "Ġ": 5, "ab": 6, "ĠĠ": 7, "abab": 8,
            "Ã": 9, "©": 10, "Ċ": 11},
        "merges": ["a b", "Ġ Ġ", "ab ab"]}
}"#;

#[test]
fn hugging_face_file_counts_tokens() {
    let counter = load("tokenizer.json", BPE.as_bytes());
    assert_eq!(counter.format(), TokenizerFileFormat::HuggingFace);
    assert!(counter.is_exact() && !counter.is_additive());
    counts(
        &counter,
        &[
            ("", 0),
            ("a", 1),
            ("ab", 1),
            ("ababab", 2),
            // The white space before a word keeps its last character back.
            ("a   b", 4),
            ("a  ", 2),
            // A special token is text, one that is not special is a token.
            ("<s>", 3),
            ("ab<s>ab", 5),
            ("ab<think>ab", 3),
            ("<|endoftext|>", 2),
            // Composed first: one character of two bytes.
            ("é", 2),
            ("e\u{301}", 2),
            // Nothing is left of it; only the empty text counts 0.
            ("z", 1),
        ],
    );
    assert_eq!(counter.estimate(&"ab".repeat(1000)), 500);
}

#[test]
fn unigram_model_treats_special_tokens_as_text() {
    let file = r#"{"version": "1.0",
        "added_tokens": [{"id": 1, "content": "<s>", "single_word": false, "lstrip": false,
            "rstrip": false, "normalized": false, "special": true}],
        "model": {"type": "Unigram", "unk_id": 0, "vocab": [["<unk>", 0.0], ["<s>", 0.0],
            ["<", -3.0], ["s", -3.0], [">", -3.0], ["a", -2.0], ["aa", -3.0]]}}"#;
    let counter = load("unigram.json", file.as_bytes());
    counts(&counter, &[("<s>", 3), ("aaa", 2), ("a<s>a", 5), ("aaxyzaa", 3)]);
}

/// One field of a protocol-buffer message whose length is below 128.
fn field(number: u8, bytes: &[u8]) -> Vec<u8> {
    let len = u8::try_from(bytes.len()).ok().filter(|len| *len < 128).unwrap();
    [&[number << 3 | 2, len], bytes].concat()
}

fn piece(text: &str, score: f32, kind: u8) -> Vec<u8> {
    let mut message = field(1, text.as_bytes());
    message.push(2 << 3 | 5);
    message.extend_from_slice(&score.to_le_bytes());
    message.extend_from_slice(&[3 << 3, kind]);
    field(1, &message)
}

const UNIGRAM: u8 = 1;
const MERGES: u8 = 2;
const NORMAL: u8 = 1;
const USER: u8 = 4;

/// A `SentencePiece` model of these pieces, besides `<unk>` and `<s>`.
fn model(kind: u8, pieces: &[(&str, f32, u8)], bytes: bool, tidy_spaces: bool) -> Vec<u8> {
    let mut file = [piece("<unk>", 0.0, 2), piece("<s>", 0.0, 3)].concat();
    for (text, score, kind) in pieces {
        file.extend(piece(text, *score, *kind));
    }
    if bytes {
        for byte in 0..=u8::MAX {
            file.extend(piece(&format!("<0x{byte:02X}>"), 0.0, 6));
        }
    }
    // Field 35 has a number of two bytes.
    file.extend(field(2, &[3 << 3, kind, 0x98, 0x02, u8::from(bytes)]));
    file.extend(field(3, &[4 << 3, u8::from(tidy_spaces)]));
    file
}

const PIECES: [(&str, f32, u8); 7] = [
    ("▁", -5.0, NORMAL),
    ("a", -6.0, NORMAL),
    ("b", -7.0, NORMAL),
    ("ab", -1.0, NORMAL),
    ("▁ab", -2.0, NORMAL),
    ("ba", -3.0, NORMAL),
    ("<sep>", 0.0, USER),
];

#[test]
fn sentencepiece_model_merges_by_score() {
    let counter = load("tokenizer.model", &model(MERGES, &PIECES, false, false));
    assert_eq!(counter.format(), TokenizerFileFormat::SentencePiece);
    counts(
        &counter,
        &[
            ("", 0),
            // A space is put before the text.
            ("ab", 1),
            ("ab ab", 2),
            ("bab", 3),
            ("ba", 2),
            (" ", 2),
            // Unknown characters in a row are one piece.
            ("xyz", 2),
            ("<s>", 2),
            ("xaby", 4),
            ("ab<sep>ab", 3),
        ],
    );
    let bytes = load("tokenizer.model", &model(MERGES, &PIECES, true, false));
    counts(&bytes, &[("xyz", 4), ("<s>", 4), ("<0x0A>", 7), ("é", 3), ("ab ab", 2), ("\n", 2)]);
}

#[test]
fn sentencepiece_unigram_takes_the_best_path() {
    let pieces = [
        ("▁", -1.0, NORMAL),
        ("a", -2.0, NORMAL),
        ("b", -2.0, NORMAL),
        ("ab", -3.0, NORMAL),
        ("bab", -9.0, NORMAL),
    ];
    let counter = load("unigram.model", &model(UNIGRAM, &pieces, false, true));
    counts(
        &counter,
        &[
            ("ab", 2),
            // ▁ b ab, not ▁ bab.
            ("bab", 3),
            ("ab ab", 4),
            // Spaces around and in a row go.
            ("  ab   ab  ", 4),
            ("   ", 1),
            ("axxxa", 4),
            ("<s>", 2),
        ],
    );
}

/// What three bytes and fewer are in base64.
fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let padded = bytes.iter().copied().chain([0; 3]).take(3);
    let number = padded.fold(0, |number, byte| number << 8 | usize::from(byte));
    let digit = |place: usize| char::from(DIGITS[number >> (18 - 6 * place) & 63]);
    (0..4).map(|place| if place > bytes.len() { '=' } else { digit(place) }).collect()
}

fn tekken() -> String {
    let mut tokens: Vec<Vec<u8>> = (0..=u8::MAX).map(|byte| vec![byte]).collect();
    // The last is more than the model has.
    tokens.extend([&b"ab"[..], b"bc", b"abc", b"  ", b"zz"].map(<[u8]>::to_vec));
    let mut vocab = String::new();
    for (rank, token) in tokens.iter().enumerate() {
        let comma = if rank == 0 { "" } else { "," };
        let token = base64(token);
        write!(vocab, r#"{comma}{{"rank":{rank},"token_bytes":"{token}","token_str":null}}"#)
            .unwrap();
    }
    format!(
        r#"{{"config":{{"pattern":"\\p{{L}}+|[^\\s\\p{{L}}]+|\\s+(?!\\S)|\\s+","num_vocab_tokens":261,
            "default_vocab_size":270,"default_num_special_tokens":10,"version":"v3"}},
            "vocab":[{vocab}]}}"#
    )
}

#[test]
fn tekken_file_merges_bytes_by_rank() {
    let counter = load("tekken.json", tekken().as_bytes());
    assert_eq!(counter.format(), TokenizerFileFormat::Tekken);
    counts(
        &counter,
        &[
            ("", 0),
            ("abc", 1),
            ("abcbc", 2),
            ("bcab", 2),
            ("a   b", 4),
            ("<s>", 3),
            ("é", 2),
            ("zz", 2),
            ("a\u{0}b", 3),
        ],
    );
}

#[test]
fn tokenizer_name_depends_on_contents_not_path() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tokenizer.model");
    std::fs::write(&path, model(MERGES, &PIECES, false, false)).unwrap();
    let opened = FileTokenizer::open(&path).unwrap();
    let hash = opened.fingerprint();
    assert_eq!(opened.name(), format!("tokenizer.model#{}", hex(&hash[..4])));
    let same = load("/home/me/tokenizer.model", &model(MERGES, &PIECES, false, false));
    assert_eq!((opened.name(), opened.fingerprint()), (same.name(), same.fingerprint()));
    let other = load("tokenizer.model", &model(MERGES, &PIECES, false, true));
    assert_ne!(opened.name(), other.name());
    assert!(format!("{opened:?}").contains("SentencePiece"));

    let error = FileTokenizer::open(&folder.path().join("none.json")).unwrap_err();
    assert!(
        matches!(error, TokenizerFileError::Read { .. }) && error.to_string().contains("none.json")
    );
    let error = FileTokenizer::open(folder.path()).unwrap_err();
    assert!(matches!(error, TokenizerFileError::Read { .. }), "{error}");
    let error = FileTokenizer::open(Path::new("")).unwrap_err();
    assert!(matches!(error, TokenizerFileError::Read { .. }), "{error}");
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |hex, byte| hex + &format!("{byte:02x}"))
}

#[test]
fn oversized_file_is_rejected() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("large.json");
    let file = std::fs::File::create(&path).unwrap();
    // A file of one hole takes no room.
    file.set_len(FILE_BYTES_MAX as u64 + 1).unwrap();
    assert!(matches!(FileTokenizer::open(&path).unwrap_err(), TokenizerFileError::TooLarge));
}

/// A few hundred bytes that would make gigabytes of a line.
#[test]
fn expanding_normalizer_is_rejected() {
    let file = |times: usize| {
        let replace = r#"{"type":"Replace","pattern":{"String":"o"},"content":"oo"}"#;
        let all = vec![replace; times].join(",");
        format!(
            r#"{{"version":"1.0","normalizer":{{"type":"Sequence","normalizers":[{all}]}},
            "model":{{"type":"BPE","vocab":{{"o":0}},"merges":[]}}}}"#
        )
    };
    let counter = FileTokenizer::from_bytes("grow.json", file(6).as_bytes()).unwrap();
    assert_eq!(counter.estimate("o"), 64);
    let error = FileTokenizer::from_bytes("grow.json", file(40).as_bytes()).unwrap_err();
    assert!(matches!(error, TokenizerFileError::Unsupported { part: "normalizer", .. }), "{error}");
}

#[test]
fn foreign_file_formats_are_identified() {
    let vocab = (0..300).map(|id| format!("\"t{id}\":{id}")).collect::<Vec<_>>().join(",");
    let cases: [(&[u8], &str); 16] = [
        (b"", "an empty file"),
        (b" \n", "an empty file"),
        (b"\x1F\x8B\x08\0\0\0\0\0", "a gzip archive"),
        (b"PK\x03\x04\x14\0", "a zip archive"),
        (b"GGUF\x03\0\0\0", "GGUF"),
        (b"\x10\0\0\0\0\0\0\0{\"a\":{}}        ", "safetensors"),
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:0\n", "a Git LFS pointer"),
        (b"<!DOCTYPE html><html>", "a web page"),
        (b"IQ== 0\nIg== 1\n", "a tiktoken rank file"),
        (b"#version: 0.2\na b\n", "merges.txt"),
        (b"{\"tokenizer_class\": \"LlamaTokenizer\"}", "tokenizer_config.json"),
        (b"{\"architectures\": [], \"model_type\": \"llama\"}", "config.json of a model"),
        (b"{\"a\": 1}", "JSON without `model`"),
        (b"[1, 2]", "a JSON list"),
        (b"plain text\n", "text"),
        (b"\x7FELF\x02\x01\x01\0", "binary data"),
    ];
    for (bytes, looks_like) in cases {
        let error = FileTokenizer::from_bytes("file", bytes).unwrap_err();
        assert!(matches!(error, TokenizerFileError::NotATokenizer { .. }), "{looks_like}: {error}");
        assert!(error.to_string().contains(looks_like), "{looks_like}: {error}");
    }
    let error = FileTokenizer::from_bytes("file", format!("{{{vocab}}}").as_bytes()).unwrap_err();
    assert!(error.to_string().contains("vocab.json"), "{error}");
}

#[test]
fn broken_and_unsupported_files_give_clear_errors() {
    let sentencepiece = |pieces: &[(&str, f32, u8)]| model(MERGES, pieces, false, false);
    let cut = |bytes: &[u8]| bytes[..bytes.len() - 3].to_vec();
    let cases: Vec<(Vec<u8>, &str)> = vec![
        (BPE.replace("\"BPE\"", "\"Neural\"").into(), "unsupported model \"Neural\""),
        (BPE.replace("\"NFC\"", "\"NFX\"").into(), "unsupported normalizer \"NFX\""),
        (BPE.replace("\"ByteLevel\"", "\"ByteLevl\"").into(), "pre-tokenizer \"ByteLevl\""),
        (BPE.replace("\"1.0\"", "\"9.9\"").into(), "unsupported version \"9.9\""),
        (BPE.replace("\"unk_token\": null", "\"unk_token\": \"?\"").into(), "unknown token \"?\""),
        (BPE.replace("\"ab ab\"", "\"ab xx\"").into(), "xx"),
        (BPE.replace("\\\\p{L}+|", "(\\\\p{L}+|").into(), "parenthesis"),
        (cut(BPE.as_bytes()), "line"),
        (b"{\"model\": null}".to_vec(), "`model` is null"),
        (b"{\"model\": 7}".to_vec(), "invalid type"),
        (br#"{"model": {"type": "Unigram", "vocab": [["a", 0.0]]}}"#.to_vec(), "unknown"),
        (
            br#"{"normalizer": {"type": "Precompiled", "precompiled_charsmap": "AAAA"},
                "model": {"type": "BPE", "vocab": {"a": 0}, "merges": []}}"#
                .to_vec(),
            "truncated table",
        ),
        (
            br#"{"pre_tokenizer": {"type": "FixedLength", "length": 0},
                "model": {"type": "BPE", "vocab": {"a": 0}, "merges": []}}"#
                .to_vec(),
            "inconsistent contents",
        ),
        (
            br###"{"model": {"type": "WordPiece", "vocab": {"?": 0, "a": 1}, "unk_token": "?",
                "continuing_subword_prefix": "##", "max_input_chars_per_word": 99999}}"###
                .to_vec(),
            "unsupported max_input_chars_per_word \"99999\"",
        ),
        (tekken().replace("\"rank\":7,", "\"rank\":8,").into(), "token 7: rank is out of order"),
        (tekken().replace("\"BQ==\"", "\"B!==\"").into(), "token 5"),
        (tekken().replace("\"BQ==\"", "\"Bg==\"").into(), "token 6: empty or duplicate token"),
        (tekken().replace(":270", ":2700").into(), "2700 - 10 tokens"),
        (tekken().replace(":270", ":100").into(), "missing token for byte 0x5A"),
        (cut(tekken().as_bytes()), "line"),
        (cut(&sentencepiece(&PIECES)), "truncated field or wrong length"),
        (model(4, &PIECES, false, false), "unsupported model \"char\""),
        (sentencepiece(&[("a", f32::NAN, NORMAL)]), "piece 2 has a score"),
        (sentencepiece(&[("a", 0.0, 9)]), "piece 2 has an unknown type"),
        (sentencepiece(&[("a", 0.0, NORMAL), ("a", 0.0, NORMAL)]), "duplicate piece \"a\""),
        (sentencepiece(&[("a", 0.0, 2)]), "exactly one unknown piece"),
        (
            sentencepiece(&[("<0x00>", 0.0, 6), ("a", 0.0, NORMAL)]),
            "byte pieces without byte fallback",
        ),
    ];
    for (bytes, wanted) in cases {
        let error = FileTokenizer::from_bytes("file", &bytes).expect_err(wanted);
        let known = matches!(
            error,
            TokenizerFileError::Unsupported { .. } | TokenizerFileError::Broken { .. }
        );
        assert!(known && error.to_string().contains(wanted), "{wanted}: {error}");
    }
}

/// A damaged file is refused or works; nothing panics and nothing hangs.
#[test]
fn damaged_file_never_panics() {
    let files = [
        ("json", BPE.as_bytes().to_vec()),
        ("tekken", tekken().into_bytes()),
        ("bpe", model(MERGES, &PIECES, false, false)),
        ("bytes", model(MERGES, &PIECES, true, true)),
        ("unigram", model(UNIGRAM, &PIECES, false, true)),
    ];
    let mut worked = 0;
    let mut check = |name: &str, bytes: &[u8]| {
        if let Ok(counter) = FileTokenizer::from_bytes(name, bytes) {
            worked += 1;
            for text in ["ab <s>", "x\u{301}é\0", "   \n"] {
                assert_ne!(counter.estimate(text), 0, "{name}: {text:?}");
            }
        }
    };
    for (name, file) in &files {
        let step = file.len() / 300 + 1;
        for at in (0..file.len()).step_by(step) {
            check(name, &file[..at]);
            for change in [0x01, 0x20, 0x80, 0xFF] {
                let mut bytes = file.clone();
                bytes[at] ^= change;
                check(name, &bytes);
            }
        }
    }
    assert!(worked > 100, "{worked} files worked");
}

/// Runs that engines choke on.
#[test]
fn long_runs_are_counted() {
    let counters = [
        load("tokenizer.json", BPE.as_bytes()),
        load("tekken.json", tekken().as_bytes()),
        load("merges.model", &model(MERGES, &PIECES, true, false)),
        load("unigram.model", &model(UNIGRAM, &PIECES, true, false)),
    ];
    for counter in &counters {
        for run in [" ", "a", "ab", "\n", "é", "\u{301}", " \n", "<s>", "\0"] {
            let text = run.repeat(50_000) + "x";
            assert_ne!(counter.estimate(&text), 0, "{run:?} by {}", counter.name());
        }
    }
    // More white space than a backtracking engine takes: pairs, the last
    // space alone, and the letter.
    let spaces = " ".repeat(1_000_001) + "b";
    assert_eq!(counters[0].estimate(&spaces), 500_002);
    assert_eq!(counters[1].estimate(&spaces), 500_002);
}
