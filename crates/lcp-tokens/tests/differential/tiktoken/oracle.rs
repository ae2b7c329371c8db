//! Whose tokens ours are compared with.

use std::io::{ErrorKind, Read, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use cargo_metadata::Metadata;
use lcp_tokens::Encoding;
use tiktoken_rs::CoreBPE;

use crate::{Result, failure};

/// The version of Python's tiktoken that we compare with.
pub(super) const TIKTOKEN: &str = "0.14.0";

/// Tokens that are right by definition, in one encoding.
pub(super) enum Oracle {
    TiktokenRs(&'static CoreBPE),
    Python(Talk),
}

impl Oracle {
    /// The oracle of an encoding: `python`, or else tiktoken-rs.
    pub(super) fn new(encoding: Encoding, python: Option<&Python>) -> Result<Self> {
        match python {
            Some(python) => Ok(Self::Python(python.talk(encoding)?)),
            None => Ok(Self::TiktokenRs(match encoding {
                Encoding::O200kBase => tiktoken_rs::o200k_base_singleton(),
                Encoding::Cl100kBase => tiktoken_rs::cl100k_base_singleton(),
                Encoding::O200kHarmony => tiktoken_rs::o200k_harmony_singleton(),
                Encoding::P50kBase => tiktoken_rs::p50k_base_singleton(),
                Encoding::R50kBase => tiktoken_rs::r50k_base_singleton(),
            })),
        }
    }

    /// The ids of the tokens of each of `texts`.
    pub(super) fn tokens(&mut self, texts: &[&str]) -> Result<Vec<Vec<u32>>> {
        match self {
            Self::TiktokenRs(core) => {
                Ok(texts.iter().map(|text| core.encode_ordinary(text)).collect())
            }
            Self::Python(talk) => talk.tokens(texts),
        }
    }
}

/// Python with tiktoken, in an environment of its own below the build folder.
pub(super) struct Python {
    program: PathBuf,
    /// The rank files of the crate tiktoken-rs.
    assets: PathBuf,
}

impl Python {
    /// Makes the environment where there is none, and installs tiktoken.
    pub(super) fn install(metadata: &Metadata) -> Result<Self> {
        let package = metadata.packages.iter().find(|package| package.name == "tiktoken-rs");
        let folder = package.and_then(|package| package.manifest_path.parent());
        let missing = || failure("cargo metadata names no crate tiktoken-rs");
        let assets = folder.ok_or_else(missing)?.join("assets").into_std_path_buf();
        let folder = metadata.target_directory.join("exact/python").into_std_path_buf();
        let program = crate::python(&folder, &[&format!("tiktoken=={TIKTOKEN}")])?;
        Ok(Self { program, assets })
    }

    fn command(&self, task: &str) -> Command {
        let mut command = Command::new(&self.program);
        let script = crate::script("tiktoken_tokens.py");
        command
            .arg(script)
            .arg(task)
            .arg(&self.assets)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped());
        command
    }

    fn talk(&self, encoding: Encoding) -> Result<Talk> {
        let mut child =
            self.command("tokens").arg(encoding.name()).spawn().map_err(|error| lost(&error))?;
        let (Some(ask), Some(answer)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(lost(&ErrorKind::BrokenPipe.into()));
        };
        Ok(Talk { child, ask: Some(ask), answer })
    }

    /// The file of fixtures: these texts, each repeated so many times, and what
    /// every encoding counts.
    pub(super) fn fixtures(&self, texts: &[(String, usize)]) -> Result<Vec<u8>> {
        let names = Encoding::ALL.iter().map(|encoding| encoding.name());
        let mut child =
            self.command("fixtures").args(names).spawn().map_err(|error| lost(&error))?;
        let mut batch = number(texts.len());
        for (text, times) in texts {
            batch.extend([number(text.len()), text.clone().into(), number(*times)].concat());
        }
        if let Some(mut ask) = child.stdin.take() {
            ask.write_all(&batch).map_err(|error| lost(&error))?;
        }
        let done = child.wait_with_output().map_err(|error| lost(&error))?;
        if done.status.success() { Ok(done.stdout) } else { Err(lost(&ErrorKind::Other.into())) }
    }
}

/// A program that is asked and answers, batch after batch.
pub(super) struct Talk {
    child: Child,
    ask: Option<ChildStdin>,
    answer: ChildStdout,
}

impl Talk {
    fn tokens(&mut self, texts: &[&str]) -> Result<Vec<Vec<u32>>> {
        let mut batch = number(texts.len());
        for text in texts {
            batch.extend(number(text.len()));
            batch.extend(text.as_bytes());
        }
        let asked = self
            .ask
            .as_mut()
            .map_or(Ok(()), |ask| ask.write_all(&batch).and_then(|()| ask.flush()));
        asked.map_err(|error| lost(&error))?;
        texts.iter().map(|_| self.answered().map_err(|error| lost(&error))).collect()
    }

    /// The next list of numbers, after its length.
    fn answered(&mut self) -> std::io::Result<Vec<u32>> {
        let mut len = [0; 4];
        self.answer.read_exact(&mut len)?;
        let mut ids = vec![[0; 4]; u32::from_le_bytes(len) as usize];
        self.answer.read_exact(ids.as_flattened_mut())?;
        Ok(ids.into_iter().map(u32::from_le_bytes).collect())
    }
}

impl Drop for Talk {
    fn drop(&mut self) {
        // It ends where its input does.
        self.ask = None;
        let _ = self.child.wait();
    }
}

/// Four bytes, low byte first.
fn number(number: usize) -> Vec<u8> {
    u32::try_from(number).unwrap_or(u32::MAX).to_le_bytes().to_vec()
}

fn lost(error: &std::io::Error) -> anyhow::Error {
    failure(format!("Python does not answer: {error}"))
}
