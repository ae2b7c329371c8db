//! Agents that run with a gateway, for one launch and without changes of their configuration.

mod claude;
mod codex;
mod opencode;

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::Command;

use lcp_app::{Error, ErrorKind, Result};
use tempfile::NamedTempFile;

use crate::proxy::Upstream;

/// The base URLs of agents that are configured by environment variables.
const ANTHROPIC_BASE_URL: &str = "ANTHROPIC_BASE_URL";
const OPENAI_BASE_URL: &str = "OPENAI_BASE_URL";

/// The hosts of the gateway. Requests to it must not go through a proxy.
const LOOPBACK: &str = "127.0.0.1,localhost";

/// An agent that will be started.
#[derive(Debug)]
pub struct Agent {
    program: OsString,
    arguments: Vec<OsString>,
    kind: Kind,
    upstream: Upstream,
    /// `true` if the base URL of `OpenAI`'s API has its version.
    has_version: bool,
    /// `true` if no upstream was passed, so that the base URLs of opencode apply.
    is_configured: bool,
    /// The variables `NO_PROXY` and `no_proxy`, if they are set.
    no_proxy: Vec<(&'static str, String)>,
}

#[derive(Debug)]
enum Kind {
    ClaudeCode(claude::Settings),
    Codex(codex::Provider),
    OpenCode(opencode::Configuration),
    Other,
}

/// The command that starts an agent. It must live until the agent ends.
#[derive(Debug)]
pub struct AgentCommand {
    /// The command.
    pub command: Command,
    /// The file with the settings of the agent, which is removed with this value.
    _settings: Option<NamedTempFile>,
}

/// The environment in which an agent will run.
pub struct Environment<'e> {
    /// Returns a variable.
    pub variable: &'e dyn Fn(&str) -> Option<OsString>,
    /// The current folder.
    pub folder: PathBuf,
}

impl Environment<'_> {
    fn text(&self, name: &str) -> Option<String> {
        (self.variable)(name)?.into_string().ok().filter(|value| !value.is_empty())
    }

    fn home(&self) -> Option<PathBuf> {
        (self.variable)("HOME").or_else(|| (self.variable)("USERPROFILE")).map(PathBuf::from)
    }

    /// Returns the folder that a variable names, or one in the home of the user.
    fn folder_of_user(&self, variable: &str, name: &str) -> Option<PathBuf> {
        let named = (self.variable)(variable).filter(|folder| !folder.is_empty());
        named.map(PathBuf::from).or_else(|| Some(self.home()?.join(name)))
    }
}

impl std::fmt::Debug for Environment<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Environment").field("folder", &self.folder).finish_non_exhaustive()
    }
}

impl Agent {
    /// Reads the configuration of an agent. A provider that is configured remains its upstream, unless
    /// another is given.
    ///
    /// # Errors
    ///
    /// Returns an error if a configuration cannot be read, or if its base URL is invalid.
    pub fn new(
        command: &[OsString],
        upstream: Option<Upstream>,
        environment: &Environment<'_>,
    ) -> Result<Self> {
        let Some((program, arguments)) = command.split_first() else {
            return Err(Error::new(ErrorKind::Usage, "no command is given")
                .with_hint("pass one, such as `lcp run claude`"));
        };
        let mut arguments = arguments.to_vec();
        let mut configured = Upstream::default();
        let mut is_configured = false;
        let kind = match Path::new(program).file_stem().and_then(OsStr::to_str) {
            Some("claude") => {
                let settings = claude::Settings::read(&mut arguments, environment)?;
                // All of its requests belong to one host.
                configured = one(settings.base_url().unwrap_or(&configured.anthropic))?;
                Kind::ClaudeCode(settings)
            }
            Some("codex") => {
                let provider = codex::Provider::read(&mut arguments, environment)?;
                if let Some(url) = &provider.base_url {
                    configured = one(url)?;
                }
                Kind::Codex(provider)
            }
            Some("opencode") => {
                let configuration = opencode::Configuration::read(environment)?;
                let (anthropic, openai) = (&configuration.anthropic, &configuration.openai);
                // A URL with a variable (`{env:URL}`) is an error, so it is read only if it is needed.
                if upstream.is_none() {
                    if let Some(url) = anthropic.upstream() {
                        configured.anthropic = base(url)?;
                    }
                    if let Some(url) = openai.upstream() {
                        configured.openai = base(url)?;
                        configured.is_openai_configured = true;
                    }
                }
                is_configured = upstream.is_none();
                Kind::OpenCode(configuration)
            }
            _ => {
                if let Some(url) = environment.text(ANTHROPIC_BASE_URL) {
                    configured.anthropic = base(&url)?;
                }
                if let Some(url) = environment.text(OPENAI_BASE_URL) {
                    configured.openai = base(&url)?;
                    configured.is_openai_configured = true;
                }
                Kind::Other
            }
        };
        let no_proxy = ["NO_PROXY", "no_proxy"];
        let no_proxy =
            no_proxy.into_iter().filter_map(|name| Some((name, environment.text(name)?))).collect();
        // A base URL that is configured for an agent has the version, and so has a passed one with a path.
        let has_version = match &upstream {
            Some(upstream) => upstream.has_path(),
            None => configured.is_openai_configured,
        };
        let upstream = upstream.unwrap_or(configured);
        let program = program.clone();
        Ok(Self { program, arguments, kind, upstream, has_version, is_configured, no_proxy })
    }

