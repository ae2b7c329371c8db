use lcp_types::{Block, BlockContent, MediaType};

use crate::images::{data_uri, decode, encode};
use crate::{raw_json, typed_results};

#[test]
fn unpaired_surrogates_become_replacement_characters() {
    for (json, expected) in [
        (r#""a\ud800b""#, r#""a\ufffdb""#),
        (r#""\udc00\ud83e\udd80\ud800\ud800\udc00""#, r#""\ufffd\ud83e\udd80\ufffd\ud800\udc00""#),
        (r#""\\ud800 \n\u00e9 \ud800""#, r#""\\ud800 \n\u00e9 \ufffd""#),
        (r#"{"é":"\\"}"#, r#"{"é":"\\"}"#),
    ] {
        assert_eq!(raw_json::strict(json.to_owned()), expected);
        serde_json::from_str::<serde_json::Value>(expected).unwrap();
    }
}

#[test]
fn compact_json_has_no_white_space_outside_of_strings() {
    let json = "{\n  \"a b\": [1, \"\\\\\", \" \\\" x \"],\t\"\": null\r\n}";
    assert_eq!(raw_json::compact(json), r#"{"a b":[1,"\\"," \" x "],"":null}"#);
}

#[test]
fn base64_decodes_without_padding_and_with_line_breaks() {
    assert_eq!(decode("aGk="), Some(b"hi".to_vec()));
    assert_eq!(decode("aGk"), Some(b"hi".to_vec()));
    assert_eq!(decode("aG\r\nk="), Some(b"hi".to_vec()));
    assert_eq!(decode("a?"), None);
    assert_eq!(encode(b"hi"), "aGk=");
}

#[test]
fn data_uris_with_image_types_become_images() {
    let png = Some((MediaType::Png, b"hi".to_vec()));
    assert_eq!(data_uri("data:image/png;base64,aGk="), png);
    assert_eq!(data_uri("data:image/png;name=a.png;base64,aGk="), png);
    for none in ["data:image/png,aGk=", "data:image/bmp;base64,aGk=", "https://a/b.png", "data:"] {
        assert_eq!(data_uri(none), None, "{none}");
    }
}

fn typed(arguments: &str, text: &str) -> Option<(Block<'static>, String)> {
    typed_results::block(Some(arguments), text)
}

#[test]
fn typed_results_restore_their_original_text() {
    let lines = "     4→fn f() {\n     5→}";
    let unified = "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n";
    let read = |arguments| typed(arguments, lines);
    for result in [
        read(r#"{"file_path":"/src/f.rs","offset":4}"#),
        read(r#"{"command":"cat -n src/f.rs"}"#),
        read(r#"{"command":["cat","-n","src/f.rs"]}"#),
    ] {
        let (block, form) = result.unwrap();
        assert_eq!(
            (form.as_str(), typed_results::text(&form, &block).as_deref()),
            ("cat-n,6,arrow", Some(lines))
        );
        let BlockContent::Code(code) = &block.content else { panic!("{block:?}") };
        assert_eq!((code.line_start, code.line_end), (Some(4), Some(5)));
        assert!(code.path.ends_with("src/f.rs"));
    }
    let (block, form) = typed("{}", unified).unwrap();
    assert_eq!(typed_results::text(&form, &block).as_deref(), Some(unified));
    for arguments in ["", "{}", r#"{"path":""}"#, r#"{"command":"cat -n a | head"}"#] {
        assert!(read(arguments).is_none(), "{arguments}");
    }
}
