//! Parsing of blocks from JSON, as a [`FieldReader`].

use std::borrow::Cow;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use lcp_types::codec::{FieldReader, FieldSpec, Record};
use lcp_types::limits::MANIFEST_DEPTH_MAX;
use lcp_types::wire::{BLOCK_RESERVED, WireType};
use lcp_types::{
    Block, BlockContent, BlockType, CarriedLevel, CowBytes, Priority, RawBlock, Tag, UnknownField,
    UnknownValue,
};
use serde_json::{Map, Value};

use super::{DEFAULTS, Entry, FileLoader, Manifest, ManifestError, ManifestErrorKind};

type Result<T, E = ManifestError> = std::result::Result<T, E>;

pub(super) fn manifest(json: &[u8], load: &mut FileLoader<'_>) -> Result<Manifest> {
    check_depth(json)?;
    let mut parser = serde_json::Deserializer::from_slice(json);
    parser.disable_recursion_limit();
    let value = <Value as serde::Deserialize>::deserialize(&mut parser)
        .and_then(|value| parser.end().map(|()| value))
        .map_err(|error| ManifestError::new("", not_json(&error)))?;
    let mut top = Object::new(value, "", load)?;
    let blocks = top.take("blocks").ok_or_else(|| top.no_key("blocks"))?;
    top.no_more(&["blocks"])?;
    let mut entries = Vec::new();
    for (i, value) in array(blocks, "blocks")?.into_iter().enumerate() {
        entries.push(entry(value, &format!("blocks[{i}]"), load)?);
    }
    annotations_once(&entries)?;
    Ok(Manifest { entries })
}

/// Describes JSON that cannot be parsed, with the position at the end.
fn not_json(error: &serde_json::Error) -> String {
    let (line, column) = (error.line(), error.column());
    let text = error.to_string();
    let cause = text.strip_suffix(&format!(" at line {line} column {column}")).unwrap_or(&text);
    format!("not valid JSON: {cause} (line {line}, column {column})")
}

/// Rejects deeply nested input, which would overflow the stack of the recursive parser.
fn check_depth(json: &[u8]) -> Result<()> {
    let (mut depth, mut in_string, mut escaped) = (0usize, false, false);
    for &byte in json {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_string => escaped = true,
            b'"' => in_string = !in_string,
            b'[' | b'{' if !in_string => depth += 1,
            b']' | b'}' if !in_string => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth > MANIFEST_DEPTH_MAX {
            let message = format!("nesting exceeds MANIFEST_DEPTH_MAX ({MANIFEST_DEPTH_MAX})");
            return Err(ManifestError::new("", message).with_kind(ManifestErrorKind::Limit));
        }
    }
    Ok(())
}

/// Rejects manifests that use both annotation blocks and annotation keys, because the blocks that
/// the keys add would shift the targets of the annotation blocks.
fn annotations_once(entries: &[Entry]) -> Result<()> {
    let is_explicit = entries.iter().any(|entry| entry.block.as_annotation().is_some());
    match entries.iter().position(Entry::has_annotations) {
        Some(i) if is_explicit => Err(ManifestError::new(
            format!("blocks[{i}]"),
            "priority, tags and levels cannot be used in a manifest with annotation blocks; write them as blocks too",
        )),
        _ => Ok(()),
    }
}

