//! Images within JSON: base64 data and media types.

use base64::Engine;
use base64::alphabet::STANDARD as ALPHABET;
use base64::engine::DecodePaddingMode;
use base64::engine::general_purpose::{GeneralPurpose, GeneralPurposeConfig, STANDARD};
use lcp_types::MediaType;

/// A base64 decoder that accepts data with and without padding.
const LENIENT: GeneralPurpose = GeneralPurpose::new(
    &ALPHABET,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

pub(crate) fn media_type(mime: &str) -> Option<MediaType> {
    match mime {
        "image/png" => Some(MediaType::Png),
        "image/jpeg" | "image/jpg" => Some(MediaType::Jpeg),
        "image/gif" => Some(MediaType::Gif),
        "image/svg+xml" => Some(MediaType::Svg),
        "image/webp" => Some(MediaType::Webp),
        _ => None,
    }
}

/// Returns the MIME type of an image that models can see; `None` for SVG and unknown types.
pub(crate) const fn mime_type(media: MediaType) -> Option<&'static str> {
    match media {
        MediaType::Png => Some("image/png"),
        MediaType::Jpeg => Some("image/jpeg"),
        MediaType::Gif => Some("image/gif"),
        MediaType::Webp => Some("image/webp"),
        MediaType::Svg | MediaType::Other(_) => None,
    }
}

/// Decodes base64 text. Whitespace in it is ignored.
pub(crate) fn decode(text: &str) -> Option<Vec<u8>> {
    if !text.contains(|c: char| c.is_ascii_whitespace()) {
        return LENIENT.decode(text).ok();
    }
    let text: String = text.chars().filter(|c| !c.is_ascii_whitespace()).collect();
    LENIENT.decode(text).ok()
}

/// Encodes bytes as base64 with padding.
pub(crate) fn encode(data: &[u8]) -> String {
    STANDARD.encode(data)
}

/// Returns the media type and data of an image in a data URI (`data:image/png;base64,…`).
pub(crate) fn data_uri(uri: &str) -> Option<(MediaType, Vec<u8>)> {
    let (head, data) = uri.strip_prefix("data:")?.split_once(',')?;
    let mime = head.strip_suffix(";base64")?;
    let mime = mime.split(';').next().unwrap_or(mime);
    Some((media_type(mime)?, decode(data)?))
}
