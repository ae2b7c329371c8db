//! The JSON Schemas of `docs/schemas/`: every report is valid, and every schema and every property
//! belongs to a report.

mod reports;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use boon::{Compiler, SchemaIndex, Schemas};
use lcp_driver::{OutputMode, Verbosity};
use lcp_ingest::SkipReason;
use lcp_testkit::cli_harness::root;
use lcp_transcripts::{Format, Provider};
use lcp_types::{BlockType, DuplicateKind, Priority};
use serde_json::{Value, json};

/// Formats that commands store and read again, but do not print.
const STORED: [&str; 2] = ["lcp.plan.v1", "lcp.answer.v1"];

/// Values that the schemas allow, but that no command of the test prints.
const NOT_SEEN: [&str; 0] = [];

/// The schemas, and the parts of them that reports have.
struct Validator {
    documents: BTreeMap<String, Value>,
    compiled: Schemas,
    indices: BTreeMap<String, SchemaIndex>,
    /// The names of schemas that a report was checked against.
    checked: BTreeSet<String>,
    /// Each property that a report has, as [`seen_as`] names it.
    seen: BTreeSet<String>,
}

impl Validator {
    fn new() -> Self {
        let documents = documents();
        let (mut compiler, mut schemas) = (Compiler::new(), Schemas::new());
        compiler.enable_format_assertions();
        for (name, document) in &documents {
            compiler.add_resource(&id(name), document.clone()).unwrap();
        }
        let compile = |name: &String| {
            let index = compiler.compile(&id(name), &mut schemas);
            (name.clone(), index.unwrap_or_else(|error| panic!("{name}: {error:#}")))
        };
        let indices = documents.keys().map(compile).collect();
        Self {
            documents,
            compiled: schemas,
            indices,
            checked: BTreeSet::new(),
            seen: BTreeSet::new(),
        }
    }

    /// Checks that a report of this name is valid. `source` says where it comes from.
    #[track_caller]
    fn check(&mut self, name: &str, report: &Value, source: &str) {
        assert_eq!(report["schema"], name, "{source}: {report:#}");
        let Some(index) = self.indices.get(name) else { panic!("{} is missing", file_name(name)) };
        if let Err(error) = self.compiled.validate(report, *index) {
            panic!("{source}: {error:#}");
        }
        self.checked.insert(name.to_owned());
        mark_seen(name, &self.documents[name], "", report, &mut self.seen);
    }
}

/// Adds the properties that `value` has by the schema at this pointer.
fn mark_seen(name: &str, document: &Value, at: &str, value: &Value, seen: &mut BTreeSet<String>) {
    let Some(schema) = document.pointer(at) else { panic!("{name}#{at} does not exist") };
    if let Some(target) = schema["$ref"].as_str() {
        mark_seen(name, document, target.trim_start_matches('#'), value, seen);
    }
    for alternative in 0..schema["anyOf"].as_array().map_or(0, Vec::len) {
        mark_seen(name, document, &format!("{at}/anyOf/{alternative}"), value, seen);
    }
    match value {
        Value::Object(members) => {
            for (key, member) in members {
                if schema["properties"].get(key).is_some() {
                    let at = format!("{at}/properties/{key}");
                    seen.insert(seen_as(name, &at, member.is_null()));
                    mark_seen(name, document, &at, member, seen);
                } else if schema["additionalProperties"].is_object() {
                    let at = format!("{at}/additionalProperties");
                    mark_seen(name, document, &at, member, seen);
                }
            }
        }
        Value::Array(items) if schema["items"].is_object() => {
            for item in items {
                mark_seen(name, document, &format!("{at}/items"), item, seen);
            }
        }
        _ => {}
    }
}

/// Returns the name of a property that has a value or is null.
fn seen_as(name: &str, at: &str, is_null: bool) -> String {
    format!("{name}#{at}{}", if is_null { ": null" } else { "" })
}

