//! The index of packs that commands write: `--no-index`, `--index-costs`, and what `inspect`
//! tells of it (RFC 0003).

use lcp_decoder::{DecodeOptions, PackIndex, decode};
use lcp_driver::IndexCosts;
use lcp_tokens::{Encoding, Tiktoken};
use lcp_types::EncodingCosts;
use serde_json::{Value, json};

use crate::command::{LCP, printed, run, run_with, sample, stderr};

const MANIFEST: &str = r#"{"blocks":[
    {"type":"code","path":"a.rs","content":"fn a() {}\n","summary":"one","priority":"high"},
    {"type":"conversation","role":"user","content":"What does it do?"}]}"#;

/// Packs that each command that writes some makes, with these flags.
#[track_caller]
fn packs(flags: &[&str]) -> Vec<(&'static str, Vec<u8>)> {
    let chat = sample("chat.lcp");
    let messages = br#"[{"role":"user","content":"hi"},{"role":"assistant","content":"yes?"}]"#;
    let commands: [(&str, &[&str], &[u8]); 5] = [
        ("encode", &["-"], MANIFEST.as_bytes()),
        ("import", &["-"], messages),
        ("pack", &["-", "--stdin-name", "a.txt"], b"some text\n"),
        ("dedup", &[&chat], b""),
        ("merge", &[&chat, &chat], b""),
    ];
    let pack = |(command, arguments, input): (&'static str, &[&str], &[u8])| {
        let output = run_with(&[&[command, "--no-config"], arguments, flags].concat(), input);
        assert!(output.status.success(), "{command}: {}", stderr(&output));
        (command, output.stdout)
    };
    commands.into_iter().map(pack).collect()
}

/// What its index says that blocks cost; `None` if it has none.
#[track_caller]
fn costs(pack: &[u8]) -> Option<Vec<EncodingCosts>> {
    Some(PackIndex::find(pack)?.expect("one that is accepted").block_index().costs.clone())
}

/// What they cost.
fn counted(pack: &[u8], encoding: Encoding) -> EncodingCosts {
    let blocks = decode(pack, DecodeOptions::default()).expect("a pack").blocks;
    IndexCosts::new(&Tiktoken::new(encoding)).count(&blocks).expect("counts that add up")
}

#[track_caller]
fn refused(arguments: &[&str], says: &[&str]) {
    let output = run_with(arguments, MANIFEST.as_bytes());
    let said = stderr(&output);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(says.iter().all(|says| said.contains(says)), "{said}");
    assert!(output.stdout.is_empty());
}

fn inspected(pack: &[u8]) -> (Value, String) {
    let output = run_with(&["inspect", "-", "--no-tokens", "--json"], pack);
    let said = stderr(&output);
    (serde_json::from_str(&printed(&output)).expect("JSON"), said)
}

#[test]
fn commands_write_an_index_unless_flags_exclude_it() {
    for (command, pack) in packs(&[]) {
        assert_eq!(costs(&pack), Some(Vec::new()), "{command}");
        let blocks = decode(&pack, DecodeOptions::default()).unwrap();
        assert_eq!(blocks.warnings, [], "{command}");
    }
    for flags in [&["--no-index"][..], &["--magic", "bcp"], &["--compress", "payload"]] {
        for (command, pack) in packs(flags) {
            assert_eq!(costs(&pack), None, "{command} {flags:?}");
        }
    }
    for (command, pack) in packs(&["--compress", "block"]) {
        assert_eq!(costs(&pack), Some(Vec::new()), "{command}");
    }
}

#[test]
fn index_costs_equal_the_counts_of_the_blocks() {
    for (command, pack) in packs(&["--index-costs"]) {
        assert_eq!(costs(&pack), Some(vec![counted(&pack, Encoding::O200kBase)]), "{command}");
    }
    for (command, pack) in packs(&["--index-costs=cl100k_base,o200k_base,cl100k_base"]) {
        let both = [Encoding::Cl100kBase, Encoding::O200kBase];
        let both = both.map(|encoding| counted(&pack, encoding)).to_vec();
        assert_eq!(costs(&pack), Some(both), "{command}");
    }
    for flag in ["--encoding=cl100k_base", "--model=gpt-4"] {
        for (command, pack) in packs(&["--index-costs", flag]) {
            let wanted = counted(&pack, Encoding::Cl100kBase);
            assert_eq!(costs(&pack), Some(vec![wanted]), "{command} {flag}");
        }
    }
}

