//! Headers between a client, a gateway and a provider.

use hyper::HeaderMap;
use hyper::header::{
    CONNECTION, CONTENT_ENCODING, CONTENT_LENGTH, EXPECT, HOST, HeaderName, HeaderValue,
    PROXY_AUTHENTICATE, PROXY_AUTHORIZATION, TE, TRAILER, TRANSFER_ENCODING, UPGRADE,
};

use super::access;

/// The headers of a connection, which are not passed on.
const HOP_BY_HOP: [HeaderName; 10] = [
    CONNECTION,
    HeaderName::from_static("keep-alive"),
    PROXY_AUTHENTICATE,
    PROXY_AUTHORIZATION,
    HeaderName::from_static("proxy-connection"),
    TE,
    TRAILER,
    TRANSFER_ENCODING,
    UPGRADE,
    EXPECT,
];

/// Removes the headers that a request has only for this gateway.
pub(super) fn clean_request(headers: &mut HeaderMap) {
    remove_hop_by_hop(headers);
    for name in [HOST, CONTENT_LENGTH, HeaderName::from_static(access::HEADER)] {
        headers.remove(name);
    }
}

/// Removes the headers that a response has only for this gateway.
pub(super) fn remove_hop_by_hop(headers: &mut HeaderMap) {
    let named: Vec<HeaderName> = headers
        .get_all(CONNECTION)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|list| list.split(','))
        .filter_map(|name| name.trim().parse().ok())
        .collect();
    for name in HOP_BY_HOP.iter().chain(&named) {
        headers.remove(name);
    }
}

/// Returns whether a request asks for a WebSocket. Some clients of HTTP offer other upgrades with each
/// request, which a server may ignore.
pub(super) fn is_websocket(headers: &HeaderMap) -> bool {
    let mut values = headers.get_all(UPGRADE).iter().filter_map(|value| value.to_str().ok());
    values.any(|value| value.to_ascii_lowercase().contains("websocket"))
}

/// The encoding of a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Encoding {
    Identity,
    Gzip,
    Deflate,
    Brotli,
    Zstd,
    /// One that a gateway does not read.
    Other,
}

/// Returns the encoding of the body.
pub(super) fn encoding(headers: &HeaderMap) -> Encoding {
    let mut values = headers.get_all(CONTENT_ENCODING).iter();
    match (values.next().map(HeaderValue::as_bytes), values.next()) {
        (None | Some(b"" | b"identity"), None) => Encoding::Identity,
        (Some(b"gzip" | b"x-gzip"), None) => Encoding::Gzip,
        (Some(b"deflate"), None) => Encoding::Deflate,
        (Some(b"br"), None) => Encoding::Brotli,
        (Some(b"zstd"), None) => Encoding::Zstd,
        _ => Encoding::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(all: &[(&'static str, &str)]) -> HeaderMap {
        let mut map = HeaderMap::new();
        for (name, value) in all {
            map.append(*name, value.parse().unwrap());
        }
        map
    }

    #[test]
    fn headers_of_a_connection_are_removed() {
        let mut request = headers(&[
            ("connection", "close, X-Own"),
            ("x-own", "1"),
            ("host", "localhost"),
            ("content-length", "3"),
            ("x-lcp-token", "t"),
            ("expect", "100-continue"),
            ("accept-encoding", "gzip"),
            ("anthropic-beta", "a"),
            ("anthropic-beta", "b"),
        ]);
        clean_request(&mut request);
        let wanted = headers(&[
            ("accept-encoding", "gzip"),
            ("anthropic-beta", "a"),
            ("anthropic-beta", "b"),
        ]);
        assert_eq!(request, wanted);
    }

    #[test]
    fn only_websockets_are_upgrades() {
        assert!(is_websocket(&headers(&[("upgrade", "WebSocket")])));
        assert!(!is_websocket(&headers(&[("upgrade", "h2c")])));
    }

    #[test]
    fn encodings_are_recognized() {
        assert_eq!(encoding(&headers(&[])), Encoding::Identity);
        assert_eq!(encoding(&headers(&[("content-encoding", "br")])), Encoding::Brotli);
        assert_eq!(encoding(&headers(&[("content-encoding", "zstd")])), Encoding::Zstd);
        assert_eq!(encoding(&headers(&[("content-encoding", "zstd, gzip")])), Encoding::Other);
    }
}
