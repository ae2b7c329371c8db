//! The extension module of the Python package `lcp`: it converts values and calls `lcp-app`.
//!
//! | topic | file |
//! |---|---|
//! | exceptions; long calls without the lock of the interpreter | `call.rs` |
//! | tokenizers | `encoding.rs` |
//! | columns of Arrow libraries | `column.rs` |
//! | messages within a budget; their JSON | `messages.rs`, `json.rs` |
//! | packs, and their blocks | `pack.rs`, `blocks.rs` |
//! | sessions | `session.rs` |

#![expect(
    clippy::needless_pass_by_value,
    reason = "functions that Python calls own the values that they extract"
)]

mod blocks;
mod call;
mod column;
mod encoding;
mod json;
mod messages;
mod pack;
mod session;

use std::ffi::OsString;

use pyo3::prelude::*;

/// Runs the command `lcp` with these arguments, of which the first is the name of the program.
/// Returns the exit code.
#[pyfunction]
fn run(py: Python<'_>, arguments: Vec<OsString>) -> PyResult<u8> {
    call::call(py, || Ok(lcp_cli::run(arguments)))
}

/// Panics, with and without the lock of the interpreter. A test uses it.
#[pyfunction]
#[expect(clippy::panic, reason = "this is its purpose")]
fn panic(py: Python<'_>, is_short: bool) -> PyResult<()> {
    if is_short {
        call::catch(|| panic!("as asked"))
    } else {
        call::call(py, || panic!("as asked"))
    }
}

/// Native functions of the package `lcp`.
#[pymodule(gil_used = false)]
fn _lcp(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_class::<encoding::Encoding>()?;
    module.add_class::<column::Column>()?;
    module.add_class::<messages::Fitted>()?;
    module.add_class::<pack::Pack>()?;
    module.add_class::<blocks::BlockReader>()?;
    module.add_class::<session::Sessions>()?;
    module.add_function(wrap_pyfunction!(column::hash_column, module)?)?;
    module.add_function(wrap_pyfunction!(json::encode_json, module)?)?;
    module.add_function(wrap_pyfunction!(messages::fit_messages, module)?)?;
    module.add_function(wrap_pyfunction!(panic, module)?)?;
    module.add_function(wrap_pyfunction!(run, module)?)
}
