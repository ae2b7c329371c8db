//! `[pack]`: the selection of files and their attributes (RFC 0010 §3).

use lcp_ingest::{
    BlockAttributes, Charset, ConvertCommand, Pattern, Rule, SecretException, SecretPolicy,
};
use lcp_types::Priority;

use super::reader::{Entry, Result, Section};

/// The error for commands in an `lcp.toml`.
pub(super) const NO_COMMANDS: &str = "an lcp.toml cannot set commands";

/// The settings for new packs.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PackSettings {
    /// `true` if hidden files are packed.
    pub hidden: bool,
    /// The maximum size of a file in bytes.
    pub max_file_size: Option<u64>,
    /// The maximum total size of the packed files in bytes.
    pub max_total_size: Option<u64>,
    /// If not empty, only files that match are packed.
    pub include: Vec<Pattern>,
    /// Patterns of files that are not packed.
    pub exclude: Vec<Pattern>,
    /// `true` if files get an outline as a summary.
    pub summarize: bool,
    /// `true` if notebooks are packed as they are.
    pub raw_notebooks: bool,
    /// The character sets of files; the last match wins.
    pub charsets: Vec<(Pattern, Charset)>,
    /// The treatment of secrets.
    pub secrets: SecretPolicy,
    /// Secrets that are neither reported nor replaced.
    pub secret_exceptions: Vec<SecretException>,
    /// Priorities, categories, ranks and pins of files; the last match wins.
    pub rules: Vec<Rule>,
}

impl PackSettings {
    pub(super) fn read(root: &mut Section<'_>) -> Result<Self> {
        let Some(mut section) = root.section("pack")? else { return Ok(Self::default()) };
        let summaries = [("off", false), ("outline", true)];
        let notebooks = [("cells", false), ("raw", true)];
        let policies = SecretPolicy::ALL.map(|policy| (policy.name(), policy));
        if let Some(entry) = section.take("convert") {
            // A folder of other people must not run commands.
            return Err(entry.key_error(NO_COMMANDS));
        }
        let settings = Self {
            hidden: section.boolean("hidden")?.unwrap_or(false),
            max_file_size: section.take("max_file_size").map(|entry| size(&entry)).transpose()?,
            max_total_size: section.take("max_total_size").map(|entry| size(&entry)).transpose()?,
            include: patterns(section.take("include"))?,
            exclude: patterns(section.take("exclude"))?,
            summarize: section.choice("summarize", &summaries)?.unwrap_or(false),
            raw_notebooks: section.choice("notebooks", &notebooks)?.unwrap_or_default(),
            charsets: items(section.take("charset"))?.iter().map(charset).collect::<Result<_>>()?,
            secrets: section.choice("secrets", &policies)?.unwrap_or_default(),
            secret_exceptions: items(section.take("allow_secret"))?
                .iter()
                .map(secret_exception)
                .collect::<Result<_>>()?,
            rules: items(section.take("rule"))?.iter().map(rule).collect::<Result<_>>()?,
        };
        section.finish()?;
        Ok(settings)
    }
}

/// Reads `[[pack.convert]]` of the user's settings.
pub(super) fn converters(section: &mut Section<'_>) -> Result<Vec<ConvertCommand>> {
    items(section.take("convert"))?.iter().map(converter).collect()
}

fn converter(entry: &Entry<'_>) -> Result<ConvertCommand> {
    let mut section = entry.section()?;
    let glob = section.take("glob").ok_or_else(|| entry.key_error("must have a glob"))?;
    let command = section.take("command").ok_or_else(|| entry.key_error("must have a command"))?;
    section.finish()?;
    let line = command.text()?;
    ConvertCommand::new(pattern(&glob)?, &line).map_err(|error| command.key_error(error))
}

