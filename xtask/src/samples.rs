//! `samples`: the sample packs are what their manifests say, and render to
//! what stands beside them.

use std::path::{Path, PathBuf};

use lcp_decoder::DecodeOptions;
use lcp_dedup::{Level, Options};
use lcp_driver::shares::Shares;
use lcp_driver::{DefaultDriver, DriverConfig, Excerpts, Objective, OutputMode, ValueModel, parse};
use lcp_encoder::{Compression, EncodeOptions, Magic, manifest};
use lcp_tokens::{Encoding, Tiktoken, TokenEstimator};

use lcp_cli::commands::encode;
use lcp_cli::failure::{Code, Failure, Output};
use lcp_cli::{Result, duplicates, files};

/// Check the sample packs against their manifests and renderings
#[derive(Debug, clap::Args)]
#[command(after_help = "A manifest samples/NAME.json makes samples/NAME.lcp, which renders to
samples/rendered/NAME.*. To add one, write the manifest, add a row to the table
in xtask/src/samples.rs, and run `cargo xtask samples --bless`.")]
pub(crate) struct Args {
    /// Rewrite packs and renderings instead of comparing them
    #[arg(long)]
    bless: bool,
}

/// One sample.
struct Sample {
    name: &'static str,
    magic: Magic,
    compression: Compression,
    /// Renderings: mode, and the budget if there is one.
    renders: &'static [(OutputMode, Option<u32>)],
    way: Way,
}

/// How its blocks are chosen.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    /// Tier by tier.
    Strict,
    /// In the shares of an agent, and blocks may be shown in part.
    Shared,
    /// By value.
    Value,
    /// Without what stands twice, or nearly.
    Once,
}

const fn sample(name: &'static str, renders: &'static [(OutputMode, Option<u32>)]) -> Sample {
    Sample { name, magic: Magic::Lcp, compression: Compression::None, renders, way: Way::Strict }
}

use OutputMode::{Markdown, Minimal, Xml};

const EVERY_MODE: &[(OutputMode, Option<u32>)] = &[(Xml, None), (Markdown, None), (Minimal, None)];

