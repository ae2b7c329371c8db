//! A text whose parts can be sent without a copy.

use std::ops::Deref;
use std::sync::Arc;

use hyper::body::Bytes;

/// The text of a request.
#[derive(Clone, Debug)]
pub(super) struct Text(Arc<String>);

impl Text {
    /// Returns its bytes, which share its memory.
    pub(super) fn to_bytes(&self) -> Bytes {
        Bytes::from_owner(self.clone())
    }

    /// Returns the first `length` bytes, without a copy if nothing else uses the text.
    pub(super) fn into_beginning(self, length: usize) -> String {
        match Arc::try_unwrap(self.0) {
            Ok(mut text) => {
                text.truncate(length);
                text
            }
            Err(text) => text[..length].to_owned(),
        }
    }
}

impl From<String> for Text {
    fn from(text: String) -> Self {
        Self(Arc::new(text))
    }
}

impl Deref for Text {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl AsRef<[u8]> for Text {
    fn as_ref(&self) -> &[u8] {
        self.0.as_bytes()
    }
}
