//! Detects the type of a file from its name or first line, and whether it is generated.

use std::path::Path;

use lcp_types::{Block, DataFormat, FormatHint, Lang, MediaType, RecordForm, Tag};
use serde::de::IgnoredAny;

use crate::outline::InputKind::{self, TaggedCode};

/// The number of bytes at the start of a file to search for a NUL, which marks a binary file.
pub(crate) const BINARY_SNIFF_BYTES: usize = 8 << 10;

/// The type of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileType {
    /// Source code, or settings and other data that are not records.
    Code(Lang),
    /// A table or a list of records. It becomes a STRUCTURED_DATA block with the path as a tag.
    Data(DataFormat),
    /// Prose in a format.
    Document(FormatHint),
    /// An image of a media type.
    Image(MediaType),
}

use FileType::{Code, Data, Document, Image};

impl FileType {
    /// Detects the type of a file from its label and the start of its text.
    #[must_use]
    pub fn detect(label: &str, text: &[u8]) -> Self {
        let name = label.rsplit('/').next().unwrap_or(label);
        find_type(NAMES, name)
            .or_else(|| by_extension(name))
            .or_else(|| by_stem(name))
            .or_else(|| by_first_line(text))
            .unwrap_or(Code(Lang::Unknown))
    }

    /// Decides by the complete text whether the file has records.
    pub(crate) fn with_records(self, text: &str) -> Self {
        match self {
            Data(format) if RecordForm::detect(format, text).is_none() => Code(self.lang()),
            Code(Lang::Json) if is_large_array(text) => Data(DataFormat::Json),
            _ => self,
        }
    }

    /// Returns the language of the text.
    #[must_use]
    pub fn lang(self) -> Lang {
        match self {
            Code(lang) => lang,
            Document(FormatHint::Markdown) => Lang::Markdown,
            Document(FormatHint::Html) => Lang::Html,
            Data(DataFormat::Json) => Lang::Json,
            Data(_) | Document(_) | Image(_) => Lang::Unknown,
        }
    }

    /// Returns the language for the tag [`Tag::LANG`] of a CODE block without a known language, by
    /// the extension of its label.
    #[must_use]
    pub fn tagged_lang(self, label: &str) -> Option<&'static str> {
        if self != Code(Lang::Unknown) {
            return None;
        }
        let extension = Path::new(label).extension()?.to_str()?.to_ascii_lowercase();
        let [csharp, kotlin] = Tag::LANGS;
        match extension.as_str() {
            "cs" | "csx" => Some(csharp),
            "kt" | "kts" => Some(kotlin),
            _ => None,
        }
    }

    /// Returns the kind of input for an outline of the file with this label.
    pub(crate) fn input_kind(self, label: &str) -> InputKind {
        match self {
            Code(lang) => self.tagged_lang(label).map_or(InputKind::Code(lang), TaggedCode),
            Data(format) => InputKind::Records(format),
            Document(FormatHint::Markdown) => InputKind::Document,
            Document(_) | Image(_) => InputKind::Text,
        }
    }

    /// Returns the names of the block type and of the format.
    pub(crate) fn names(self) -> (&'static str, Option<&'static str>) {
        match self {
            Code(lang) => ("code", lang.name()),
            Data(format) => ("data", format.name()),
            Document(format) => ("document", format.name()),
            Image(media) => ("image", media.name()),
        }
    }

    /// Returns whether the data begins like an image of this type.
    pub(crate) fn matches_image(self, data: &[u8]) -> bool {
        match self {
            Image(MediaType::Png) => data.starts_with(b"\x89PNG\r\n\x1a\n"),
            Image(MediaType::Jpeg) => data.starts_with(b"\xff\xd8\xff"),
            Image(MediaType::Gif) => data.starts_with(b"GIF8"),
            Image(MediaType::Webp) => data.starts_with(b"RIFF") && data.get(8..12) == Some(b"WEBP"),
            Image(MediaType::Svg) => {
                let beginning =
                    String::from_utf8_lossy(&data[..data.len().min(BINARY_SNIFF_BYTES)]);
                beginning.contains("<svg")
            }
            _ => false,
        }
    }

    pub(crate) fn into_block(self, label: String, bytes: Vec<u8>) -> Block<'static> {
        match self {
            Code(lang) => Block::code(lang, label, bytes),
            Data(format) => Block::structured_data(format, bytes),
            Document(format) => Block::document(label, bytes, format),
            Image(media) => Block::image(media, label, bytes),
        }
    }
}

