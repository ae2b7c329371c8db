//! The command `count`: counts the tokens of files.

use std::io::{BufWriter, Write};
use std::path::PathBuf;

use lcp_driver::escape_control;
use lcp_tokens::TokenEstimator;
use serde_json::json;

use crate::Result;
use crate::arguments::parse_tokens;
use crate::files::{self, StdoutResult};
use crate::output::Output;
use crate::tokenizer_args::TokenizerArgs;

/// Count the tokens of files
///
/// Prints one line per file: the number of tokens, then the name of the file. Invalid UTF-8 is
/// counted as U+FFFD, as in rendered text.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  lcp count README.md ARCHITECTURE.md
  git diff | lcp count -
  lcp count --total src/*.rs
  lcp count --model gpt-4 --up-to 8000 prompt.txt")]
pub struct Args {
    /// Files to count; `-` for standard input
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    #[command(flatten)]
    counting: TokenizerArgs,
    /// Stop counting a file at N tokens, and print `>N` if it has more
    #[arg(long, value_name = "N", value_parser = parse_tokens, allow_negative_numbers = true)]
    up_to: Option<u32>,
    /// Print the sum of all files as a last line
    #[arg(long, conflicts_with_all = ["up_to", "json"])]
    total: bool,
    /// Print JSON instead
    #[arg(long)]
    json: bool,
}

/// Counts the tokens of the files and prints them.
pub fn run(args: &Args, output: &Output) -> Result {
    // The number is the only output, so a missing tokenizer is an error and not a warning.
    let counter = args.counting.load_without_budget(true, output)?;
    let estimator = &counter.estimator;
    let mut stdout = BufWriter::new(std::io::stdout().lock());
    let mut print = |line: String| files::to_stdout_result(writeln!(stdout, "{line}"));
    let (mut rows, mut total) = (Vec::new(), Some(0));
    for path in &args.files {
        let bytes = files::read(path, output)?;
        let text = String::from_utf8_lossy(&bytes);
        let count = match args.up_to {
            Some(limit) => estimator.count_up_to(&text, limit),
            None => Some(estimator.estimate(&text)),
        };
        let limit = args.up_to.unwrap_or_default();
        // The total is unknown if a file exceeds the limit.
        total = total.zip(count).map(|(total, count)| total + u64::from(count));
        if args.json {
            let (file, bytes) = (path.display().to_string(), bytes.len());
            rows.push(json!({ "file": file, "bytes": bytes, "tokens": count }));
        } else {
            let count = count.map_or_else(|| format!(">{limit}"), |count| count.to_string());
            let line = format!("{count} {}", escape_control(&path.display().to_string()));
            if print(line)? == StdoutResult::Closed {
                counter.save_cache(output);
                return Ok(());
            }
        }
    }
    if args.json {
        let whole = json!({
            "schema": "lcp.count.v1",
            "encoding": estimator.name(),
            "exact": estimator.is_exact(),
            "up_to": args.up_to,
            "files": rows,
            "total": total,
        });
        print(files::json(&whole).trim_end().to_owned())?;
    } else if let Some(total) = total.filter(|_| args.total) {
        print(format!("{total} total"))?;
    }
    files::to_stdout_result(stdout.flush())?;
    counter.save_cache(output);
    Ok(())
}
