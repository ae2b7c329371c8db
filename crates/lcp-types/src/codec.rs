//! Conversion between records and fields: one description with four uses.
//!
//! Each content type in [`content`](crate::content) is one table of `id field: type` rows. The
//! table defines a [`Record`]. A record is read through a [`FieldReader`] and written through a
//! [`FieldWriter`]. The decoder, the encoder and both directions of the JSON manifest implement
//! these traits, so a new field needs only one new row.
//!
//! You need this module only to write another representation of blocks. Readers and writers define
//! their own error types.

#![allow(clippy::missing_errors_doc, reason = "documented once in the module")]

use std::borrow::Cow;

use crate::wire::WireType;
use crate::{CowBytes, UnknownField};

/// The static description of a field, known to a reader before it reads the field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FieldSpec {
    /// The id on the wire.
    pub id: u64,
    /// The name in manifests and errors.
    pub name: &'static str,
    /// The wire type that a known field must have.
    pub wire: WireType,
    /// `true` if a record without this field is malformed.
    pub required: bool,
}

impl FieldSpec {
    pub(crate) const fn new<'a, T: FieldValue<'a>>(id: u64, name: &'static str) -> Self {
        Self { id, name, wire: T::WIRE, required: T::REQUIRED }
    }
}

/// A type that consists of fields: the content of a block, or a nested record.
pub trait Record<'a>: Sized {
    /// The name in errors.
    const NAME: &'static str;
    /// The fields, in ascending order of their ids.
    const FIELDS: &'static [FieldSpec];

    /// Reads the fields until `from` has no more.
    fn read<R: FieldReader<'a>>(from: &mut R) -> Result<Self, R::Error>;

    /// Reads a record whose fields have the form that writers produce: ids in ascending order, each
    /// at most once, no unknown field and no nested record.
    ///
    /// Returns the same value as [`Self::read`], but faster. Returns `None` if the fields do not
    /// have this form or are malformed.
    fn read_in_order<R: OrderedReader<'a>>(from: &mut R) -> Option<Self>;

    /// Writes the fields in ascending order of their ids, with the unknown fields in their
    /// positions.
    fn write<W: FieldWriter>(&self, to: &mut W) -> Result<(), W::Error>;
}

/// A source of fields. After [`Self::next_field`] returns `Some`, the other methods read the value
/// of that field. Errors are malformed fields, numbers and texts beyond their limits, and texts
/// that are not UTF-8.
pub trait FieldReader<'a>: Sized {
    /// The error type.
    type Error;

    /// Moves to the next field whose id is in `specs` and returns that id. Unknown fields on the
    /// way are collected for [`Self::take_unknown`].
    fn next_field(&mut self, specs: &'static [FieldSpec]) -> Result<Option<u64>, Self::Error>;

    /// Reads a number of at most `max`.
    fn uint(&mut self, max: u64) -> Result<u64, Self::Error>;

    /// Reads a code of the enumeration with these names.
    fn code(&mut self, names: &'static [(u8, &'static str)]) -> Result<u8, Self::Error>;

    /// Reads a text.
    fn text(&mut self) -> Result<Cow<'a, str>, Self::Error>;

    /// Reads a content.
    fn bytes(&mut self) -> Result<CowBytes<'a>, Self::Error>;

    /// Reads the nested records at this position into `into`: one record on the wire, the whole
    /// list in a manifest.
    fn records<T: Record<'a>>(&mut self, into: &mut Vec<T>) -> Result<(), Self::Error>;

    /// Returns the error for a required field that is absent.
    fn missing(&self, field: &'static str) -> Self::Error;

    /// Returns the unknown fields that were read so far, in their order, and clears the list.
    fn take_unknown(&mut self) -> Result<Vec<UnknownField<'a>>, Self::Error>;
}

