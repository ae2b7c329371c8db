//! Writes the tables of the built-in vocabularies.

use std::error::Error;
use std::path::Path;
use std::{env, fs};

#[allow(dead_code, reason = "the library also reads the tables")]
#[path = "src/bpe/tables.rs"]
mod tables;

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=src/bpe/tables.rs");
    let output = env::var("OUT_DIR")?;
    for (feature, name) in [
        ("O200K", "o200k_base"),
        ("CL100K", "cl100k_base"),
        ("P50K", "p50k_base"),
        ("R50K", "r50k_base"),
    ] {
        if env::var_os(format!("CARGO_FEATURE_{feature}")).is_some() {
            let packed = fs::read(format!("data/{name}.bpe"))?;
            println!("cargo::rerun-if-changed=data/{name}.bpe");
            fs::write(Path::new(&output).join(format!("{name}.tables")), tables::build(&packed))?;
        }
    }
    Ok(())
}
