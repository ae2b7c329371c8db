//! The sample packs equal their manifests, and render to the files next to them.
//!
//! A manifest `samples/NAME.json` makes `samples/NAME.lcp`, which renders to
//! `samples/rendered/NAME.*`. To add one, write the manifest, add a row to [`SAMPLES`], and run
//! `cargo xtask samples --bless`.

use std::path::{Path, PathBuf};

use expect_test::expect_file;
use lcp_app::pack_output::encode_manifest;
use lcp_app::{dedup, files};
use lcp_decoder::DecodeOptions;
use lcp_dedup::{DedupLevel, Options};
use lcp_driver::shares::Shares;
use lcp_driver::{DefaultDriver, DriverConfig, Excerpts, Objective, OutputMode, ValueModel, parse};
use lcp_encoder::{Compression, EncodeOptions, Magic, manifest};
use lcp_testkit::cli_harness::{root, sample};
use lcp_tokens::{Encoding, Tiktoken, TokenEstimator};

use crate::command::LCP;

/// One sample.
struct Sample {
    name: &'static str,
    magic: Magic,
    compression: Compression,
    /// Renderings: mode, and the budget if there is one.
    renders: &'static [(OutputMode, Option<u32>)],
    allocation: Allocation,
}

/// How its blocks are chosen.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Allocation {
    /// By priority.
    Strict,
    /// By the agent preset of shares.
    Shared,
    /// By value per token.
    Value,
    /// By priority, without near duplicates.
    Deduplicated,
}

const fn row(name: &'static str, renders: &'static [(OutputMode, Option<u32>)]) -> Sample {
    Sample {
        name,
        magic: Magic::Lcp,
        compression: Compression::None,
        renders,
        allocation: Allocation::Strict,
    }
}

use OutputMode::{Markdown, Minimal, Xml};

const EVERY_MODE: &[(OutputMode, Option<u32>)] = &[(Xml, None), (Markdown, None), (Minimal, None)];

/// The samples; `samples/README.md` describes them.
const SAMPLES: &[Sample] = &[
    row("every-type", EVERY_MODE),
    row(
        "priorities",
        &[
            (Xml, Some(40)),
            (Xml, Some(100)),
            (Xml, Some(200)),
            (Markdown, Some(100)),
            (Minimal, Some(100)),
            (Xml, Some(600)),
        ],
    ),
    Sample {
        allocation: Allocation::Shared,
        ..row(
            "shares",
            &[
                (Xml, Some(300)),
                (Markdown, Some(600)),
                (Minimal, Some(900)),
                (Minimal, Some(1_800)),
            ],
        )
    },
    Sample {
        allocation: Allocation::Value,
        ..row("pairs", &[(Xml, Some(250)), (Markdown, Some(500)), (Minimal, Some(900))])
    },
    Sample {
        allocation: Allocation::Deduplicated,
        ..row("duplicates", &[(Xml, None), (Markdown, None), (Minimal, Some(400))])
    },
    row("chat", &[(Minimal, Some(60)), (Markdown, None)]),
    row("unicode", EVERY_MODE),
    row("hostile", EVERY_MODE),
    row("annotations", &[(Xml, Some(80)), (Minimal, None)]),
    row("unknown-values", EVERY_MODE),
    row("empty", &[(Xml, Some(100))]),
    Sample { compression: Compression::Block, ..row("compressed-blocks", &[(Minimal, Some(400))]) },
    Sample {
        compression: Compression::Payload,
        ..row("compressed-payload", &[(Minimal, Some(400))])
    },
    Sample { magic: Magic::Bcp, ..row("bcp", &[(Xml, None)]) },
    Sample {
        compression: Compression::Block,
        ..row("session", &[(Xml, Some(8_000)), (Markdown, Some(2_000)), (Minimal, Some(500))])
    },
];