/// A source of fields in memory that lends its data. It has no errors: its methods return `None` if
/// the input is malformed, too long, or not in the form that writers produce.
pub trait OrderedReader<'a>: Sized {
    /// Moves to the next field and returns `true` if that field has this id and this wire type.
    fn next_is(&mut self, id: u64, wire: WireType) -> bool;

    /// Returns whether all fields have been read.
    fn is_empty(&self) -> bool;

    /// Reads a number of at most `max`.
    fn uint(&mut self, max: u64) -> Option<u64>;

    /// Reads a text.
    fn text(&mut self) -> Option<&'a str>;

    /// Reads a content.
    fn bytes(&mut self) -> Option<&'a [u8]>;
}

/// A sink of fields. Every call names the field; absent optional fields have no call. The default
/// methods ignore the field. Errors are unknown fields with the id of a known field, and fields and
/// nesting beyond their limits.
pub trait FieldWriter: Sized {
    /// The error type.
    type Error;

    /// Begins a record, with its name, its fields and its unknown fields. This is the first call.
    fn begin(
        &mut self,
        record: &'static str,
        specs: &'static [FieldSpec],
        unknown: &[UnknownField<'_>],
    ) -> Result<(), Self::Error>;

    /// Writes a number.
    fn uint(&mut self, _field: &FieldSpec, _value: u64) -> Result<(), Self::Error> {
        Ok(())
    }

    /// Writes a code of an enumeration, with its name if it has one.
    fn code(
        &mut self,
        _field: &FieldSpec,
        _code: u8,
        _name: Option<&str>,
    ) -> Result<(), Self::Error> {
        Ok(())
    }

    /// Writes a text.
    fn text(&mut self, _field: &FieldSpec, _value: &str) -> Result<(), Self::Error> {
        Ok(())
    }

    /// Writes a content.
    fn bytes(&mut self, _field: &FieldSpec, _value: &CowBytes<'_>) -> Result<(), Self::Error> {
        Ok(())
    }

    /// Writes a list of nested records.
    fn records<'a, T: Record<'a>>(
        &mut self,
        field: &FieldSpec,
        value: &[T],
    ) -> Result<(), Self::Error>;

    /// Writes the unknown fields with ids below `before` that have not been written yet. This is
    /// called before each known field, and at the end with `None` for all remaining ones.
    fn unknown(
        &mut self,
        _fields: &[UnknownField<'_>],
        _before: Option<u64>,
    ) -> Result<(), Self::Error> {
        Ok(())
    }
}

/// A type that can be a field of a record.
pub trait FieldValue<'a>: Sized {
    /// The storage for the value while fields arrive in any order.
    type Slot: Default;
    /// The wire type of the field.
    const WIRE: WireType;
    /// `true` if a record without the field is malformed.
    const REQUIRED: bool;

    /// Reads the current field of `from`. A repeated scalar replaces the previous value; a repeated
    /// nested record is appended to the list.
    fn read<R: FieldReader<'a>>(slot: &mut Self::Slot, from: &mut R) -> Result<(), R::Error>;

    /// Returns the value, or `None` if the field is required and absent.
    fn finish(slot: Self::Slot) -> Option<Self>;

    /// The borrowed form of the value, which is a few words and cheap to copy.
    type BorrowedValue: Copy;

    /// Reads the current field of `from` as a borrowed value, or returns `None` if that is not
    /// possible.
    fn read_borrowed<R: OrderedReader<'a>>(from: &mut R) -> Option<Self::BorrowedValue>;

    /// Returns the value of a borrowed field, or `None` if the field is required and absent.
    fn from_borrowed(lent: Option<Self::BorrowedValue>) -> Option<Self>;

    /// Writes the field if it has a value.
    fn write<W: FieldWriter>(&self, field: &FieldSpec, to: &mut W) -> Result<(), W::Error>;
}

/// Implements [`FieldValue`] for a required scalar. The implementations differ only in `read` and
/// `write`.
macro_rules! scalar {
    ($ty:ty, $wire:expr, |$from:ident| $read:expr, $lent:ty = $read_borrowed:expr, $from_borrowed:expr, |$value:ident, $field:ident, $to:ident| $write:expr) => {
        impl<'a> FieldValue<'a> for $ty {
            type Slot = Option<Self>;
            const WIRE: WireType = $wire;
            const REQUIRED: bool = true;

            #[inline]
            fn read<R: FieldReader<'a>>(
                slot: &mut Self::Slot,
                $from: &mut R,
            ) -> Result<(), R::Error> {
                *slot = Some($read);
                Ok(())
            }

            #[inline]
            fn finish(slot: Self::Slot) -> Option<Self> {
                slot
            }

            type BorrowedValue = $lent;

            #[inline]
            fn read_borrowed<R: OrderedReader<'a>>($from: &mut R) -> Option<Self::BorrowedValue> {
                $read_borrowed
            }

            #[inline]
            fn from_borrowed(lent: Option<Self::BorrowedValue>) -> Option<Self> {
                lent.map($from_borrowed)
            }

            fn write<W: FieldWriter>(
                &self,
                $field: &$crate::codec::FieldSpec,
                $to: &mut W,
            ) -> Result<(), W::Error> {
                let $value = self;
                $write
            }
        }
    };
}
pub(crate) use scalar;