fn by_extension(name: &str) -> Option<FileType> {
    let extension = Path::new(name).extension()?.to_str()?.to_ascii_lowercase();
    find_type(EXTENSIONS, &extension)
}

fn find_type(table: &[(FileType, &[&str])], name: &str) -> Option<FileType> {
    table.iter().find(|(_, names)| names.contains(&name)).map(|(kind, _)| *kind)
}

/// Returns the type of prose files with conventional names in capitals, such as `LICENSE-MIT` and
/// `README`.
fn by_stem(name: &str) -> Option<FileType> {
    let stem = name.split(['-', '.', '_']).next().unwrap_or(name);
    PROSE.split(' ').any(|name| name == stem).then_some(Document(FormatHint::Plain))
}

fn by_first_line(text: &[u8]) -> Option<FileType> {
    let line = text.strip_prefix(b"#!")?.split(|byte| *byte == b'\n').next()?;
    let line = std::str::from_utf8(line).ok()?;
    let mut words =
        line.split_ascii_whitespace().map(|word| word.rsplit('/').next().unwrap_or(word));
    let mut program = words.next()?;
    if program == "env" {
        program = words.find(|word| !word.starts_with('-') && !word.contains('='))?;
    }
    // The version is not part of the name: `python3.12` is Python.
    let program = program.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    let known = INTERPRETERS.iter().find(|(_, programs)| programs.contains(&program));
    known.map(|(lang, _)| Code(*lang))
}

/// The number of lines to search for a comment that the file is generated.
const LINES: usize = 20;

/// The number of bytes to search for that comment.
const BEGINNING: usize = 4 << 10;

/// The average line length, in bytes, from which a text counts as minified. The text must have at
/// least twice as many bytes.
const LONG_LINE: usize = 1_000;

/// Returns whether a comment near the top says that the text is generated.
pub(crate) fn is_generated(text: &[u8]) -> bool {
    let beginning = String::from_utf8_lossy(&text[..text.len().min(BEGINNING)]);
    let is_notice = |line: &str| {
        line.contains(concat!("@", "generated"))
            || (line.contains("DO NOT EDIT") && line.to_ascii_lowercase().contains("generated"))
    };
    beginning.lines().take(LINES).any(is_notice)
}

/// The size in bytes and the number of objects from which a JSON array is data. Smaller ones are
/// often settings or fixtures that are read as code.
const ARRAY_BYTES_MIN: usize = 32 << 10;
const ARRAY_OBJECTS_MIN: usize = 100;

/// Returns whether a text is a large JSON array of objects.
fn is_large_array(text: &str) -> bool {
    if text.len() < ARRAY_BYTES_MIN || !text.trim_ascii_start().starts_with('[') {
        return false;
    }
    let Some(form @ RecordForm::JsonArray) = RecordForm::detect(DataFormat::Json, text) else {
        return false;
    };
    let mut objects = 0;
    for record in form.records(text) {
        if text.as_bytes()[record.start] != b'{' {
            return false;
        }
        objects += 1;
    }
    objects >= ARRAY_OBJECTS_MIN && serde_json::from_str::<IgnoredAny>(text).is_ok()
}

/// Returns whether the lines are so long that only a minifier can have written them.
pub(crate) fn is_minified(text: &[u8]) -> bool {
    let lines = text.split_inclusive(|byte| *byte == b'\n').count();
    text.len() >= 2 * LONG_LINE && text.len() / lines.max(1) >= LONG_LINE
}

