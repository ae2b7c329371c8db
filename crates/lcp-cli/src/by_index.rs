//! Texts of packs by their index: only what is shown is read (RFC 0003).

use std::ffi::OsStr;
use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use lcp_decoder::{DecodeOptions, PackReader, ReadError, Trailer, TrailerError};
use lcp_driver::special_tokens::SpecialTokens;
use lcp_driver::{
    DefaultDriver, IndexedRender, PlanSource, RENDERER_REVISION, SourceRenderError, Warning,
    WarningCode,
};
use lcp_types::wire::HEADER_RESERVED;
use lcp_types::{BlockSource, SourceErrorKind};

use crate::Result;
use crate::failure::{Code, Failure, Output};
use crate::files;
use crate::prepare::{Settled, denied};
use lcp_packfile::journal;

/// The text, where the index of the pack is enough to give the one that all blocks
/// give; says what it warns of.
pub fn render(settled: &Settled<'_>, output: &Output) -> Result<Option<IndexedRender>> {
    let Settled { path, config, counter, .. } = settled;
    if *path == OsStr::new(files::STANDARD)
        || settled.deduping.is_some()
        // What is changed costs something else, and what is refused may not be shown.
        || settled.special_tokens != SpecialTokens::Report
        || !config.is_planned_by_costs()
    {
        return Ok(None);
    }
    let Some(file) = regular(path) else { return Ok(None) };
    // Whoever reads all blocks tells what is wrong with the pack, and where.
    let Ok(reader) = PackReader::open(file, DecodeOptions::default()) else { return Ok(None) };
    // What is odd about the header, and why there is no trailer, is told where all is read.
    if reader.header().flags & HEADER_RESERVED != 0 {
        return Ok(None);
    }
    let name = counter.estimator.name();
    if reader.block_index().and_then(|facts| facts.costs_in(name, RENDERER_REVISION)).is_none() {
        return Ok(None);
    }
    let driver = DefaultDriver::new(Arc::clone(&counter.estimator));
    let rendered = match driver.render_source(&reader, config) {
        Ok(rendered) => rendered,
        Err(SourceRenderError::Driver(error)) => return Err(denied(&error, path)),
        Err(SourceRenderError::Source(error)) if error.kind == SourceErrorKind::Io => {
            let message = format!("cannot read {}: {error}", path.display());
            return Err(Failure::new(Code::Io, message));
        }
        Err(_) => return Ok(None),
    };
    for warning in &rendered.warnings {
        counter.warn(warning, output);
    }
    let budget = config.token_budget.unwrap_or_default();
    let blocks = match rendered.planned {
        PlanSource::Index { read, .. } => {
            format!("{read} of {} blocks read", rendered.blocks)
        }
        PlanSource::AllBlocks(_) => format!("{} blocks", rendered.blocks),
    };
    output.note(format!("{} tokens ({budget}), {blocks}", rendered.used_tokens));
    Ok(Some(rendered))
}

/// The file, if it is one that can be read at any offset.
fn regular(path: &Path) -> Option<File> {
    // A pipe that is opened and closed again takes away what somebody writes into it.
    std::fs::metadata(path).ok().filter(std::fs::Metadata::is_file)?;
    let file = File::open(path).ok()?;
    file.metadata().ok().filter(std::fs::Metadata::is_file)?;
    // Nobody appends to it while it is read. One that was left half appended to is read as it
    // was before.
    journal::lock_shared(&file).ok()?;
    let path = path.canonicalize().ok()?;
    (!journal::journal_path(&path).exists()).then_some(file)
}

/// What is said of a pack that was read as a whole, whose header announces a trailer that is
/// not accepted (RFC 0003 §2).
pub fn unaccepted(pack: &[u8]) -> Option<Warning> {
    Trailer::of(pack)?.err().map(|error| bad_index(&error))
}

/// What the trailer of a pack says that is not so, or why it is not accepted.
pub fn verify(path: &Path, pack: &[u8]) -> Result<Vec<Warning>> {
    // What is wrong with the blocks, decoding tells.
    let Ok(reader) = PackReader::open(pack, DecodeOptions::default()) else {
        return Ok(Vec::new());
    };
    match reader.verify() {
        Ok(wrong) => Ok(wrong.iter().map(bad_index).collect()),
        Err(ReadError::Io(error)) => Err(Failure::io("read", path.display(), &error)),
        Err(_) => Ok(unaccepted(pack).into_iter().collect()),
    }
}

fn bad_index(error: &TrailerError) -> Warning {
    Warning::new(WarningCode::BadIndex, None, error.to_string())
}

#[cfg(all(test, unix))]
mod tests {
    use std::sync::mpsc;
    use std::time::Duration;

    use super::*;

    /// Who opens a pipe waits for a writer, and takes away what that writes.
    #[test]
    fn a_pipe_is_not_opened() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe");
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        let (sender, receiver) = mpsc::channel();
        std::thread::spawn(move || sender.send(regular(&pipe).is_none()));
        assert_eq!(receiver.recv_timeout(Duration::from_secs(20)), Ok(true));
    }
}