    /// Returns the providers to which a gateway must send the requests.
    #[must_use]
    pub const fn upstream(&self) -> &Upstream {
        &self.upstream
    }

    /// Returns the command that starts the agent with a gateway. `originals` is the folder of the
    /// originals, which the agent may read.
    ///
    /// # Errors
    ///
    /// Returns an error if a temporary file with settings cannot be written.
    pub fn command(&self, gateway: &str, originals: &Path) -> Result<AgentCommand> {
        let mut file = None;
        let mut command = Command::new(&self.program);
        let version = if self.has_version { "" } else { "/v1" };
        let openai = format!("{gateway}{version}");
        match &self.kind {
            Kind::ClaudeCode(settings) => {
                let is_anthropic = self.upstream.anthropic == Upstream::default().anthropic;
                let json = settings.to_json(gateway, originals, is_anthropic);
                file = settings.to_file(&json)?;
                let path = file.as_ref().map(|file| file.path().as_os_str().to_owned());
                command.arg("--settings").arg(path.unwrap_or_else(|| json.into()));
            }
            Kind::Codex(provider) => {
                command.args(provider.overrides(&openai));
            }
            Kind::OpenCode(configuration) => {
                configuration.set(&mut command, gateway, self.is_configured, originals);
            }
            Kind::Other => {
                command.env(ANTHROPIC_BASE_URL, gateway).env(OPENAI_BASE_URL, openai);
            }
        }
        if self.no_proxy.is_empty() {
            command.env("NO_PROXY", LOOPBACK);
        }
        for (name, hosts) in &self.no_proxy {
            command.env(name, format!("{hosts},{LOOPBACK}"));
        }
        command.args(&self.arguments);
        Ok(AgentCommand { command, _settings: file })
    }
}

fn base(url: &str) -> Result<String> {
    Upstream::base(url).map_err(|reason| wrong_url(url, &reason))
}

fn one(url: &str) -> Result<Upstream> {
    Upstream::one(url).map_err(|reason| wrong_url(url, &reason))
}

fn wrong_url(url: &str, reason: &str) -> Error {
    Error::new(ErrorKind::Usage, format!("cannot use the configured base URL {url:?}: {reason}"))
        .with_hint("pass --upstream")
}

/// Reads a file of settings, if it exists.
fn read(path: &Path) -> Result<Option<String>> {
    let bytes = lcp_app::files::read_if_exists(path)?;
    let text = bytes.map(String::from_utf8).transpose();
    text.map_err(|_| {
        Error::new(ErrorKind::Usage, format!("{} is not UTF-8 text", path.display()))
            .with_hint("convert the file to UTF-8")
    })
}

#[cfg(test)]
mod tests;