/// The types by extension, in lower case.
const EXTENSIONS: &[(FileType, &[&str])] = &[
    (Code(Lang::Rust), &["rs"]),
    (Code(Lang::TypeScript), &["ts", "tsx", "mts", "cts"]),
    (Code(Lang::JavaScript), &["js", "jsx", "mjs", "cjs"]),
    (Code(Lang::Python), &["py", "pyi", "pyw"]),
    (Code(Lang::Go), &["go"]),
    (Code(Lang::Java), &["java"]),
    (Code(Lang::C), &["c", "h"]),
    (Code(Lang::Cpp), &["cc", "cpp", "cxx", "c++", "hh", "hpp", "hxx", "h++", "ipp", "tpp", "inl"]),
    (Code(Lang::Ruby), &["rb", "rake", "gemspec", "ru"]),
    (Code(Lang::Shell), &["sh", "bash", "zsh", "ksh", "dash", "bats"]),
    (Code(Lang::Sql), &["sql"]),
    (Code(Lang::Html), &["html", "htm", "xhtml"]),
    (Code(Lang::Css), &["css", "scss", "less"]),
    (Code(Lang::Json), &["json", "jsonc", "json5", "geojson", "webmanifest", "ipynb"]),
    (Data(DataFormat::Csv), &["csv", "tsv", "tab"]),
    (Data(DataFormat::Json), &["jsonl", "ndjson"]),
    (Code(Lang::Yaml), &["yaml", "yml"]),
    (Code(Lang::Toml), &["toml"]),
    (Document(FormatHint::Markdown), &["md", "markdown", "mdown", "mkd", "mdx"]),
    (Document(FormatHint::Plain), &["txt", "text", "rst", "adoc", "asciidoc", "org", "textile"]),
    (Image(MediaType::Png), &["png"]),
    (Image(MediaType::Jpeg), &["jpg", "jpeg"]),
    (Image(MediaType::Gif), &["gif"]),
    (Image(MediaType::Webp), &["webp"]),
    (Image(MediaType::Svg), &["svg"]),
];

/// The types by full name, for files whose extension is missing or misleading.
const NAMES: &[(FileType, &[&str])] = &[
    (Code(Lang::Shell), &[".bash_profile", ".bashrc", ".profile", ".zshrc", "PKGBUILD"]),
    (
        Code(Lang::Json),
        &[".babelrc", ".eslintrc", ".prettierrc", "Pipfile.lock", "composer.lock", "flake.lock"],
    ),
    (Code(Lang::Yaml), &[".clang-format"]),
    (Code(Lang::Unknown), &["CMakeLists.txt", "constraints.txt", "requirements.txt", "robots.txt"]),
    (Code(Lang::Toml), &["Cargo.lock", "Pipfile", "poetry.lock", "uv.lock"]),
    (Code(Lang::Ruby), &["Gemfile", "Rakefile", "Vagrantfile"]),
    (Code(Lang::Python), &["SConstruct"]),
];

/// The names of prose files, up to the first `-`, `.` or `_`.
const PROSE: &str = "AUTHORS CHANGELOG CHANGES CODE CONTRIBUTING CONTRIBUTORS COPYING COPYRIGHT HISTORY INSTALL \
    LICENCE LICENSE MAINTAINERS NEWS NOTICE README SECURITY THANKS TODO UNLICENSE";

/// The languages by the program in the first line (`#!`), without its version.
const INTERPRETERS: &[(Lang, &[&str])] = &[
    (Lang::Shell, &["sh", "bash", "zsh", "ksh", "dash", "ash", "bats"]),
    (Lang::Python, &["python", "pypy"]),
    (Lang::Ruby, &["ruby"]),
    (Lang::JavaScript, &["node", "nodejs", "bun"]),
    (Lang::TypeScript, &["deno", "ts-node", "tsx"]),
    (Lang::Rust, &["rust-script"]),
];

#[cfg(test)]
mod tests;
