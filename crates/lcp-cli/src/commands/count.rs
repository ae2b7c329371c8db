//! `count`: how many tokens files are.

use std::io::{BufWriter, Write};
use std::path::PathBuf;

use lcp_tokens::TokenEstimator;

use crate::Result;
use crate::arguments::tokens;
use crate::counting::Counting;
use crate::failure::{Failure, Output};
use crate::files;

/// Count the tokens of files
///
/// Prints one number a line, then the file's name. Bytes that are not UTF-8
/// count as the U+FFFD that a text would show in their place.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  lcp count README.md ARCHITECTURE.md
  git diff | lcp count -
  lcp count --model gpt-4 --up-to 8000 prompt.txt")]
pub struct Args {
    /// The files; `-` for standard input
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    #[command(flatten)]
    counting: Counting,
    /// Stop counting a file at so many tokens, and print `>N` for more
    #[arg(long, value_name = "N", value_parser = tokens, allow_negative_numbers = true)]
    up_to: Option<u32>,
}

/// Counts.
pub fn run(args: &Args, output: &Output) -> Result {
    // A number is all there is to see, so there is none instead of a wrong one.
    let config = args.counting.config()?;
    // Nobody asks how large its window is.
    let (model, unknown) = args.counting.model(&config, true)?;
    if let Some(warning) = unknown {
        output.warn(warning);
    }
    let counter = args.counting.counter(&config, model.as_ref(), true, output)?;
    let estimator = &counter.estimator;
    if !estimator.is_exact() {
        output.warn(format!("token counts are estimates ({})", estimator.name()));
    }
    let mut stdout = BufWriter::new(std::io::stdout().lock());
    for path in &args.files {
        let bytes = files::read(path)?;
        let text = String::from_utf8_lossy(&bytes);
        let count = match args.up_to {
            Some(limit) => estimator
                .count_up_to(&text, limit)
                .map_or_else(|| format!(">{limit}"), |count| count.to_string()),
            None => estimator.estimate(&text).to_string(),
        };
        writeln!(stdout, "{count} {}", path.display())
            .map_err(|error| Failure::io("write", "standard output", &error))?;
    }
    stdout.flush().map_err(|error| Failure::io("write", "standard output", &error))?;
    counter.keep(output);
    Ok(())
}
