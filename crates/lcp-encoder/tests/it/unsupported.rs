//! Without the `zstd` feature compression is a clear error.

use lcp_encoder::{Compression, EncodeOptions, Error, encode};
use lcp_types::{Block, Role};

#[test]
fn compression_without_zstd_is_an_error() {
    for compression in [Compression::Block, Compression::Payload] {
        let options = EncodeOptions { compression, ..EncodeOptions::default() };
        let error = encode(&[Block::conversation(Role::User, "hi")], options);
        assert_eq!(error, Err(Error::CompressionUnsupported));
    }
    assert_eq!(
        Error::CompressionUnsupported.to_string(),
        "cannot compress: built without the `zstd` feature"
    );
}