/// What each shows is told in `samples/README.md`.
const SAMPLES: &[Sample] = &[
    sample("every-type", EVERY_MODE),
    sample(
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
        way: Way::Shared,
        ..sample(
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
        way: Way::Value,
        ..sample("pairs", &[(Xml, Some(250)), (Markdown, Some(500)), (Minimal, Some(900))])
    },
    Sample {
        way: Way::Once,
        ..sample("duplicates", &[(Xml, None), (Markdown, None), (Minimal, Some(400))])
    },
    sample("chat", &[(Minimal, Some(60)), (Markdown, None)]),
    sample("unicode", EVERY_MODE),
    sample("hostile", EVERY_MODE),
    sample("annotations", &[(Xml, Some(80)), (Minimal, None)]),
    sample("unknown-values", EVERY_MODE),
    sample("empty", &[(Xml, Some(100))]),
    Sample {
        compression: Compression::Block,
        ..sample("compressed-blocks", &[(Minimal, Some(400))])
    },
    Sample {
        compression: Compression::Payload,
        ..sample("compressed-payload", &[(Minimal, Some(400))])
    },
    Sample { magic: Magic::Bcp, ..sample("bcp", &[(Xml, None)]) },
    Sample {
        compression: Compression::Block,
        ..sample("session", &[(Xml, Some(8_000)), (Markdown, Some(2_000)), (Minimal, Some(500))])
    },
];

pub(crate) fn run(args: &Args, output: &Output) -> Result {
    let folder = crate::workspace().join("samples");
    let mut wrong = Vec::new();
    let mut check = |path: PathBuf, bytes: &[u8]| -> Result {
        if args.bless {
            std::fs::create_dir_all(path.parent().unwrap_or(&path))
                .map_err(|error| Failure::io("create the folder of", path.display(), &error))?;
            return files::write(Some(&path), bytes);
        }
        if std::fs::read(&path).ok().as_deref() != Some(bytes) {
            wrong
                .push(path.strip_prefix(crate::workspace()).unwrap_or(&path).display().to_string());
        }
        Ok(())
    };
    for sample in SAMPLES {
        let options = EncodeOptions {
            magic: sample.magic,
            compression: sample.compression,
            ..EncodeOptions::default()
        };
        let manifest = folder.join(sample.name).with_extension("json");
        let pack = encode::encode(&manifest, options)?;
        check(folder.join(sample.name).with_extension("lcp"), &pack)?;
        for &(mode, budget) in sample.renders {
            let config = config(sample, mode, budget);
            let text = render(&manifest, &pack, sample.way, config)?;
            let budget = budget.map(|budget| format!(".{budget}")).unwrap_or_default();
            let extension = match mode {
                Xml => "xml",
                Markdown => "md",
                Minimal => "txt",
            };
            let name = format!("{}{budget}.{extension}", sample.name);
            check(folder.join("rendered").join(name), text.as_bytes())?;
        }
        again(&manifest, &pack, sample)?;
    }
    if !wrong.is_empty() {
        let message = format!("not what the manifests make: {}", wrong.join(", "));
        return Err(Failure::new(Code::Malformed, message)
            .hint("cargo xtask samples --bless rewrites them"));
    }
    let done = if args.bless { "written" } else { "as their manifests say" };
    output.progress(format!("{} samples, {done}", SAMPLES.len()));
    Ok(())
}

fn config(sample: &Sample, mode: OutputMode, token_budget: Option<u32>) -> DriverConfig {
    let is_shared = sample.way == Way::Shared;
    DriverConfig {
        mode,
        token_budget,
        objective: match sample.way {
            Way::Value => Objective::Value(ValueModel::default()),
            Way::Strict | Way::Shared | Way::Once => Objective::Strict,
        },
        shares: is_shared.then(Shares::agent),
        excerpts: if is_shared { Excerpts::On } else { Excerpts::Off },
        ..DriverConfig::default()
    }
}

/// Renders a sample, and checks the promises on the way: the count is that of
/// the text, the budget is kept, the text splits back.
fn render(path: &Path, pack: &[u8], way: Way, mut config: DriverConfig) -> Result<String> {
    let mut blocks = files::decode(path, pack)?.blocks;
    let budget = config.token_budget;
    let counter = Tiktoken::new(Encoding::O200kBase);
    if way == Way::Once {
        let deduped = duplicates::apply(blocks, &Options::new(Level::Near), &counter)?;
        blocks = deduped.blocks;
        config.duplicates = Some(deduped.duplicates);
    }
    let broken =
        |what: String| Failure::new(Code::Malformed, format!("{}: {what}", path.display()));
    let rendered = DefaultDriver::new(counter)
        .run(&blocks, &config)
        .map_err(|error| broken(error.to_string()))?;
    let (used, found) = (rendered.plan.used_tokens, counter.estimate(&rendered.text));
    if used != found || budget.is_some_and(|budget| used > budget) {
        return Err(broken(format!("{used} tokens planned, {found} counted, budget {budget:?}")));
    }
    let pieces =
        parse::parse(&rendered.text, config.mode).map_err(|error| broken(error.to_string()))?;
    let shown = rendered.plan.items.iter().filter(|item| item.decision.is_shown()).count();
    if pieces.len() != shown + usize::from(rendered.plan.rolled_up.is_some()) {
        return Err(broken(format!("{shown} blocks are shown, {} came back", pieces.len())));
    }
    Ok(rendered.text)
}

/// Decodes a sample, prints its manifest and encodes that: the same blocks,
/// and the same bytes where nothing was compressed.
fn again(path: &Path, pack: &[u8], sample: &Sample) -> Result {
    let blocks = files::decode(path, pack)?.blocks;
    let json = manifest::to_json(&blocks);
    let broken =
        |what: String| Failure::new(Code::Malformed, format!("{}: {what}", path.display()));
    let options = EncodeOptions { magic: sample.magic, ..EncodeOptions::default() };
    let encoded =
        manifest::Manifest::parse(json.as_bytes(), &mut |_| unreachable!("no file is named"))
            .and_then(|manifest| manifest.encode(options))
            .map_err(|error| broken(error.to_string()))?;
    let same_bytes = sample.compression != Compression::None || encoded == pack;
    let same_blocks = lcp_decoder::decode(&encoded, DecodeOptions::default())
        .map_err(|error| broken(error.to_string()))?
        .blocks
        == blocks;
    if same_bytes && same_blocks {
        return Ok(());
    }
    Err(broken("its printed manifest makes another pack".into()))
}