scalar!(
    u64,
    WireType::Varint,
    |from| from.uint(u64::MAX)?,
    u64 = from.uint(u64::MAX),
    |value| value,
    |value, field, to| to.uint(field, *value)
);
#[expect(clippy::cast_possible_truncation, reason = "the reader checks the maximum")]
mod checked_int {
    use super::{FieldReader, FieldValue, FieldWriter, OrderedReader, WireType};

    scalar!(
        u32,
        WireType::Varint,
        |from| from.uint(u64::from(u32::MAX))? as u32,
        u32 = from.uint(u64::from(u32::MAX)).map(|value| value as u32),
        |value| value,
        |value, field, to| to.uint(field, u64::from(*value))
    );
}
scalar!(Cow<'a, str>, WireType::Bytes, |from| from.text()?, &'a str = from.text(), Cow::Borrowed, |value, field, to| to.text(field, value));
scalar!(CowBytes<'a>, WireType::Bytes, |from| from.bytes()?, &'a [u8] = from.bytes(), CowBytes::from, |value, field, to| to.bytes(field, value));

impl<'a, T: FieldValue<'a, Slot = Option<T>>> FieldValue<'a> for Option<T> {
    type Slot = Option<T>;
    const WIRE: WireType = T::WIRE;
    const REQUIRED: bool = false;

    #[inline]
    fn read<R: FieldReader<'a>>(slot: &mut Self::Slot, from: &mut R) -> Result<(), R::Error> {
        T::read(slot, from)
    }

    #[inline]
    fn finish(slot: Self::Slot) -> Option<Self> {
        Some(slot)
    }

    type BorrowedValue = T::BorrowedValue;

    #[inline]
    fn read_borrowed<R: OrderedReader<'a>>(from: &mut R) -> Option<Self::BorrowedValue> {
        T::read_borrowed(from)
    }

    #[inline]
    fn from_borrowed(lent: Option<Self::BorrowedValue>) -> Option<Self> {
        Some(T::from_borrowed(lent))
    }

    fn write<W: FieldWriter>(&self, field: &FieldSpec, to: &mut W) -> Result<(), W::Error> {
        match self {
            Some(value) => value.write(field, to),
            None => Ok(()),
        }
    }
}

impl<'a, T: Record<'a>> FieldValue<'a> for Vec<T> {
    type Slot = Self;
    const WIRE: WireType = WireType::Nested;
    const REQUIRED: bool = false;

    fn read<R: FieldReader<'a>>(slot: &mut Self::Slot, from: &mut R) -> Result<(), R::Error> {
        from.records(slot)
    }

    #[inline]
    fn finish(slot: Self::Slot) -> Option<Self> {
        Some(slot)
    }

    type BorrowedValue = ();

    /// Returns `None`, because a list cannot be borrowed.
    #[inline]
    fn read_borrowed<R: OrderedReader<'a>>(_: &mut R) -> Option<()> {
        None
    }

    #[inline]
    fn from_borrowed(lent: Option<()>) -> Option<Self> {
        lent.is_none().then(Self::new)
    }

    fn write<W: FieldWriter>(&self, field: &FieldSpec, to: &mut W) -> Result<(), W::Error> {
        to.records(field, self)
    }
}