#[test]
fn samples_equal_their_golden_files() {
    let is_blessing = std::env::var_os("UPDATE_EXPECT").is_some();
    let mut different = Vec::new();
    let mut check = |path: PathBuf, bytes: &[u8]| {
        if is_blessing {
            std::fs::write(&path, bytes).unwrap();
        } else if std::fs::read(&path).ok().as_deref() != Some(bytes) {
            different.push(path);
        }
    };
    for row in SAMPLES {
        let options = EncodeOptions {
            magic: row.magic,
            compression: row.compression,
            ..EncodeOptions::default()
        };
        let manifest = PathBuf::from(sample(&format!("{}.json", row.name)));
        let json = std::fs::read(&manifest).unwrap();
        let (pack, _) = encode_manifest(&manifest, &json, options).unwrap();
        check(manifest.with_extension("lcp"), &pack);
        for &(mode, budget) in row.renders {
            let text = render(&manifest, &pack, row.allocation, config(row, mode, budget));
            let budget = budget.map(|budget| format!(".{budget}")).unwrap_or_default();
            let extension = match mode {
                Xml => "xml",
                Markdown => "md",
                Minimal => "txt",
            };
            let name = format!("rendered/{}{budget}.{extension}", row.name);
            check(sample(&name).into(), text.as_bytes());
        }
        check_manifest_round_trip(&manifest, &pack, row);
    }
    assert!(
        different.is_empty(),
        "{different:?} differ from their manifests; `cargo xtask samples --bless` rewrites them"
    );
}

/// The picture of the README shows real output.
#[test]
fn readme_terminal_image_is_current() {
    let render = "render samples/priorities.lcp --budget 100 --mode minimal";
    let report = "report samples/session.lcp --budget 8000 --shares agent --excerpts on";
    let mut screen = String::new();
    for (command, lines) in [(render, usize::MAX), (report, 11)] {
        let output = std::process::Command::new(LCP.0)
            .args(command.split(' '))
            .current_dir(root())
            .output()
            .unwrap();
        assert!(output.status.success());
        let text = String::from_utf8(output.stdout).unwrap();
        screen.extend(["\x1b[32m$\x1b[0m \x1b[1mlcp ", command, "\x1b[0m\n"]);
        text.split_inclusive('\n').take(lines).for_each(|line| screen.push_str(line));
        screen.push('\n');
    }
    let svg = anstyle_svg::Term::new().render_svg(screen.trim_end());
    expect_file!["../../../../docs/images/terminal.svg"].assert_eq(&svg);
}

fn config(sample: &Sample, mode: OutputMode, token_budget: Option<u32>) -> DriverConfig {
    let is_shared = sample.allocation == Allocation::Shared;
    DriverConfig {
        mode,
        token_budget,
        objective: match sample.allocation {
            Allocation::Value => Objective::Value(ValueModel::default()),
            Allocation::Strict | Allocation::Shared | Allocation::Deduplicated => Objective::Strict,
        },
        shares: is_shared.then(Shares::agent),
        // The default of the command.
        excerpts: Excerpts::On,
        ..DriverConfig::default()
    }
}

/// Renders a sample, and checks that `used_tokens` is the count of the text, that the budget is
/// kept and that the text can be parsed.
fn render(path: &Path, pack: &[u8], allocation: Allocation, mut config: DriverConfig) -> String {
    let mut blocks = files::decode(path, pack).unwrap().blocks;
    let budget = config.token_budget;
    let counter = Tiktoken::new(Encoding::O200kBase);
    if allocation == Allocation::Deduplicated {
        let deduped = dedup::apply(blocks, &Options::new(DedupLevel::Near), &counter).unwrap();
        blocks = deduped.blocks;
        config.duplicates = Some(deduped.duplicates);
    }
    let rendered = DefaultDriver::new(counter).run(&blocks, &config).unwrap();
    let used = rendered.plan.used_tokens;
    assert_eq!(used, counter.estimate(&rendered.text), "{}", path.display());
    assert!(budget.is_none_or(|budget| used <= budget), "{}: {used}", path.display());
    let pieces = parse::parse(&rendered.text, config.mode).unwrap();
    let shown = rendered.plan.items.iter().filter(|item| item.decision.is_shown()).count();
    assert_eq!(pieces.len(), shown + usize::from(rendered.plan.rolled_up.is_some()));
    rendered.text
}

/// Checks that the printed manifest of a pack encodes to the same blocks, and to the same bytes
/// where nothing was compressed.
fn check_manifest_round_trip(path: &Path, pack: &[u8], row: &Sample) {
    let blocks = files::decode(path, pack).unwrap().blocks;
    let json = manifest::to_json(&blocks);
    let options = EncodeOptions { magic: row.magic, ..EncodeOptions::default() };
    let manifest =
        manifest::Manifest::parse(json.as_bytes(), &mut |_| unreachable!("no file is named"));
    let encoded = manifest.unwrap().to_pack(options).unwrap();
    assert!(row.compression != Compression::None || encoded == pack, "{}", path.display());
    let decoded = lcp_decoder::decode(&encoded, DecodeOptions::default()).unwrap();
    assert!(decoded.blocks == blocks, "{}", path.display());
}
