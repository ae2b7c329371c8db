//! Cutting the tie to the bytes that a block was decoded from.

use std::borrow::Cow;

/// Turns a value that may borrow into one that owns everything it holds.
pub trait IntoOwned {
    /// The same type with a `'static` lifetime.
    type Owned: 'static;

    /// Copies what is borrowed, moves what is owned.
    fn into_owned(self) -> Self::Owned;

    /// Copies everything. Of what was just read this is faster than
    /// [`Self::into_owned`], which moves it several times.
    fn to_static(&self) -> Self::Owned;
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
}

impl IntoOwned for u32 {
    type Owned = Self;
    #[inline]
    fn into_owned(self) -> Self {
        self
    }

    #[inline]
    fn to_static(&self) -> Self {
        *self
    }
}

impl IntoOwned for u64 {
    type Owned = Self;
    #[inline]
    fn into_owned(self) -> Self {
        self
    }

    #[inline]
    fn to_static(&self) -> Self {
        *self
    }
}

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
}

impl<T: IntoOwned> IntoOwned for Vec<T> {
    type Owned = Vec<T::Owned>;
    #[inline]
    fn into_owned(self) -> Self::Owned {
        // Most lists are of unknown fields, of which there are none.
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
}
