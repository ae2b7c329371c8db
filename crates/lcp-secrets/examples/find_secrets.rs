//! Lists the secrets of files:
//!
//! ```text
//! cargo run -p lcp-secrets --example find_secrets FILE...
//! ```

#![allow(clippy::print_stdout, reason = "the example prints the secrets")]

fn main() -> std::io::Result<()> {
    for path in std::env::args().skip(1) {
        for secret in lcp_secrets::find(&std::fs::read(&path)?) {
            println!("{path}:{}: {} at {:?}", secret.line, secret.kind, secret.range);
        }
    }
    Ok(())
}