#[test]
fn index_costs_use_the_configured_encoding() {
    let project = LCP.project("[context.tokenizer]\nmodel = \"gpt-4\"\n");
    std::fs::write(project.path("a.json"), MANIFEST).unwrap();
    for flags in [&["--index-costs"][..], &["--index-costs", "--count-cache", "counts"]] {
        // The second time they are known.
        for _ in 0..2 {
            project.stdout_of(&[&["encode", "a.json", "-o", "a.lcp"], flags].concat());
            let pack = std::fs::read(project.path("a.lcp")).unwrap();
            assert_eq!(costs(&pack), Some(vec![counted(&pack, Encoding::Cl100kBase)]));
        }
    }
    assert!(project.path("counts").exists());
    project.write("[context.tokenizer]\ntype = \"p50k_base\"\n");
    project.assert_usage_error(
        &["pack", "a.json", "--index-costs"],
        "p50k_base: its counts of parts do not add up (lcp.toml, li",
    );
    // Nobody counts, so what would count does not matter.
    project.stdout_of(&["encode", "a.json", "-o", "a.lcp"]);
}

#[test]
fn tokenizer_flags_without_index_costs_warn() {
    let flags =
        ["--encoding=cl100k_base", "--model=gpt-4", "--config=/no/such", "--count-cache=/no"];
    for command in ["encode", "import"] {
        for flag in flags {
            let input = if command == "encode" { MANIFEST } else { "# A text\n" };
            let output = run_with(&[command, "-", flag], input.as_bytes());
            let (name, _) = flag.split_once('=').unwrap();
            let said = stderr(&output);
            if (command, name) == ("import", "--config") {
                // `import` reads the names of search tools.
                assert!(!output.status.success() && said.contains("/no/such"), "{said}");
                continue;
            }
            let wanted = format!("{name} has no effect without --index-costs");
            assert!(output.status.success() && said.contains(&wanted), "{command}: {said}");
        }
    }
    // There it counts for deduplication, too.
    let output = run(&["dedup", &sample("chat.lcp"), "--no-config", "--encoding=cl100k_base"]);
    assert_eq!(stderr(&output), "");
}

#[test]
fn unsupported_index_costs_are_rejected() {
    for encoding in ["p50k_base", "r50k_base", "heuristic", "claude"] {
        refused(
            &["encode", "-", "--no-config", &format!("--index-costs={encoding}")],
            &[
                &format!("error: --index-costs does not support {encoding}: "),
                "hint: pass --index-costs=o200k_base, ",
            ],
        );
    }
    refused(&["encode", "-", "--index-costs=o200k"], &["expected o200k_base, "]);
    for flags in [&["--no-index"][..], &["--magic", "bcp"], &["--compress", "payload"]] {
        refused(
            &[&["encode", "-", "--no-config", "--index-costs"], flags].concat(),
            &["error: --index-costs needs an index", "hint: leave out --no-index"],
        );
    }
}

/// What a pack says of itself is the same with counts and without.
#[test]
fn index_costs_do_not_change_blocks() {
    let plain = packs(&["--no-index"]);
    for ((command, plain), (_, with)) in plain.iter().zip(packs(&["--index-costs"])) {
        let blocks = |pack: &[u8]| {
            let pack = decode(pack, DecodeOptions::default()).unwrap();
            pack.blocks.into_iter().map(lcp_types::Block::into_owned).collect::<Vec<_>>()
        };
        assert_eq!(blocks(plain), blocks(&with), "{command}");
        assert_eq!(plain[8..], with[8..plain.len()], "{command}");
    }
}