/// Defines a record from a table of `id field: type` rows: the struct, its [`Record`] and its
/// [`IntoOwned`](crate::IntoOwned) implementation.
macro_rules! record {
    (
        $(#[$meta:meta])*
        $record:ident {
            $($(#[$fmeta:meta])* $id:literal $field:ident: $ty:ty,)*
        }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Debug, PartialEq, Eq, Hash)]
        #[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
        pub struct $record<'a> {
            $($(#[$fmeta])* pub $field: $ty,)*
            /// Fields with ids that this version does not know (RFC 0001 §5).
            pub unknown: $crate::UnknownFields<'a>,
        }

        impl<'a> $record<'a> {
            /// Returns a record without unknown fields.
            pub(crate) const fn from_fields($($field: $ty),*) -> Self {
                Self { $($field,)* unknown: $crate::UnknownFields::new() }
            }
        }

        impl<'a> $crate::codec::Record<'a> for $record<'a> {
            const NAME: &'static str = stringify!($record);
            const FIELDS: &'static [$crate::codec::FieldSpec] =
                &[$($crate::codec::FieldSpec::new::<$ty>($id, stringify!($field))),*];

            #[inline]
            fn read<R: $crate::codec::FieldReader<'a>>(from: &mut R) -> Result<Self, R::Error> {
                $(let mut $field = <$ty as $crate::codec::FieldValue<'a>>::Slot::default();)*
                while let Some(id) = from.next_field(Self::FIELDS)? {
                    match id {
                        $($id => <$ty as $crate::codec::FieldValue<'a>>::read(&mut $field, from)?,)*
                        // The reader returns only ids from `FIELDS`.
                        _ => {}
                    }
                }
                Ok(Self {
                    $($field: match <$ty as $crate::codec::FieldValue<'a>>::finish($field) {
                        Some(value) => value,
                        None => return Err(from.missing(stringify!($field))),
                    },)*
                    unknown: from.take_unknown()?.into(),
                })
            }

            #[inline(always)]
            #[allow(clippy::inline_always, reason = "handing the record on in memory takes longer")]
            fn read_in_order<R: $crate::codec::OrderedReader<'a>>(from: &mut R) -> Option<Self> {
                $(let $field = if from.next_is($id, <$ty as $crate::codec::FieldValue<'a>>::WIRE) {
                    Some(<$ty as $crate::codec::FieldValue<'a>>::read_borrowed(from)?)
                } else if <$ty as $crate::codec::FieldValue<'a>>::REQUIRED {
                    return None;
                } else {
                    None
                };)*
                if !from.is_empty() {
                    return None;
                }
                Some(Self::from_fields(
                    $(<$ty as $crate::codec::FieldValue<'a>>::from_borrowed($field)?),*
                ))
            }

            fn write<W: $crate::codec::FieldWriter>(&self, to: &mut W) -> Result<(), W::Error> {
                to.begin(Self::NAME, Self::FIELDS, &self.unknown)?;
                $(
                    to.unknown(&self.unknown, Some($id))?;
                    let spec = const { &$crate::codec::FieldSpec::new::<$ty>($id, stringify!($field)) };
                    $crate::codec::FieldValue::write(&self.$field, spec, to)?;
                )*
                to.unknown(&self.unknown, None)
            }
        }

        impl $crate::IntoOwned for $record<'_> {
            type Owned = $record<'static>;
            #[inline]
            fn into_owned(self) -> $record<'static> {
                $record {
                    $($field: $crate::IntoOwned::into_owned(self.$field),)*
                    unknown: $crate::IntoOwned::into_owned(self.unknown),
                }
            }

            #[inline]
            fn to_static(&self) -> $record<'static> {
                $record {
                    $($field: $crate::IntoOwned::to_static(&self.$field),)*
                    unknown: $crate::IntoOwned::to_static(&self.unknown),
                }
            }

            fn visit<V: $crate::FieldVisitor>(&mut self, visitor: &mut V) {
                $($crate::IntoOwned::visit(&mut self.$field, visitor);)*
                $crate::IntoOwned::visit(&mut self.unknown, visitor);
            }
        }
    };
}
pub(crate) use record;
