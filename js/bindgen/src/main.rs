//! Writes the JavaScript that loads the WebAssembly module: `lcp-js-bindgen MODULE FOLDER`.

use anyhow::{Context as _, Result};
use wasm_bindgen_cli_support::Bindgen;

fn main() -> Result<()> {
    let mut arguments = std::env::args_os().skip(1);
    let (module, folder) = arguments.next().zip(arguments.next()).context(
        "expected two arguments\nhint: pass the path of the module and that of the output folder",
    )?;
    // After a panic, the package replaces the instance of the module.
    let mut bindgen = Bindgen::new();
    bindgen.input_path(module).out_name("lcp").typescript(true);
    bindgen.web(true)?.reset_state_function(true);
    bindgen.generate(folder)
}
