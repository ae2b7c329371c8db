//! Fields with ids that this version does not know, usually from a newer writer.

use std::fmt;
use std::ops::Deref;

use crate::{CowBytes, FieldVisitor, IntoOwned};

/// The unknown fields of a record, in order. An empty list takes one machine word and no
/// allocation.
///
/// ```
/// use lcp_types::{UnknownField, UnknownFields, UnknownValue};
///
/// let newer = UnknownField { id: 9, value: UnknownValue::Varint(1) };
/// let fields = UnknownFields::from(vec![newer]);
/// assert_eq!(fields[0].id, 9);
/// assert!(UnknownFields::new().is_empty());
/// ```
// The box never holds an empty list, so that equal lists compare as equal.
#[expect(clippy::box_collection, reason = "one word; a boxed slice takes two")]
#[derive(Clone, Default, PartialEq, Eq, Hash)]
pub struct UnknownFields<'a>(Option<Box<Vec<UnknownField<'a>>>>);

impl UnknownFields<'_> {
    /// Returns an empty list.
    #[must_use]
    pub const fn new() -> Self {
        Self(None)
    }
}

impl<'a> From<Vec<UnknownField<'a>>> for UnknownFields<'a> {
    #[inline]
    fn from(fields: Vec<UnknownField<'a>>) -> Self {
        Self((!fields.is_empty()).then(|| Box::new(fields)))
    }
}

impl<'a> Deref for UnknownFields<'a> {
    type Target = [UnknownField<'a>];

    #[inline]
    fn deref(&self) -> &Self::Target {
        self.0.as_deref().map_or(&[], Vec::as_slice)
    }
}

impl<'a, 'f> IntoIterator for &'f UnknownFields<'a> {
    type Item = &'f UnknownField<'a>;
    type IntoIter = std::slice::Iter<'f, UnknownField<'a>>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl fmt::Debug for UnknownFields<'_> {
    /// Formats the fields as a list.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self).finish()
    }
}

#[cfg(feature = "serde")]
impl serde::Serialize for UnknownFields<'_> {
    /// Serializes the fields as a list.
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self)
    }
}

#[cfg(feature = "serde")]
impl<'de> serde::Deserialize<'de> for UnknownFields<'_> {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Vec::deserialize(deserializer).map(Self::from)
    }
}

impl IntoOwned for UnknownFields<'_> {
    type Owned = UnknownFields<'static>;

    #[inline]
    fn into_owned(self) -> UnknownFields<'static> {
        UnknownFields(self.0.map(|fields| Box::new(fields.into_owned())))
    }

    #[inline]
    fn to_static(&self) -> UnknownFields<'static> {
        UnknownFields(self.0.as_ref().map(|fields| Box::new(fields.to_static())))
    }

    fn visit<V: FieldVisitor>(&mut self, visitor: &mut V) {
        if let Some(fields) = &mut self.0 {
            fields.visit(visitor);
        }
    }
}

/// A field with an unknown id. The encoder writes it back with its block (RFC 0001 §5).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct UnknownField<'a> {
    /// The id of the field.
    pub id: u64,
    /// The value of the field.
    pub value: UnknownValue<'a>,
}

/// The value of an [`UnknownField`], by wire type.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum UnknownValue<'a> {
    /// Wire type 0: a number.
    Varint(u64),
    /// Wire type 1: bytes.
    Bytes(CowBytes<'a>),
    /// Wire type 2: encoded fields, which are not parsed.
    Nested(CowBytes<'a>),
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

    fn visit<V: FieldVisitor>(&mut self, visitor: &mut V) {
        match &mut self.value {
            UnknownValue::Varint(_) => {}
            UnknownValue::Bytes(bytes) | UnknownValue::Nested(bytes) => visitor.bytes(bytes),
        }
    }
}
