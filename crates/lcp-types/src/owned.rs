//! Conversion of borrowed data into owned data.

use std::borrow::Cow;

use crate::CowBytes;

/// Converts a value that may borrow into one that owns all of its data.
pub trait IntoOwned {
    /// The same type with a `'static` lifetime.
    type Owned: 'static;

    /// Copies borrowed data and moves owned data.
    fn into_owned(self) -> Self::Owned;

    /// Copies all data. For a value that was just decoded this is faster than [`Self::into_owned`],
    /// which moves the value several times.
    fn to_static(&self) -> Self::Owned;

    /// Passes every text and content of the value to `visitor`, always in the same order.
    fn visit<V: FieldVisitor>(&mut self, visitor: &mut V);
}

/// A visitor of the texts and contents of a value, which may change them. Unknown fields, unknown
/// blocks and vector ids are passed as bytes.
///
/// ```
/// use std::borrow::Cow;
///
/// use lcp_types::{Block, CowBytes, Lang, FieldVisitor};
///
/// /// Bytes of texts and contents.
/// struct Length(usize);
///
/// impl FieldVisitor for Length {
///     fn text(&mut self, text: &mut Cow<'_, str>) {
///         self.0 += text.len();
///     }
///
///     fn bytes(&mut self, bytes: &mut CowBytes<'_>) {
///         self.0 += bytes.len();
///     }
/// }
///
/// let mut length = Length(0);
/// Block::code(Lang::Rust, "a.rs", "fn a() {}").visit(&mut length);
/// assert_eq!(length.0, 13);
/// ```
pub trait FieldVisitor {
    /// Visits a text.
    fn text(&mut self, text: &mut Cow<'_, str>);

    /// Visits a content.
    fn bytes(&mut self, bytes: &mut CowBytes<'_>);
}

impl IntoOwned for Cow<'_, str> {
    type Owned = Cow<'static, str>;
    #[inline]
    fn into_owned(self) -> Cow<'static, str> {
        Cow::Owned(self.into_owned())
    }

    #[inline]
    fn to_static(&self) -> Cow<'static, str> {
        Cow::Owned((**self).to_owned())
    }

    fn visit<V: FieldVisitor>(&mut self, visitor: &mut V) {
        visitor.text(self);
    }
}

impl IntoOwned for CowBytes<'_> {
    type Owned = CowBytes<'static>;
    #[inline]
    fn into_owned(self) -> CowBytes<'static> {
        self.into_cow().into_owned().into()
    }

    #[inline]
    fn to_static(&self) -> CowBytes<'static> {
        self.as_slice().to_vec().into()
    }

    fn visit<V: FieldVisitor>(&mut self, visitor: &mut V) {
        visitor.bytes(self);
    }
}

/// Implements [`IntoOwned`] for a type that implements `Copy`.
macro_rules! copy_into_owned {
    ($ty:ty) => {
        impl $crate::IntoOwned for $ty {
            type Owned = Self;
            #[inline]
            fn into_owned(self) -> Self {
                self
            }

            #[inline]
            fn to_static(&self) -> Self {
                *self
            }

            fn visit<V: $crate::FieldVisitor>(&mut self, _: &mut V) {}
        }
    };
}
pub(crate) use copy_into_owned;

copy_into_owned!(u32);
copy_into_owned!(u64);

impl<T: IntoOwned> IntoOwned for Option<T> {
    type Owned = Option<T::Owned>;
    #[inline]
    fn into_owned(self) -> Self::Owned {
        self.map(T::into_owned)
    }

    #[inline]
    fn to_static(&self) -> Self::Owned {
        self.as_ref().map(T::to_static)
    }

    fn visit<V: FieldVisitor>(&mut self, visitor: &mut V) {
        if let Some(value) = self {
            value.visit(visitor);
        }
    }
}

impl<T: IntoOwned> IntoOwned for Vec<T> {
    type Owned = Vec<T::Owned>;
    #[inline]
    fn into_owned(self) -> Self::Owned {
        // Most lists are lists of unknown fields, and these are usually empty.
        if self.is_empty() {
            return Vec::new();
        }
        self.into_iter().map(T::into_owned).collect()
    }

    #[inline]
    fn to_static(&self) -> Self::Owned {
        if self.is_empty() {
            return Vec::new();
        }
        self.iter().map(T::to_static).collect()
    }

    fn visit<V: FieldVisitor>(&mut self, visitor: &mut V) {
        for value in self {
            value.visit(visitor);
        }
    }
}
