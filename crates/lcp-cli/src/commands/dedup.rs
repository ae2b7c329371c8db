//! `dedup`: a pack in, the same without what stands twice out.

use std::path::PathBuf;

use lcp_types::{DuplicateKind, Replacement, Replacements};
use serde_json::{Value, json};

use crate::Result;
use crate::dedup_args::DedupArgs;
use crate::files::{self, PACK};
use crate::output::Output;
use crate::output_args::{PackOutputArgs, refuse_terminal};
use crate::tokenizer_args::TokenizerArgs;

/// Write a pack without what stands twice in it
///
/// Annotations follow their blocks. What was removed, what covers it and the tokens
/// saved go to standard error with -v, or as JSON to a file.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  lcp dedup samples/duplicates.lcp -o /tmp/once.lcp
  lcp dedup samples/duplicates.lcp --dedup near --report - -o /tmp/once.lcp
  cat pack.lcp | lcp dedup - | lcp render - --budget 8000")]
pub struct Args {
    /// The pack; `-` for standard input
    pack: PathBuf,
    #[command(flatten)]
    dedup: DedupArgs,
    #[command(flatten)]
    counting: TokenizerArgs,
    #[command(flatten)]
    form: PackOutputArgs,
    /// Write what was done as JSON there; `-` for standard error
    #[arg(long, value_name = "PATH")]
    report: Option<PathBuf>,
    /// Write the pack there; standard output by default
    #[arg(short, long, value_name = "PACK")]
    output: Option<PathBuf>,
}

/// Writes the pack without what stands twice.
pub fn run(args: &Args, output: &Output) -> Result {
    refuse_terminal(args.output.as_deref())?;
    let outputs = [("--report", &args.report), ("-o", &args.output)];
    let outputs = outputs.into_iter().filter_map(|(flag, path)| Some((flag, path.as_deref()?)));
    files::check_distinct_paths(&[(PACK, &args.pack)], &outputs.collect::<Vec<_>>(), |_, _| false)?;
    let config = args.counting.config()?;
    let (tokenizer, dedup) = (args.counting.options(), args.dedup.options());
    let writer = args.form.encoder(&tokenizer, &config)?;
    let bytes = files::read(&args.pack, output)?;
    let pack = files::decode(&args.pack, &bytes)?;
    let (model, unknown) = tokenizer.model(&config, true)?;
    for warning in unknown.iter().chain(&dedup.ineffective(&config.dedup)) {
        output.warn(warning);
    }
    let counter = tokenizer.counter(&config, model.as_ref(), false, output)?;
    let (blocks, covered) = match dedup.options_or_default(&config.dedup) {
        Some(options) => {
            let deduped = lcp_app::dedup::pack(&pack.blocks, &options, &counter.estimator)?;
            for warning in &deduped.warnings {
                output.warn(warning);
            }
            (deduped.blocks, deduped.duplicates)
        }
        None => (pack.blocks.clone(), Replacements::default()),
    };
    counter.save_cache(output);
    let written = writer.encode(&blocks, "the deduplicated pack", output)?;
    for (index, covered) in &covered.covered {
        output.note(line(*index, covered));
    }
    output.note(sums(&covered, pack.blocks.len(), blocks.len()));
    if let Some(path) = &args.report {
        let report = report(&covered, pack.blocks.len(), blocks.len());
        files::write_report(path, &report, output)?;
    }
    files::write(args.output.as_deref(), &written)
}

fn line(index: usize, covered: &Replacement) -> String {
    let Replacement { by, relation, tokens_saved, .. } = covered;
    format!("block {index} ({relation}) is covered by block {by}: {tokens_saved} tokens saved")
}

fn sums(duplicates: &Replacements, before: usize, after: usize) -> String {
    let saved = duplicates.tokens_saved();
    format!("{before} blocks became {after}, annotations counted: {saved} tokens saved")
}

/// What was done, for programs.
fn report(duplicates: &Replacements, before: usize, after: usize) -> Value {
    let by_relation = DuplicateKind::ALL.map(|relation| {
        let (blocks, tokens) = duplicates.count(relation);
        (relation.name().to_owned(), json!({ "blocks": blocks, "tokens": tokens }))
    });
    let covered = duplicates.covered.iter().map(|(index, covered)| {
        json!({
            "index": index,
            "relation": covered.relation.name(),
            "covered_by": covered.by,
            "in_place": covered.in_place,
            "tokens_saved": covered.tokens_saved,
        })
    });
    json!({
        "schema": "lcp.dedup.v1",
        "blocks": before,
        "blocks_left": after,
        "tokens_saved": duplicates.tokens_saved(),
        "by_relation": Value::Object(by_relation.into_iter().collect()),
        "covered": covered.collect::<Vec<_>>(),
        "changed": duplicates.changed,
    })
}
