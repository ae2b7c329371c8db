//! Events of the libraries on standard error (`--log`).
//!
//! Events contain names and paths from untrusted input, so they are escaped as all messages are.

use std::env::{self, VarError};
use std::io::{self, Write};

use clap::ValueEnum;
use lcp_app::{Error, ErrorKind};
use lcp_driver::{escape_control_json, escape_control_lines};
use tracing_subscriber::EnvFilter;

use crate::Result;

/// The environment variable that selects events.
const RUST_LOG: &str = "RUST_LOG";

/// The events that are printed if `RUST_LOG` is not set.
const DEFAULT: &str = "warn,lcp_continuity=info,lcp_driver=info";

/// The format of events.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum LogFormat {
    /// A line for people
    Text,
    /// A JSON object per line
    Json,
}

/// Prints events from now on.
///
/// # Errors
///
/// Returns an error if `RUST_LOG` is invalid.
pub fn start(format: LogFormat) -> Result {
    let filter = match env::var(RUST_LOG) {
        Ok(filter) if !filter.trim().is_empty() => filter,
        Ok(_) | Err(VarError::NotPresent) => DEFAULT.to_owned(),
        Err(VarError::NotUnicode(_)) => return Err(invalid(&"it is not UTF-8")),
    };
    print(EnvFilter::try_new(filter).map_err(|error| invalid(&error))?, format)
}

/// Prints the warnings of the gateway from now on, as text.
///
/// # Errors
///
/// Returns an error if events are printed already.
#[cfg(feature = "proxy")]
pub fn start_gateway() -> Result<()> {
    print(EnvFilter::new("lcp_gateway=warn"), LogFormat::Text)
}

fn print(filter: EnvFilter, format: LogFormat) -> Result<()> {
    let events = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_ansi(false)
        .with_writer(move || Events(format));
    let started = match format {
        LogFormat::Text => events.try_init(),
        LogFormat::Json => events.json().flatten_event(true).try_init(),
    };
    started.map_err(|error| Error::new(ErrorKind::Usage, format!("cannot print events: {error}")))
}

fn invalid(error: &dyn std::fmt::Display) -> Error {
    let message = format!("invalid value of {RUST_LOG}: {error}");
    Error::new(ErrorKind::Usage, message).with_hint(format!("set {RUST_LOG}=info, or unset it"))
}

/// Standard error, for events. Each is written at once.
struct Events(LogFormat);

impl Write for Events {
    fn write(&mut self, event: &[u8]) -> io::Result<usize> {
        let text = String::from_utf8_lossy(event);
        let text = text.trim_end_matches('\n');
        let escaped = match self.0 {
            LogFormat::Text => escape_control_lines(text),
            LogFormat::Json => escape_control_json(text),
        };
        writeln!(io::stderr().lock(), "{escaped}")?;
        Ok(event.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        io::stderr().flush()
    }
}
