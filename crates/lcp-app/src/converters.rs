//! Options of converters: programs that turn files of other formats into text (RFC 0013 §2).

use std::num::NonZeroUsize;
use std::time::Duration;

use lcp_continuity::command::CommandOptions;
use lcp_ingest::{ConvertCommand, FileConverter};
use lcp_types::limits;

use crate::error::{Error, ErrorKind, Result};
use crate::folders;
use crate::interrupt::{self, Hook};

/// The default timeout of a command in seconds.
const SECONDS: u32 = 60;

/// The options of converters.
#[derive(Clone, Debug, Default)]
pub struct ConverterOptions {
    /// The commands; the last one that matches a file converts it.
    pub commands: Vec<ConvertCommand>,
    /// The number of commands that run at once. The default is the number of processors.
    pub jobs: Option<NonZeroUsize>,
    /// The timeout of a command in seconds. The default is 60.
    pub timeout: Option<u32>,
    /// `true` if texts are not stored in `lcp/converted` of the user's cache folder.
    pub no_cache: bool,
}

impl ConverterOptions {
    /// Returns the converter, if there are commands, and a hook that stops it if the process is
    /// interrupted. A converted text has at most `max_file_bytes` bytes.
    ///
    /// # Errors
    ///
    /// Returns an error if the globs are too large together.
    pub(crate) fn converter(&self, max_file_bytes: u64) -> Result<Option<(FileConverter, Hook)>> {
        if self.commands.is_empty() {
            return Ok(None);
        }
        let cache = folders::cache_dir(|name| std::env::var_os(name)).filter(|_| !self.no_cache);
        let max = max_file_bytes.min(limits::BODY_BYTES_MAX);
        let options = CommandOptions {
            timeout: Duration::from_secs(u64::from(self.timeout.unwrap_or(SECONDS))),
            max_output_bytes: usize::try_from(max).unwrap_or(usize::MAX),
        };
        let jobs = self.jobs.or_else(|| std::thread::available_parallelism().ok());
        let converter = FileConverter::new(
            self.commands.clone(),
            options,
            jobs.unwrap_or(NonZeroUsize::MIN),
            cache.map(|folder| folder.join("lcp").join("converted")),
        );
        let converter = converter.map_err(|error| Error::new(ErrorKind::Usage, error))?;
        let hook = interrupt::on_interrupt(converter.stop_handle());
        Ok(Some((converter, hook)))
    }
}
