//! Content that is usually text, but need not be.

use std::borrow::Cow;
use std::fmt;

/// The `content` of a block: bytes, usually UTF-8, that are borrowed from a pack or owned.
///
/// ```
/// use lcp_types::CowBytes;
///
/// assert_eq!(CowBytes::from("text").as_str(), Some("text"));
/// assert_eq!(CowBytes::from(&[0xFF][..]).to_str_lossy(), "\u{FFFD}");
/// ```
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CowBytes<'a>(Cow<'a, [u8]>);

/// Bytes of a text that is checked byte by byte, without a search for ASCII.
const SHORT_BYTES_MAX: usize = 16;

impl<'a> CowBytes<'a> {
    /// The bytes.
    #[must_use]
    #[inline]
    pub fn as_slice(&self) -> &[u8] {
        &self.0
    }

    /// The text, where the bytes are UTF-8.
    #[must_use]
    #[inline]
    pub fn as_str(&self) -> Option<&str> {
        // Of the two ways there are, each is the faster for its lengths.
        if self.0.len() > SHORT_BYTES_MAX {
            return std::str::from_utf8(&self.0).ok();
        }
        let Some(chunk) = self.0.utf8_chunks().next() else { return Some("") };
        chunk.invalid().is_empty().then(|| chunk.valid())
    }

    /// The text, with U+FFFD in place of what is not UTF-8.
    #[must_use]
    pub fn to_str_lossy(&self) -> Cow<'_, str> {
        String::from_utf8_lossy(&self.0)
    }

    /// How many bytes there are.
    #[must_use]
    #[inline]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether the bytes are borrowed, and so were not copied.
    #[must_use]
    pub fn is_borrowed(&self) -> bool {
        matches!(self.0, Cow::Borrowed(_))
    }

    /// The bytes, still borrowed where they were.
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
    /// As text where it is text, so that a failed test can be read.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.as_str() {
            Some(text) => fmt::Debug::fmt(text, f),
            None => fmt::Debug::fmt(&self.0, f),
        }
    }
}

#[cfg(feature = "serde")]
impl serde::Serialize for CowBytes<'_> {
    /// Text as a string where the format is for people, else bytes.
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