/// Returns whether the value of a schema can be null, and whether it can be anything else.
fn nullability(schema: &Value) -> (bool, bool) {
    let null = json!("null");
    match &schema["type"] {
        Value::Array(types) => (types.contains(&null), true),
        of_type => {
            let alternatives = schema["anyOf"].as_array().into_iter().flatten();
            let is_null = |schema: &Value| schema["type"] == null;
            (*of_type == null || alternatives.into_iter().any(is_null), *of_type != null)
        }
    }
}

/// Calls `visit` for every object of a schema that describes a value, with its pointer.
fn visit_schemas(at: &str, schema: &Value, visit: &mut impl FnMut(&str, &Value)) {
    visit(at, schema);
    for group in ["properties", "$defs"] {
        for (key, part) in schema[group].as_object().into_iter().flatten() {
            visit_schemas(&format!("{at}/{group}/{key}"), part, visit);
        }
    }
    for (index, part) in schema["anyOf"].as_array().into_iter().flatten().enumerate() {
        visit_schemas(&format!("{at}/anyOf/{index}"), part, visit);
    }
    for key in ["items", "additionalProperties", "propertyNames"] {
        if schema[key].is_object() {
            visit_schemas(&format!("{at}/{key}"), &schema[key], visit);
        }
    }
}

fn id(name: &str) -> String {
    format!("urn:lcp:schema:{name}")
}

fn file_name(name: &str) -> String {
    format!("docs/schemas/{name}.json")
}

/// The schemas by the names of their files.
fn documents() -> BTreeMap<String, Value> {
    let entries = fs::read_dir(root().join("docs/schemas")).unwrap();
    let paths = entries.map(|entry| entry.unwrap().path());
    let schemas =
        paths.filter(|path| path.extension().is_some_and(|extension| extension == "json"));
    schemas
        .map(|path| {
            let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
            let text = fs::read_to_string(&path).unwrap();
            (name, serde_json::from_str(&text).unwrap())
        })
        .collect()
}

/// Every command that prints a report is run, with flags that add fields.
#[test]
fn reports_match_schemas_and_cover_every_property() {
    let mut validator = Validator::new();
    reports::check_all(&mut validator);
    let files: BTreeSet<_> = validator.documents.keys().cloned().collect();
    assert_eq!(validator.checked, files, "schemas without a tested command");
    let mut missing = BTreeSet::new();
    for (name, document) in &validator.documents {
        visit_schemas("", document, &mut |at, schema| {
            if !is_property(at) {
                return;
            }
            let (can_be_null, can_be_other) = nullability(schema);
            for (is_null, is_possible) in [(true, can_be_null), (false, can_be_other)] {
                let property = seen_as(name, at, is_null);
                if is_possible && !validator.seen.contains(&property) {
                    missing.insert(property);
                }
            }
        });
    }
    assert_eq!(missing, NOT_SEEN.map(str::to_owned).into(), "properties that are not printed");
}

/// Returns whether a pointer is that of a property.
fn is_property(at: &str) -> bool {
    at.rsplit('/').nth(1) == Some("properties")
}

/// The names of schemas in a source.
fn names_in(text: &str) -> impl Iterator<Item = String> {
    text.match_indices("lcp.").filter_map(|(at, _)| {
        let is_name = |char: char| char.is_ascii_alphanumeric() || ".-_".contains(char);
        let rest = &text[at..];
        let name =
            rest[..rest.find(|char| !is_name(char)).unwrap_or(rest.len())].trim_end_matches('.');
        let (_, version) = name.rsplit_once(".v")?;
        (!version.is_empty() && version.bytes().all(|byte| byte.is_ascii_digit()))
            .then(|| name.to_owned())
    })
}

/// Adds the names of schemas in the sources of a folder, without those in tests.
fn add_names(folder: &Path, names: &mut BTreeSet<String>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            add_names(&path, names);
        } else if path.extension().is_some_and(|extension| extension == "rs")
            && !path.ends_with("tests.rs")
        {
            names.extend(names_in(&fs::read_to_string(&path).unwrap()));
        }
    }
}

