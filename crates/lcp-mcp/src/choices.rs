//! Enum values that the input of a tool gives by name.

use std::borrow::Cow;

use lcp_app::names::{self, DEDUP_LEVELS, MODES, OVERFLOWS, SPECIAL_TOKENS, VERBOSITIES};
use lcp_dedup::DedupLevel;
use lcp_driver::shares::Shares;
use lcp_driver::special_tokens::SpecialTokens;
use lcp_driver::{Objective, OutputMode, Overflow, Verbosity};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Deserialize, Deserializer, Error as _};

/// A value that is given by name in JSON.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Named<T>(pub(crate) T);

/// The name of a preset of shares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SharePreset(pub(crate) &'static str);

/// A type whose values have names.
pub(crate) trait Choice: Copy + PartialEq + 'static {
    /// Returns the values with their names.
    fn names() -> Vec<(&'static str, Self)>;
}

impl Choice for OutputMode {
    fn names() -> Vec<(&'static str, Self)> {
        MODES.into()
    }
}

impl Choice for Verbosity {
    fn names() -> Vec<(&'static str, Self)> {
        VERBOSITIES.into()
    }
}

impl Choice for Objective {
    fn names() -> Vec<(&'static str, Self)> {
        names::objectives().into()
    }
}

impl Choice for SharePreset {
    fn names() -> Vec<(&'static str, Self)> {
        Shares::PRESETS.iter().map(|name| (*name, Self(name))).collect()
    }
}

impl Choice for Overflow {
    fn names() -> Vec<(&'static str, Self)> {
        OVERFLOWS.into()
    }
}

impl Choice for Option<DedupLevel> {
    fn names() -> Vec<(&'static str, Self)> {
        DEDUP_LEVELS.into()
    }
}

impl Choice for SpecialTokens {
    fn names() -> Vec<(&'static str, Self)> {
        SPECIAL_TOKENS.into()
    }
}

impl<'de, T: Choice> Deserialize<'de> for Named<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let (name, names) = (String::deserialize(deserializer)?, T::names());
        names::value_of(&names, &name).map(Self).ok_or_else(|| {
            let expected = match names::current(&names)[..] {
                [first, second] => format!("`{first}` or `{second}`"),
                ref names => format!("one of `{}`", names.join("`, `")),
            };
            D::Error::custom(format!("unknown variant `{name}`, expected {expected}"))
        })
    }
}

impl<T: Choice> JsonSchema for Named<T> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Choice".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "enum": names::current(&T::names()) })
    }
}
