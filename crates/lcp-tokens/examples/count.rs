//! Counts the tokens of a text for several models, and shortens the text to a limit:
//!
//! ```text
//! cargo run -p lcp-tokens --example count
//! ```

#![allow(clippy::print_stdout, reason = "the example prints the counts")]

use std::error::Error;
use std::path::Path;

use lcp_tokens::{
    Encoding, IncrementalCounter, Models, Tiktoken, TokenEstimator, or_fallback,
    tokenizer_for_model,
};

pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    let text = "The retry loop never ends, because nothing counts its attempts. ".repeat(20);

    // The table of models has the encoding and the context window of each.
    let models = Models::builtin();
    for name in ["gpt-5", "claude-sonnet-5", "llama-3.1-70b"] {
        let model = models.find(name)?;
        // A model without a built-in tokenizer gets an estimate. With the feature `tokenizer-files`,
        // an `lcp.toml` can name its tokenizer file.
        let estimator = or_fallback(tokenizer_for_model(model, Path::new(".")));
        let kind = if estimator.is_exact() { "exact" } else { "an estimate" };
        let (tokens, window) = (estimator.estimate(&text), model.window);
        println!("{name}: {tokens} of {window} tokens ({kind}, {})", estimator.name());
    }

    // The longest prefix within a limit.
    let counter = Tiktoken::new(Encoding::O200kBase);
    let prefix = counter.truncate_to(&text, 10);
    println!("10 tokens: {prefix:?}");

    // A reply that arrives in pieces. Only the end of the text is counted again.
    let mut reply = IncrementalCounter::new(counter);
    for piece in ["It ", "ne", "ver en", "ds."] {
        reply.push(piece);
    }
    println!("reply: {} tokens", reply.count());
    Ok(())
}
