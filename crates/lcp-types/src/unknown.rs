//! What a newer writer put into a block and this version has no name for.

use crate::{Bytes, IntoOwned};

/// A field whose id this version does not know, kept so that writing the block
/// again loses nothing (RFC 0001 §5).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct UnknownField<'a> {
    /// The field's id.
    pub id: u64,
    /// What it holds.
    pub value: UnknownValue<'a>,
}

/// The payload of an [`UnknownField`], by wire type.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum UnknownValue<'a> {
    /// Wire type 0.
    Varint(u64),
    /// Wire type 1.
    Bytes(Bytes<'a>),
    /// Wire type 2: encoded fields, not looked into.
    Nested(Bytes<'a>),
}

impl IntoOwned for UnknownField<'_> {
    type Owned = UnknownField<'static>;
    fn into_owned(self) -> UnknownField<'static> {
        let value = match self.value {
            UnknownValue::Varint(value) => UnknownValue::Varint(value),
            UnknownValue::Bytes(bytes) => UnknownValue::Bytes(bytes.into_owned()),
            UnknownValue::Nested(bytes) => UnknownValue::Nested(bytes.into_owned()),
        };
        UnknownField { id: self.id, value }
    }

    fn to_static(&self) -> UnknownField<'static> {
        self.clone().into_owned()
    }
}
