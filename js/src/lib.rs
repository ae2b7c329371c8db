//! The WebAssembly module of the npm package `llm-context-pack`: it converts values and calls
//! `lcp-app`.
//!
//! | topic | file |
//! |---|---|
//! | errors | `error.rs` |
//! | tokenizers and vocabularies | `encoding.rs` |
//! | messages within a budget | `messages.rs` |
//! | packs | `pack.rs` |

pub mod encoding;
pub mod error;
pub mod messages;
pub mod pack;

use wasm_bindgen::prelude::wasm_bindgen;

#[wasm_bindgen]
extern "C" {
    #[wasm_bindgen(js_namespace = console, js_name = error)]
    fn log_error(message: &str);
}

/// Sets the function that reports panics. The package calls it when it creates the module.
#[wasm_bindgen(start)]
pub fn start() {
    std::panic::set_hook(Box::new(|panic| log_error(&format!("llm-context-pack: {panic}"))));
}
