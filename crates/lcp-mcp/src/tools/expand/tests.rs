//! Pages of a text.

use super::*;

#[test]
fn pages_concatenate_to_the_text() {
    let text = "aüb€c".repeat(7);
    for limit in 1..9 {
        let (mut offset, mut read) = (0, String::new());
        while offset < text.len() {
            let page = page(&text, offset, Some(limit)).unwrap();
            assert!(!page.is_empty());
            read += page;
            offset += page.len();
        }
        assert_eq!(read, text);
    }
    assert_eq!(page(&text, text.len(), None).unwrap(), "");
    for offset in [2, text.len() + 1, usize::MAX] {
        assert_eq!(page(&text, offset, None).unwrap_err().code, "usage");
    }
    for limit in [0, PAGE_BYTES_MAX + 1] {
        assert_eq!(page(&text, 0, Some(limit)).unwrap_err().code, "usage");
    }
}
