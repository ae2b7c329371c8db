//! The settings of Claude Code. Those of `--settings` take precedence over its files, and these over the
//! environment.

use std::ffi::OsString;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use lcp_app::{Error, ErrorKind, Result};
use serde_json::{Map, Value, json};
use tempfile::NamedTempFile;

use super::{ANTHROPIC_BASE_URL, Environment, read};

/// The flag for settings of one launch: JSON or a file.
const FLAG: &str = "--settings";

/// The variable that turns on the search of tools, which is off with a base URL of one's own.
const TOOL_SEARCH: &str = "ENABLE_TOOL_SEARCH";

/// The settings of a launch.
#[derive(Debug)]
pub(super) struct Settings {
    /// Those that the user passes with the flag.
    own: Map<String, Value>,
    is_file: bool,
    base_url: Option<String>,
    has_tool_search: bool,
}

impl Settings {
    /// Reads the settings, and takes the flag out of the arguments.
    pub(super) fn read(
        arguments: &mut Vec<OsString>,
        environment: &Environment<'_>,
    ) -> Result<Self> {
        let (own, is_file) = match take_flag(arguments) {
            None => (Map::new(), false),
            Some(given) if given.trim_start().starts_with('{') => (object(&given, FLAG)?, false),
            Some(path) => {
                let text = read(Path::new(&path))?;
                let missing = || Error::new(ErrorKind::Io, format!("{FLAG}: {path} not found"));
                (object(&text.ok_or_else(missing)?, &path)?, true)
            }
        };
        let mut all = vec![Value::Object(own.clone())];
        let project = environment.folder.join(".claude");
        let user = environment.folder_of_user("CLAUDE_CONFIG_DIR", ".claude");
        let files: [Option<PathBuf>; 3] = [
            Some(project.join("settings.local.json")),
            Some(project.join("settings.json")),
            user.map(|folder| folder.join("settings.json")),
        ];
        for path in files.into_iter().flatten() {
            // Claude Code itself reports a file that is not valid.
            let text = read(&path)?;
            all.extend(text.and_then(|text| serde_json::from_str(&text).ok()));
        }
        let variable = |name: &str| {
            let set = all.iter().find_map(|settings| settings["env"][name].as_str());
            set.filter(|value| !value.is_empty())
                .map(str::to_owned)
                .or_else(|| environment.text(name))
        };
        let (base_url, has_tool_search) =
            (variable(ANTHROPIC_BASE_URL), variable(TOOL_SEARCH).is_some());
        Ok(Self { own, is_file, base_url, has_tool_search })
    }

    /// Returns the base URL that the user configured.
    pub(super) fn base_url(&self) -> Option<&str> {
        self.base_url.as_deref()
    }

    /// Writes the settings with a gateway to a file that only the user can read if they come from one:
    /// they may have keys, and all users can read the arguments of a process.
    pub(super) fn to_file(&self, settings: &str) -> Result<Option<NamedTempFile>> {
        if !self.is_file {
            return Ok(None);
        }
        let write = || {
            let mut file =
                tempfile::Builder::new().prefix("lcp-settings-").suffix(".json").tempfile()?;
            file.write_all(settings.as_bytes())?;
            Ok(file)
        };
        let place = std::env::temp_dir();
        write().map(Some).map_err(|error| Error::io("write settings to", place.display(), &error))
    }

    /// Returns the settings with a gateway.
    pub(super) fn to_json(&self, gateway: &str, originals: &Path, is_anthropic: bool) -> String {
        let mut settings = Value::Object(self.own.clone());
        let variables = &mut settings["env"];
        if !variables.is_object() {
            *variables = json!({});
        }
        variables[ANTHROPIC_BASE_URL] = gateway.into();
        // Other providers may not know it.
        if is_anthropic && !self.has_tool_search {
            variables[TOOL_SEARCH] = "true".into();
        }
        let permissions = &mut settings["permissions"];
        if !permissions.is_object() {
            *permissions = json!({});
        }
        let folders = &mut permissions["additionalDirectories"];
        if !folders.is_array() {
            *folders = json!([]);
        }
        if let Some(folders) = folders.as_array_mut() {
            folders.push(originals.display().to_string().into());
        }
        settings.to_string()
    }
}

/// Takes the flag with its value out of the arguments. The last one counts.
fn take_flag(arguments: &mut Vec<OsString>) -> Option<String> {
    let mut value = None;
    let mut at = 0;
    while at < arguments.len() && arguments[at] != "--" {
        let word = arguments[at].to_string_lossy().into_owned();
        if word == FLAG && at + 1 < arguments.len() {
            value = arguments[at + 1].to_str().map(str::to_owned);
            arguments.drain(at..at + 2);
        } else if let Some(given) = word.strip_prefix("--settings=") {
            value = Some(given.to_owned());
            arguments.remove(at);
        } else {
            at += 1;
        }
    }
    value
}

fn object(text: &str, place: &str) -> Result<Map<String, Value>> {
    serde_json::from_str(text).map_err(|error| {
        Error::new(
            ErrorKind::Usage,
            format!("the settings are not a JSON object: {error} ({place})"),
        )
    })
}
