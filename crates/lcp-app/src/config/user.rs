//! `lcp/config.toml` in the user's settings folder: settings that run commands (RFC 0013 §2). They
//! cannot be in an `lcp.toml`, which may come with a folder of other people.

use lcp_ingest::ConvertCommand;

use super::pack;
use super::reader::{self, ConfigError, Section};
use super::source::{invalid, read_text};
use crate::error::Result;
use crate::folders;

/// The settings of a user, with defaults for missing keys.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UserSettings {
    /// `[[pack.convert]]`: commands that convert files; the last match wins.
    pub converters: Vec<ConvertCommand>,
}

impl UserSettings {
    /// Reads the settings. Without the file, they are the defaults.
    ///
    /// # Errors
    ///
    /// Returns an error if the file or one of its settings cannot be read.
    pub fn read() -> Result<Self> {
        let folder = folders::settings_dir(|name| std::env::var_os(name));
        let path = folder.map(|folder| folder.join("lcp").join("config.toml"));
        let Some(path) = path.filter(|path| path.exists()) else { return Ok(Self::default()) };
        let text = read_text(&path, false)?;
        Self::parse(&text).map_err(|error| invalid(&path, error))
    }

    fn parse(text: &str) -> Result<Self, ConfigError> {
        let offsets = reader::Offsets::default();
        let mut root = Section::parse(text, &offsets)?;
        let mut settings = Self::default();
        if let Some(mut section) = root.section("pack")? {
            settings.converters = pack::converters(&mut section)?;
            section.finish()?;
        }
        root.finish()?;
        Ok(settings)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(text: &str) -> String {
        UserSettings::parse(text).unwrap_err().to_string()
    }

    #[test]
    fn commands_are_read_in_order() {
        let text = "[[pack.convert]]\nglob = '*.pdf'\ncommand = 'pdftotext {} -'\n\
                    [[pack.convert]]\nglob = '*.gz'\ncommand = 'gzip -dc'\n";
        let commands = [("*.pdf", "pdftotext {} -"), ("*.gz", "gzip -dc")].map(|(glob, line)| {
            ConvertCommand::new(lcp_ingest::Pattern::parse(glob).unwrap(), line).unwrap()
        });
        assert_eq!(UserSettings::parse(text).unwrap().converters, commands);
        assert_eq!(UserSettings::parse("").unwrap(), UserSettings::default());
    }

    #[test]
    fn invalid_settings_are_errors() {
        let item = "[[pack.convert]]\n";
        for (text, wanted) in [
            ("[context]\n", "unknown key context; expected one of pack, at line 1, column 2"),
            ("[pack]\nhidden = true\n", "unknown key pack.hidden; expected one of pack.convert"),
            (item, "pack.convert: must have a glob"),
            ("[[pack.convert]]\nglob = '*'\n", "pack.convert: must have a command"),
            (
                "[[pack.convert]]\nglob = '*'\ncommand = ''\n",
                "pack.convert.command: the command must not be empty, at line 3, column 1",
            ),
        ] {
            assert!(error(text).contains(wanted), "{}", error(text));
        }
    }
}