fn items(entry: Option<Entry<'_>>) -> Result<Vec<Entry<'_>>> {
    entry.map(Entry::items).transpose().map(Option::unwrap_or_default)
}

fn size(entry: &Entry<'_>) -> Result<u64> {
    parse_size(&entry.text()?).map_err(|error| entry.value_error(&format!("is invalid: {error}")))
}

fn patterns(entry: Option<Entry<'_>>) -> Result<Vec<Pattern>> {
    items(entry)?.iter().map(pattern).collect()
}

fn pattern(entry: &Entry<'_>) -> Result<Pattern> {
    Pattern::parse(&entry.text()?).map_err(|error| entry.key_error(error))
}

fn charset(entry: &Entry<'_>) -> Result<(Pattern, Charset)> {
    let mut section = entry.section()?;
    let glob = section.take("glob").ok_or_else(|| entry.key_error("must have a glob"))?;
    let name = section.take("name").ok_or_else(|| entry.key_error("must have a name"))?;
    section.finish()?;
    let charset = Charset::from_name(&name.text()?);
    let charset = charset.ok_or_else(|| name.value_error("is not a known character set"))?;
    Ok((pattern(&glob)?, charset))
}

fn secret_exception(entry: &Entry<'_>) -> Result<SecretException> {
    let mut section = entry.section()?;
    let pattern = section.take("glob").map(|entry| pattern(&entry)).transpose()?;
    let kind = section.take("kind").map(|entry| secret_kind(&entry)).transpose()?;
    section.finish()?;
    if pattern.is_none() && kind.is_none() {
        return Err(entry.key_error("must set glob or kind"));
    }
    Ok(SecretException { pattern, kind })
}

fn secret_kind(entry: &Entry<'_>) -> Result<String> {
    let kind = entry.text()?;
    if lcp_secrets::kinds().contains(&kind.as_str()) {
        return Ok(kind);
    }
    Err(entry.value_error("is not a kind of secret"))
}

fn rule(entry: &Entry<'_>) -> Result<Rule> {
    let mut section = entry.section()?;
    let glob = section.take("glob").ok_or_else(|| entry.key_error("must have a glob"))?;
    let priorities = Priority::ALL.map(|priority| (priority.name(), priority));
    let priority = section.choice("priority", &priorities)?;
    let category = section.take("category").map(|entry| category(&entry)).transpose()?;
    let attributes = BlockAttributes {
        priority,
        category,
        rank: section.number("rank", f64::is_finite, "must be finite")?,
        pinned: section.boolean("pinned")?,
    };
    section.finish()?;
    if attributes.is_empty() {
        return Err(entry.key_error("must set priority, category, rank or pinned"));
    }
    Ok(Rule { pattern: pattern(&glob)?, attributes })
}

fn category(entry: &Entry<'_>) -> Result<String> {
    let name = entry.text()?;
    if name.is_empty() { Err(entry.value_error("must not be empty")) } else { Ok(name) }
}

/// Parses a number of bytes such as `4096`, `500k` or `2M`, with units of 1,024.
///
/// # Errors
///
/// Returns a message for users if the text is not such a number.
pub fn parse_size(value: &str) -> Result<u64, String> {
    const UNITS: [(char, u32); 4] = [('k', 10), ('m', 20), ('g', 30), ('t', 40)];
    let end = value.chars().next_back().map(|unit| unit.to_ascii_lowercase());
    let unit = UNITS.iter().find(|(unit, _)| Some(*unit) == end);
    let (number, shift) = match unit {
        Some((_, shift)) => (&value[..value.len() - 1], *shift),
        None => (value, 0),
    };
    let number = number.parse::<u64>().ok().filter(|_| !number.starts_with('+'));
    let bytes = number.and_then(|number| number.checked_mul(1 << shift));
    let bytes = bytes.filter(|bytes| *bytes > 0);
    bytes.ok_or_else(|| "expected a number of bytes, such as 4096, 500k or 2M".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parse_size_accepts_units() {
        for (text, wanted) in [("1", 1), ("500k", 512_000), ("2M", 2 << 20), ("1g", 1 << 30)] {
            assert_eq!(parse_size(text), Ok(wanted), "{text}");
        }
        for text in ["", "0", "k", "-1", "+1", "1.5M", "1kk", "99999999999t", "1 k", "1ä"] {
            assert!(parse_size(text).is_err(), "{text}");
        }
    }
}