#[test]
fn inspect_reports_the_index() {
    let output = run_with(&["encode", "-", "--no-config", "--index-costs"], MANIFEST.as_bytes());
    let mut pack = output.stdout;
    let (seen, said) = inspected(&pack);
    let bytes = pack.len() as u64 - seen["unpacked_bytes"].as_u64().unwrap();
    let costs = json!([{ "encoding": "o200k_base", "revision": lcp_driver::RENDERER_REVISION }]);
    let wanted = json!({ "accepted": true, "bytes": bytes, "costs": costs, "problem": null });
    assert_eq!((&seen["trailer"], &seen["warnings"], said.as_str()), (&wanted, &json!([]), ""));
    let table = printed(&run_with(&["inspect", "-", "--no-tokens"], &pack));
    let last = format!("\nindex of {bytes} bytes, accepted, token costs for o200k_base\n");
    assert!(table.ends_with(&last), "{table}");

    // The last byte of INDEX.
    let at = pack.len() - 57;
    pack[at] ^= 1;
    let (seen, said) = inspected(&pack);
    let problem =
        json!({ "message": "index checksum does not match", "offset": at as u64 + 57 - bytes });
    let wanted = json!({ "accepted": false, "bytes": bytes, "costs": [], "problem": problem });
    assert_eq!((&seen["trailer"], &seen["errors"]), (&wanted, &json!([])));
    assert_eq!(seen["warnings"][0]["code"], "bad_index");
    assert!(said.contains("[bad_index]"), "{said}");
    assert_eq!(seen["blocks"].as_array().unwrap().len(), 3);

    let pack = run_with(&["encode", "-", "--no-index"], MANIFEST.as_bytes()).stdout;
    assert_eq!(inspected(&pack).0["trailer"], Value::Null);
    let table = printed(&run_with(&["inspect", "-", "--no-tokens"], &pack));
    assert!(table.ends_with("\nno index\n"), "{table}");
}

/// A pack of no blocks has an index as well.
#[test]
fn empty_pack_has_an_accepted_index() {
    let output = run(&["inspect", &sample("empty.lcp"), "--json", "--no-tokens"]);
    let seen: Value = serde_json::from_str(&printed(&output)).unwrap();
    assert_eq!((&seen["trailer"]["accepted"], &seen["blocks"]), (&json!(true), &json!([])));
}

/// The blocks of a large pack without an index are counted while they are read.
#[test]
fn large_pack_renders_the_same_by_scan_by_index_and_in_full() {
    let folder = LCP.project("");
    let blocks: Vec<Value> = (0..3_000)
        .map(|at| {
            let turn = format!("{at} {}", "turn of a long conversation; ".repeat(at % 240));
            let (priority, summary) = (["high", "low", "normal"][at % 3], format!("turn {at}"));
            let mut block = json!({"type": "conversation", "role": "user", "content": turn});
            if at % 4 == 0 {
                block["priority"] = priority.into();
                block["summary"] = summary.into();
            }
            block
        })
        .collect();
    std::fs::write(folder.path("a.json"), json!({ "blocks": blocks }).to_string()).unwrap();
    folder.stdout_of(&["encode", "a.json", "-o", "with.lcp", "--index-costs"]);
    folder.stdout_of(&["encode", "a.json", "-o", "without.lcp", "--no-index"]);
    let size = std::fs::metadata(folder.path("without.lcp")).unwrap().len();
    assert!(size > 8 << 20, "{size} bytes");
    for mode in ["xml", "markdown", "minimal"] {
        let render = |pack| folder.stdout_of(&["render", pack, "--budget", "9000", "--mode", mode]);
        // Standard input is read in full.
        let bytes = std::fs::read(folder.path("without.lcp")).unwrap();
        let options = ["render", "-", "--budget", "9000", "--mode", mode, "--no-config"];
        let full = printed(&run_with(&options, &bytes));
        assert_eq!(render("without.lcp"), full, "{mode}");
        assert_eq!(render("with.lcp"), full, "{mode}");
    }
    let note = folder.run(&["render", "without.lcp", "--budget", "9000", "-v"]);
    let count = lcp_driver::group_thousands(3_000 + 750);
    assert!(
        stderr(&note).contains(&format!("{count} blocks, counted while read")),
        "{}",
        stderr(&note)
    );
}

#[test]
fn damage_in_a_large_pack_without_an_index_is_reported_with_its_offset() {
    let folder = LCP.project("");
    let text = "x".repeat(9 << 20);
    let blocks = json!({"blocks": [{"type": "document", "title": "a", "content": text}]});
    std::fs::write(folder.path("a.json"), blocks.to_string()).unwrap();
    folder.stdout_of(&["encode", "a.json", "-o", "a.lcp", "--no-index"]);
    let mut pack = std::fs::read(folder.path("a.lcp")).unwrap();
    pack.truncate(pack.len() - 2);
    std::fs::write(folder.path("a.lcp"), &pack).unwrap();
    let output = folder.run(&["render", "a.lcp", "--budget", "9000"]);
    assert_eq!(output.status.code(), Some(3), "{}", stderr(&output));
    assert!(stderr(&output).contains(&format!("byte {}", pack.len())), "{}", stderr(&output));
}