#[test]
fn schema_names_in_sources_equal_the_schema_files() {
    let mut names = BTreeSet::new();
    for entry in fs::read_dir(root().join("crates")).unwrap() {
        let folder: PathBuf = entry.unwrap().path();
        for sources in ["src", "examples"].map(|name| folder.join(name)) {
            if sources.is_dir() {
                add_names(&sources, &mut names);
            }
        }
    }
    names.retain(|name| !STORED.contains(&name.as_str()));
    assert_eq!(names, documents().into_keys().collect(), "of sources, of docs/schemas/");
}

#[test]
fn every_schema_and_property_has_a_description() {
    let page = fs::read_to_string(root().join("docs/schemas/README.md")).unwrap();
    for (name, document) in documents() {
        assert!(page.contains(&format!("`{name}`")), "docs/schemas/README.md lacks {name}");
        assert_eq!(document["$schema"], "https://json-schema.org/draft/2020-12/schema", "{name}");
        assert_eq!((&document["$id"], &document["type"]), (&id(&name).into(), &"object".into()));
        assert_eq!(document["properties"]["schema"]["const"], name.as_str());
        assert!(document["title"].is_string() && document["description"].is_string(), "{name}");
        visit_schemas("", &document, &mut |at, schema| {
            let target = schema["$ref"].as_str().map(|target| target.trim_start_matches('#'));
            let described = |schema: &Value| schema["description"].is_string();
            let target = target.and_then(|target| document.pointer(target));
            assert!(
                !is_property(at) || described(schema) || target.is_some_and(described),
                "{name}#{at} has no description"
            );
            for key in schema["required"].as_array().into_iter().flatten() {
                let key = key.as_str().unwrap();
                assert!(schema["properties"].get(key).is_some(), "{name}#{at} has no {key}");
            }
            let is_object = schema["type"] == "object" || schema["properties"].is_object();
            assert!(!is_object || schema["additionalProperties"] != Value::Null, "{name}#{at}");
        });
    }
}

/// The lists of names in the schemas are those of the code.
#[test]
fn schema_enums_equal_the_names_in_code() {
    let documents = documents();
    let list = |name: &str, at: &str| {
        let list = documents[name].pointer(at).and_then(|part| part["enum"].as_array());
        let list = list.unwrap_or_else(|| panic!("{name}#{at} has no enum"));
        list.iter().filter_map(Value::as_str).map(str::to_owned).collect::<Vec<_>>()
    };
    let check = |name: &str, at: &str, names: &[&str]| {
        assert_eq!(list(name, at), names, "{name}#{at}");
    };
    let report = "lcp.report.v1";
    check(report, "/properties/mode", &OutputMode::ALL.map(OutputMode::name));
    check(report, "/properties/verbosity", &Verbosity::ALL.map(Verbosity::name));
    let relations = DuplicateKind::ALL.map(DuplicateKind::name);
    check(report, "/$defs/relation", &relations);
    check("lcp.dedup.v1", "/$defs/relation", &relations);
    assert!(list(report, "/$defs/reason").ends_with(&relations.map(str::to_owned)));
    assert_eq!(list(report, "/$defs/decision"), list("lcp.export.v1", "/$defs/decision"));
    check("lcp.pack.v1", "/$defs/skipReason", &SkipReason::ALL.map(SkipReason::name));
    check("lcp.import.v1", "/properties/format", &Format::ALL.map(Format::name));
    check("lcp.export.v1", "/properties/to", &Provider::ALL.map(Provider::name));
    let mut types: Vec<_> = BlockType::ALL.iter().map(|block_type| block_type.label()).collect();
    types.push("raw");
    for name in [report, "lcp.inspect.v1", "lcp.diff.v1"] {
        check(name, "/$defs/blockType", &types);
    }
    for name in [report, "lcp.inspect.v1", "lcp.pack.v1"] {
        check(name, "/$defs/priority", &Priority::ALL.map(Priority::name));
    }
}