fn entry(value: Value, path: &str, load: &mut FileLoader<'_>) -> Result<Entry> {
    let mut object = Object::new(value, path, load)?;
    object.common = COMMON;
    let name = object.take_string("type")?.ok_or_else(|| object.no_key("type"))?;
    let summary = object.take_string("summary")?.map(Cow::Owned);
    let priority = match object.take_string("priority")? {
        None => None,
        Some(name) => Some(Priority::from_name(&name).ok_or_else(|| {
            object.unknown_value("priority", &name, Priority::ALL.map(Priority::name).into_iter())
        })?),
    };
    let mut tags = Vec::new();
    if let Some(values) = object.take("tags") {
        for value in array(values, &object.path_of("tags"))? {
            let Value::String(tag) = value else {
                return Err(object.fail("tags", "must be strings: \"key=value\" or \"key\""));
            };
            let Tag { key, value } = Tag::parse(&tag);
            let value = value.map(|value| value.into_owned().into());
            tags.push(Tag { key: key.into_owned().into(), value });
        }
    }
    let levels = levels(&mut object)?;
    let reserved_flags = object.take_reserved_flags()?;
    let mut absent = Vec::new();
    let content = if name == "raw" {
        object.raw()?
    } else {
        let Some(block_type) = BlockType::from_name(&name) else {
            let names = BlockType::ALL.iter().map(|ty| ty.name()).chain(["raw"]);
            return Err(object.unknown_value("type", &name, names));
        };
        if block_type == BlockType::Code {
            tags.extend(object.take_tagged_lang());
        }
        for (_, key, value) in DEFAULTS.iter().filter(|(of, ..)| *of == block_type) {
            if !object.map.contains_key(*key) {
                object.map.insert((*key).to_owned(), (*value).into());
                absent.push(*key);
            }
        }
        // Every type in `ALL` has fields.
        BlockContent::read(block_type, &mut object)?
            .ok_or_else(|| object.fail("type", "has no fields"))?
    };
    let block = Block { summary, content, reserved_flags };
    Ok(Entry { block, priority, tags, levels, absent })
}

fn levels(object: &mut Object<'_, '_>) -> Result<Vec<(CarriedLevel, String)>> {
    let Some(value) = object.take("levels") else {
        return Ok(Vec::new());
    };
    let Value::Object(levels) = value else {
        return Err(object.fail("levels", "must be an object"));
    };
    let path = |name: &str| object.path_of(&format!("levels.{name}"));
    let mut texts = Vec::new();
    for (name, text) in levels {
        let Some(level) = CarriedLevel::from_name(&name) else {
            let names = CarriedLevel::ALL.map(CarriedLevel::name).join(", ");
            let message = format!("unknown key; expected one of: {names}");
            return Err(ManifestError::new(path(&name), message));
        };
        let Value::String(text) = text else {
            return Err(ManifestError::new(path(&name), "must be a string"));
        };
        texts.push((level, text));
    }
    Ok(texts)
}

fn array(value: Value, path: &str) -> Result<Vec<Value>> {
    let Value::Array(items) = value else {
        return Err(ManifestError::new(path, "must be an array"));
    };
    Ok(items)
}

/// The keys of all block types, in addition to those of each type.
const COMMON: &[&str] = &["summary", "priority", "tags", "levels", "reserved_flags"];

/// The suffixes of keys whose values are base64 or file names.
const BASE64: &str = "_base64";
const FILE: &str = "_file";

/// A JSON object whose keys are removed one by one. A remaining key is an error.
struct Object<'l, 'f> {
    path: String,
    map: Map<String, Value>,
    load: &'l mut FileLoader<'f>,
    /// The keys that are removed before the fields are read.
    common: &'static [&'static str],
    field: &'static str,
    /// The part of the key after the name of the field: empty, [`BASE64`] or [`FILE`].
    suffix: &'static str,
    value: Value,
}

impl<'l, 'f> Object<'l, 'f> {
    fn new(value: Value, path: &str, load: &'l mut FileLoader<'f>) -> Result<Self> {
        let Value::Object(map) = value else {
            let what = if path.is_empty() { "manifest " } else { "" };
            return Err(ManifestError::new(path, format!("{what}must be an object")));
        };
        let path = path.to_owned();
        Ok(Self { path, map, load, common: &[], field: "", suffix: "", value: Value::Null })
    }

    fn path_of(&self, key: &str) -> String {
        match (self.path.as_str(), key) {
            ("", key) => key.to_owned(),
            (path, "") => path.to_owned(),
            (path, key) => format!("{path}.{key}"),
        }
    }

    fn fail(&self, key: &str, message: impl Into<String>) -> ManifestError {
        ManifestError::new(self.path_of(key), message)
    }

