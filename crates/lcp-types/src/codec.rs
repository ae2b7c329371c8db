//! How records become fields and back: one description, four uses.
//!
//! Each content type in [`content`](crate::content) is one table of
//! `id field: type` rows. The table makes a [`Record`], and a record is read
//! through a [`FieldReader`] and written through a [`FieldWriter`]. The
//! decoder, the encoder and both directions of the JSON manifest are such
//! readers and writers, so a new field is one row and nothing else.
//!
//! You need this module only to write another representation of blocks. Readers and
//! writers define what their errors are.

#![allow(clippy::missing_errors_doc, reason = "the module says it for all of them")]

use std::borrow::Cow;

use crate::wire::WireType;
use crate::{CowBytes, UnknownField};

/// What a reader has to know of a field before it has read it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FieldSpec {
    /// The id on the wire.
    pub id: u64,
    /// The name in manifests and errors.
    pub name: &'static str,
    /// The wire type that a known field must have.
    pub wire: WireType,
    /// Whether a record without it is malformed.
    pub required: bool,
}

impl FieldSpec {
    pub(crate) const fn new<'a, T: FieldValue<'a>>(id: u64, name: &'static str) -> Self {
        Self { id, name, wire: T::WIRE, required: T::REQUIRED }
    }
}

/// A type that is made of fields: the content of a block, or a nested part.
pub trait Record<'a>: Sized {
    /// The name in errors.
    const NAME: &'static str;
    /// Its fields, ids ascending.
    const FIELDS: &'static [FieldSpec];

    /// Reads the fields until `from` has no more.
    fn read<R: FieldReader<'a>>(from: &mut R) -> Result<Self, R::Error>;

    /// Reads fields that come as writers write them: ids ascending, each at most
    /// once, none unknown, none nested. Gives what [`Self::read`] gives, faster;
    /// `None` where they do not come so, or are malformed.
    fn read_in_order<R: OrderedReader<'a>>(from: &mut R) -> Option<Self>;

    /// Writes the fields, ids ascending, unknown ones in their places.
    fn write<W: FieldWriter>(&self, to: &mut W) -> Result<(), W::Error>;
}

/// A source of fields, positioned at one after each `Some` of [`Self::next_field`]. Its errors
/// are malformed fields, numbers and texts beyond their limits, and texts that are not UTF-8.
pub trait FieldReader<'a>: Sized {
    /// What can go wrong.
    type Error;

    /// Moves to the next field that `specs` knows and gives its id; keeps the
    /// others for [`Self::take_unknown`].
    fn next_field(&mut self, specs: &'static [FieldSpec]) -> Result<Option<u64>, Self::Error>;

    /// The number, at most `max`.
    fn uint(&mut self, max: u64) -> Result<u64, Self::Error>;

    /// The code of an enumeration with these names.
    fn code(&mut self, names: &'static [(u8, &'static str)]) -> Result<u8, Self::Error>;

    /// The text.
    fn text(&mut self) -> Result<Cow<'a, str>, Self::Error>;

    /// The content.
    fn bytes(&mut self) -> Result<CowBytes<'a>, Self::Error>;

    /// The nested records of this field that stand here: one on the wire,
    /// all of them in a manifest.
    fn records<T: Record<'a>>(&mut self, into: &mut Vec<T>) -> Result<(), Self::Error>;

    /// The error for a required field that did not come.
    fn missing(&self, field: &'static str) -> Self::Error;

    /// The fields of unknown ids that were met, in their order.
    fn take_unknown(&mut self) -> Result<Vec<UnknownField<'a>>, Self::Error>;
}

/// A source of fields in memory that lends what it has, and has no errors: `None`
/// where something is malformed, too long, or not written as usual.
pub trait OrderedReader<'a>: Sized {
    /// Moves to the next field if it has this id and this wire type.
    fn next_is(&mut self, id: u64, wire: WireType) -> bool;

    /// Whether no field is left.
    fn is_empty(&self) -> bool;

    /// The number, at most `max`.
    fn uint(&mut self, max: u64) -> Option<u64>;

    /// The text.
    fn text(&mut self) -> Option<&'a str>;

    /// The content.
    fn bytes(&mut self) -> Option<&'a [u8]>;
}

/// A sink of fields. Every call has the field's id and its name; absent optional fields
/// have no call. Methods that a sink does not implement ignore the field. Its errors are unknown
/// fields with the id of a known one, and fields and nesting beyond their limits.
pub trait FieldWriter: Sized {
    /// What can go wrong.
    type Error;

    /// Called first, with what the record is and its unknown fields.
    fn begin(
        &mut self,
        record: &'static str,
        specs: &'static [FieldSpec],
        unknown: &[UnknownField<'_>],
    ) -> Result<(), Self::Error>;

    /// A number.
    fn uint(&mut self, _field: &FieldSpec, _value: u64) -> Result<(), Self::Error> {
        Ok(())
    }

    /// A code of an enumeration, with its name if it has one.
    fn code(
        &mut self,
        _field: &FieldSpec,
        _code: u8,
        _name: Option<&str>,
    ) -> Result<(), Self::Error> {
        Ok(())
    }

    /// Text.
    fn text(&mut self, _field: &FieldSpec, _value: &str) -> Result<(), Self::Error> {
        Ok(())
    }

    /// Content.
    fn bytes(&mut self, _field: &FieldSpec, _value: &CowBytes<'_>) -> Result<(), Self::Error> {
        Ok(())
    }

    /// A list of nested records.
    fn records<'a, T: Record<'a>>(
        &mut self,
        field: &FieldSpec,
        value: &[T],
    ) -> Result<(), Self::Error>;

    /// The unknown fields whose ids are below `before` and were not written
    /// yet; called before each known field, and at the end with `None`, for
    /// all that are left.
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
    /// Where the value is gathered while fields come in any order.
    type Slot: Default;
    /// Its wire type.
    const WIRE: WireType;
    /// Whether a record without it is malformed.
    const REQUIRED: bool;

    /// Reads the field that `from` stands at. A repeated scalar replaces the
    /// one before, a repeated nested record joins the list.
    fn read<R: FieldReader<'a>>(slot: &mut Self::Slot, from: &mut R) -> Result<(), R::Error>;

    /// The value, or `None` if it is required and did not come.
    fn finish(slot: Self::Slot) -> Option<Self>;

    /// What is lent of the value: a few words that are copied.
    type BorrowedValue: Copy;

    /// Reads the field that `from` stands at; `None` where it cannot.
    fn read_borrowed<R: OrderedReader<'a>>(from: &mut R) -> Option<Self::BorrowedValue>;

    /// As [`Self::finish`], of what was lent.
    fn from_borrowed(lent: Option<Self::BorrowedValue>) -> Option<Self>;

    /// Writes the field, if there is anything to write.
    fn write<W: FieldWriter>(&self, field: &FieldSpec, to: &mut W) -> Result<(), W::Error>;
}

/// A required scalar: `read` and `write` are all that differs.
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
#[expect(clippy::cast_possible_truncation, reason = "the reader was told the maximum")]
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

    /// Nothing: a list is not lent.
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

/// Makes a record from a table of `id field: type` rows: the struct, its
/// [`Record`] and [`IntoOwned`](crate::IntoOwned). The owned type is given
/// because a macro cannot take a lifetime out of a type.
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
            /// Fields of ids that this version does not know (RFC 0001 §5).
            pub unknown: $crate::UnknownFields<'a>,
        }

        impl<'a> $record<'a> {
            /// A record without unknown fields.
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
                        // The reader gives only ids that stand in `FIELDS`.
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
