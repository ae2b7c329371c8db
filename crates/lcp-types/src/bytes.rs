//! Content that is usually text but may be arbitrary bytes.

use std::borrow::Cow;
use std::fmt;

/// The `content` of a block: bytes, usually UTF-8, either borrowed from a pack or owned.
///
/// ```
/// use lcp_types::CowBytes;
///
/// assert_eq!(CowBytes::from("text").as_str(), Some("text"));
/// assert_eq!(CowBytes::from(&[0xFF][..]).to_str_lossy(), "\u{FFFD}");
/// ```
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CowBytes<'a>(Cow<'a, [u8]>);

/// The longest text, in bytes, that is validated byte by byte.
const SHORT_BYTES_MAX: usize = 16;

impl<'a> CowBytes<'a> {
    /// Returns the bytes.
    #[must_use]
    #[inline]
    pub fn as_slice(&self) -> &[u8] {
        &self.0
    }

    /// Returns the text, or `None` if the bytes are not UTF-8.
    #[must_use]
    #[inline]
    pub fn as_str(&self) -> Option<&str> {
        // Both methods give the same result; each is faster for its range of lengths.
        if self.0.len() > SHORT_BYTES_MAX {
            return simdutf8::basic::from_utf8(&self.0).ok();
        }
        let Some(chunk) = self.0.utf8_chunks().next() else { return Some("") };
        chunk.invalid().is_empty().then(|| chunk.valid())
    }

    /// Returns the text, with U+FFFD in place of bytes that are not UTF-8.
    #[must_use]
    pub fn to_str_lossy(&self) -> Cow<'_, str> {
        // Valid text is recognized faster than the first invalid byte.
        self.as_str().map_or_else(|| String::from_utf8_lossy(&self.0), Cow::Borrowed)
    }

    /// Returns the number of bytes.
    #[must_use]
    #[inline]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns whether there are zero bytes.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns whether the bytes are borrowed, so that they were not copied.
    #[must_use]
    pub fn is_borrowed(&self) -> bool {
        matches!(self.0, Cow::Borrowed(_))
    }

    /// Converts the content into a `Cow`, without a copy.
    #[must_use]
    #[inline]
    pub fn into_cow(self) -> Cow<'a, [u8]> {
        self.0
    }
}

impl<'a> From<Cow<'a, [u8]>> for CowBytes<'a> {
    fn from(bytes: Cow<'a, [u8]>) -> Self {
        Self(bytes)
    }
}

impl<'a> From<Cow<'a, str>> for CowBytes<'a> {
    fn from(text: Cow<'a, str>) -> Self {
        match text {
            Cow::Borrowed(text) => text.into(),
            Cow::Owned(text) => text.into(),
        }
    }
}

impl<'a> From<&'a [u8]> for CowBytes<'a> {
    #[inline]
    fn from(bytes: &'a [u8]) -> Self {
        Self(Cow::Borrowed(bytes))
    }
}

impl<'a> From<&'a str> for CowBytes<'a> {
    fn from(text: &'a str) -> Self {
        Self(Cow::Borrowed(text.as_bytes()))
    }
}

impl From<Vec<u8>> for CowBytes<'_> {
    #[inline]
    fn from(bytes: Vec<u8>) -> Self {
        Self(Cow::Owned(bytes))
    }
}

impl From<String> for CowBytes<'_> {
    fn from(text: String) -> Self {
        Self(Cow::Owned(text.into_bytes()))
    }
}

impl fmt::Debug for CowBytes<'_> {
    /// Formats UTF-8 as a string, so that failed tests are readable, and other bytes as a list.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.as_str() {
            Some(text) => fmt::Debug::fmt(text, f),
            None => fmt::Debug::fmt(&self.0, f),
        }
    }
}

#[cfg(feature = "serde")]
impl serde::Serialize for CowBytes<'_> {
    /// Serializes UTF-8 as a string if the format is human-readable, and everything else as bytes.
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self.as_str() {
            Some(text) if to.is_human_readable() => to.serialize_str(text),
            _ => to.serialize_bytes(&self.0),
        }
    }
}

#[cfg(feature = "serde")]
impl<'de> serde::Deserialize<'de> for CowBytes<'_> {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct BytesVisitor;
        impl<'de> serde::de::Visitor<'de> for BytesVisitor {
            type Value = Vec<u8>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string or bytes")
            }

            fn visit_str<E>(self, text: &str) -> Result<Vec<u8>, E> {
                Ok(text.as_bytes().to_vec())
            }

            fn visit_bytes<E>(self, bytes: &[u8]) -> Result<Vec<u8>, E> {
                Ok(bytes.to_vec())
            }

            fn visit_seq<A: serde::de::SeqAccess<'de>>(
                self,
                mut seq: A,
            ) -> Result<Vec<u8>, A::Error> {
                let mut bytes = Vec::new();
                while let Some(byte) = seq.next_element()? {
                    bytes.push(byte);
                }
                Ok(bytes)
            }
        }
        let bytes = if from.is_human_readable() {
            from.deserialize_any(BytesVisitor)?
        } else {
            from.deserialize_byte_buf(BytesVisitor)?
        };
        Ok(bytes.into())
    }
}
