//! The configuration of opencode. The variable with a configuration takes precedence over its files.

use std::path::{Path, PathBuf};
use std::process::Command;

use jsonc_parser::ParseOptions;
use jsonc_parser::cst::CstRootNode;
use lcp_app::{Error, ErrorKind, Result};
use serde_json::{Value, json};

use super::{ANTHROPIC_BASE_URL, Environment, OPENAI_BASE_URL, read};

/// The variable with a configuration of one launch.
const VARIABLE: &str = "OPENCODE_CONFIG_CONTENT";

/// The variable with the path of a configuration.
const PATH_VARIABLE: &str = "OPENCODE_CONFIG";

/// The variable with the path of a folder of configurations.
const FOLDER_VARIABLE: &str = "OPENCODE_CONFIG_DIR";

/// The version of the APIs in base URLs.
const VERSION: &str = "/v1";

/// The permission to read and write outside of the project. opencode asks by default, and `opencode run`
/// refuses.
const FOLDERS: &str = "external_directory";

/// The names of configurations in a folder. The last one counts.
const FILES: [&str; 3] = ["config.json", "opencode.json", "opencode.jsonc"];

/// The provider of a launch: Anthropic or `OpenAI`.
#[derive(Debug)]
pub(super) struct Provider {
    /// The name in configurations.
    name: &'static str,
    /// The variable that applies if the configurations have no base URL.
    variable: &'static str,
    /// The base URL that the user configured.
    pub(super) base_url: Option<String>,
    is_in_configuration: bool,
}

/// The configuration of a launch.
#[derive(Debug)]
pub(super) struct Configuration {
    /// The one that the user passes in the variable.
    own: Value,
    /// `true` if the user decided for all folders whether the agent may read them.
    has_rule_for_all: bool,
    pub(super) anthropic: Provider,
    pub(super) openai: Provider,
}

impl Configuration {
    /// Reads the configuration of the variables and of the files.
    pub(super) fn read(environment: &Environment<'_>) -> Result<Self> {
        let own = environment.text(VARIABLE).map(|text| parse(&text, VARIABLE)).transpose()?;
        let own = own.unwrap_or_else(|| json!({}));
        let mut files_read = Vec::new();
        for path in files(environment) {
            if let Some(text) = read(&path)? {
                // opencode itself reports a file that is not valid.
                files_read.extend(parse(&text, &path.display().to_string()).ok());
            }
        }
        let provider = |name: &'static str, variable: &'static str| {
            let mut all = std::iter::once(&own).chain(files_read.iter().rev());
            let url = all.find_map(|it| it["provider"][name]["options"]["baseURL"].as_str());
            let is_in_configuration = url.is_some();
            let base_url = url.map(str::to_owned).or_else(|| environment.text(variable));
            Provider { name, variable, base_url, is_in_configuration }
        };
        let anthropic = provider("anthropic", ANTHROPIC_BASE_URL);
        let openai = provider("openai", OPENAI_BASE_URL);
        let has_rule_for_all = std::iter::once(&own)
            .chain(&files_read)
            .any(|it| it["permission"].is_string() || it["permission"][FOLDERS].is_string());
        Ok(Self { own, has_rule_for_all, anthropic, openai })
    }

    /// Sets the base URLs of a launch, and lets the agent read the folder of the originals. A provider
    /// without a base URL in the configuration gets a variable instead, because opencode considers each
    /// provider of its configuration to be signed in.
    pub(super) fn set(
        &self,
        command: &mut Command,
        gateway: &str,
        is_configured: bool,
        originals: &Path,
    ) {
        let mut configuration = self.own.clone();
        let mut has_changed = !self.has_rule_for_all;
        if !self.has_rule_for_all {
            let rule = format!("{}/*", originals.display());
            *place(&mut configuration, &["permission", FOLDERS, &rule]) = "allow".into();
        }
        for provider in [&self.anthropic, &self.openai] {
            let is_plain = !is_configured || provider.has_version();
            let url = format!("{gateway}{}", if is_plain { "/v1" } else { "" });
            if !provider.is_in_configuration {
                command.env(provider.variable, url);
                continue;
            }
            has_changed = true;
            let names = ["provider", provider.name, "options", "baseURL"];
            *place(&mut configuration, &names) = url.into();
        }
        if has_changed {
            command.env(VARIABLE, configuration.to_string());
        }
    }
}

/// Returns the value under nested keys. Values around it become objects.
fn place<'v>(mut value: &'v mut Value, keys: &[&str]) -> &'v mut Value {
    for key in keys {
        if !value.is_object() {
            *value = json!({});
        }
        value = &mut value[key];
    }
    value
}

impl Provider {
    /// Returns whether the base URL has the version of the API, as the default one does. The gateway
    /// then gets the version as part of the paths of requests.
    fn has_version(&self) -> bool {
        self.base_url.as_ref().is_none_or(|url| {
            let url = url.trim_end_matches('/');
            // opencode adds the version to this URL.
            url.ends_with(VERSION) || url == "https://api.anthropic.com"
        })
    }

    /// Returns the upstream, without the version of the API.
    pub(super) fn upstream(&self) -> Option<&str> {
        let url = self.base_url.as_deref()?.trim_end_matches('/');
        Some(url.strip_suffix(VERSION).unwrap_or(url))
    }
}

/// Returns the paths of configurations. Later ones take precedence.
fn files(environment: &Environment<'_>) -> Vec<PathBuf> {
    let in_folder = |folder: &Path| FILES.map(|name| folder.join(name));
    let user = environment.folder_of_user("XDG_CONFIG_HOME", ".config");
    let mut files: Vec<_> =
        user.into_iter().flat_map(|folder| in_folder(&folder.join("opencode"))).collect();
    files.extend(environment.text(PATH_VARIABLE).map(PathBuf::from));
    // A project ends at the folder of its repository.
    let mut project = Vec::new();
    for folder in environment.folder.ancestors() {
        project.push(folder);
        if folder.join(".git").exists() {
            break;
        }
    }
    let outer_first = project.iter().rev().map(|folder| folder.to_path_buf());
    // These come after all others, the outermost of a project last.
    let inner_first = project.iter().map(|folder| folder.join(".opencode"));
    let home = environment.home().map(|home| home.join(".opencode"));
    let named = environment.text(FOLDER_VARIABLE).map(PathBuf::from);
    let folders = outer_first.chain(inner_first).chain(home).chain(named);
    files.extend(folders.flat_map(|folder| in_folder(&folder)));
    files
}

/// Parses a configuration: JSON with comments.
fn parse(text: &str, place: &str) -> Result<Value> {
    let parsed = CstRootNode::parse(text, &ParseOptions::default());
    let error = match parsed.map(|root| root.to_serde_value()) {
        Ok(Some(value)) if value.is_object() => return Ok(value),
        Ok(_) => "expected an object".to_owned(),
        Err(error) => error.to_string(),
    };
    Err(Error::new(ErrorKind::Usage, format!("cannot read the configuration: {error} ({place})")))
}