    fn no_key(&self, key: &str) -> ManifestError {
        self.fail("", format!("missing key `{key}`"))
    }

    fn unknown_value<'n>(
        &self,
        key: &str,
        found: &str,
        names: impl Iterator<Item = &'n str>,
    ) -> ManifestError {
        let names: Vec<_> = names.collect();
        self.fail(key, format!("unknown value {found:?}; expected one of: {}", names.join(", ")))
    }

    fn take(&mut self, key: &str) -> Option<Value> {
        self.map.remove(key)
    }

    /// Replaces a language that has no code in the wire format by the unknown one, and returns it as
    /// a tag.
    fn take_tagged_lang(&mut self) -> Option<Tag<'static>> {
        let value = self.map.get_mut(Tag::LANG)?;
        let name = value.as_str().and_then(Tag::known_lang)?;
        *value = "unknown".into();
        Some(Tag::new(Tag::LANG, name))
    }

    fn take_string(&mut self, key: &str) -> Result<Option<String>> {
        match self.take(key) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(_) => Err(self.fail(key, "must be a string")),
        }
    }

    fn take_reserved_flags(&mut self) -> Result<u8> {
        match self.take("reserved_flags") {
            None => Ok(0),
            Some(value) => value
                .as_u64()
                .and_then(|flags| u8::try_from(flags).ok())
                .filter(|flags| flags & !BLOCK_RESERVED == 0)
                .ok_or_else(|| self.fail("reserved_flags", "must contain only reserved bits")),
        }
    }

    fn no_more(&self, known: &[&str]) -> Result<()> {
        match self.map.keys().next() {
            None => Ok(()),
            Some(key) => {
                let known = [known, self.common].concat().join(", ");
                Err(self.fail(key, format!("unknown key; expected one of: {known}")))
            }
        }
    }

    fn raw(&mut self) -> Result<BlockContent<'static>> {
        let type_id = match self.take("type_id").and_then(|value| value.as_u64()) {
            Some(id) => u8::try_from(id)
                .map_err(|_| self.fail("type_id", "must be an integer from 0 to 255"))?,
            None => return Err(self.fail("type_id", "must be a number")),
        };
        if !self.select("body", WireType::Bytes)? {
            return Err(self.no_key("body_base64"));
        }
        let body = FieldReader::bytes(self)?;
        self.no_more(&["type_id", "body_base64"])?;
        Ok(BlockContent::Raw(RawBlock { type_id, body }))
    }

    /// Makes a field the current one, in any of its forms. Returns whether the field exists.
    fn select(&mut self, field: &'static str, wire: WireType) -> Result<bool> {
        let mut found = false;
        let suffixes = if wire == WireType::Bytes { &["", BASE64, FILE][..] } else { &[""] };
        for suffix in suffixes {
            let key = format!("{field}{suffix}");
            let Some(value) = self.map.remove(&key) else {
                continue;
            };
            if found {
                return Err(self.fail(&key, format!("conflicts with {}", self.key())));
            }
            (self.field, self.suffix, self.value) = (field, suffix, value);
            found = true;
        }
        Ok(found)
    }

    /// Returns the key of the current field.
    fn key(&self) -> String {
        format!("{}{}", self.field, self.suffix)
    }

    fn base64(&self, key: &str, text: &str) -> Result<Vec<u8>> {
        BASE64_STANDARD
            .decode(text)
            .map_err(|error| self.fail(key, format!("invalid base64: {error}")))
    }
}

impl FieldReader<'static> for Object<'_, '_> {
    type Error = ManifestError;

    fn next_field(&mut self, specs: &'static [FieldSpec]) -> Result<Option<u64>> {
        for spec in specs {
            if self.select(spec.name, spec.wire)? {
                return Ok(Some(spec.id));
            }
        }
        // A remaining key other than `unknown_fields` is not a field of this record.
        let known: Vec<_> = specs.iter().map(|spec| spec.name).collect();
        let unknown = self.map.remove("unknown_fields");
        let checked = self.no_more(&known);
        if let Some(unknown) = unknown {
            self.map.insert("unknown_fields".to_owned(), unknown);
        }
        checked.map(|()| None)
    }

    fn uint(&mut self, max: u64) -> Result<u64> {
        match self.value.as_u64() {
            Some(value) if value <= max => Ok(value),
            _ => Err(self.fail(self.field, format!("must be an integer from 0 to {max}"))),
        }
    }

    fn code(&mut self, names: &'static [(u8, &'static str)]) -> Result<u8> {
        let Value::String(found) = &self.value else {
            return self.uint(u64::from(u8::MAX)).map(|code| u8::try_from(code).unwrap_or(u8::MAX));
        };
        match names.iter().find(|(_, name)| name == found) {
            Some((code, _)) => Ok(*code),
            None => Err(self.unknown_value(self.field, found, names.iter().map(|(_, name)| *name))),
        }
    }

    fn text(&mut self) -> Result<Cow<'static, str>> {
        let bytes = FieldReader::bytes(self)?.into_cow().into_owned();
        String::from_utf8(bytes)
            .map(Cow::Owned)
            .map_err(|_| self.fail(&self.key(), "must be UTF-8"))
    }

    fn bytes(&mut self) -> Result<CowBytes<'static>> {
        let Value::String(text) = std::mem::take(&mut self.value) else {
            return Err(self.fail(&self.key(), "must be a string"));
        };
        match self.suffix {
            BASE64 => self.base64(&self.key(), &text).map(CowBytes::from),
            FILE => (self.load)(&text).map(CowBytes::from).map_err(|error| {
                self.fail(&self.key(), format!("cannot read {text:?}: {error}"))
                    .with_kind(ManifestErrorKind::Io)
            }),
            _ => Ok(text.into()),
        }
    }

    fn records<T: Record<'static>>(&mut self, into: &mut Vec<T>) -> Result<()> {
        let place = self.path_of(self.field);
        for (i, mut value) in
            array(std::mem::take(&mut self.value), &place)?.into_iter().enumerate()
        {
            if let (true, Value::Object(map)) = (T::NAME == "FileEntry", &mut value) {
                let kind = if map.contains_key("children") { "directory" } else { "file" };
                map.entry("kind").or_insert_with(|| kind.into());
                map.entry("size").or_insert_with(|| 0.into());
            }
            let mut nested = Object::new(value, &format!("{place}[{i}]"), self.load)?;
            into.push(T::read(&mut nested)?);
        }
        Ok(())
    }

    fn missing(&self, field: &'static str) -> ManifestError {
        self.no_key(field)
    }

    fn take_unknown(&mut self) -> Result<Vec<UnknownField<'static>>> {
        let Some(values) = self.take("unknown_fields") else {
            return Ok(Vec::new());
        };
        let place = self.path_of("unknown_fields");
        let mut fields = Vec::new();
        for (i, value) in array(values, &place)?.into_iter().enumerate() {
            let path = format!("{place}[{i}]");
            let mut object = Object::new(value, &path, self.load)?;
            let id = object.take("id").and_then(|id| id.as_u64());
            let id = id.ok_or_else(|| object.fail("id", "must be a number"))?;
            let value = if let Some(value) = object.take("varint") {
                let value = value.as_u64();
                UnknownValue::Varint(
                    value.ok_or_else(|| object.fail("varint", "must be a number"))?,
                )
            } else if let Some(text) = object.take_string("bytes_base64")? {
                UnknownValue::Bytes(object.base64("bytes_base64", &text)?.into())
            } else if let Some(text) = object.take_string("nested_base64")? {
                UnknownValue::Nested(object.base64("nested_base64", &text)?.into())
            } else {
                return Err(
                    object.fail("", "missing key `varint`, `bytes_base64` or `nested_base64`")
                );
            };
            object.no_more(&["id", "varint", "bytes_base64", "nested_base64"])?;
            fields.push(UnknownField { id, value });
        }
        Ok(fields)
    }
}
