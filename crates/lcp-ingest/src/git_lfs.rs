//! Pointers of Git LFS: small texts that stand for large files (RFC 0013).

/// The maximum size of a pointer in bytes, from the specification of Git LFS.
const BYTES_MAX: usize = 1024;

/// The first lines of pointers; the second one is from before the first release.
const VERSIONS: [&str; 2] =
    ["version https://git-lfs.github.com/spec/v1", "version https://hawser.github.com/spec/v1"];

/// Returns the size of the file that a pointer stands for, or `None` if the text is not a pointer.
pub(crate) fn pointer_size(text: &[u8]) -> Option<u64> {
    let text = std::str::from_utf8(text).ok().filter(|text| text.len() <= BYTES_MAX)?;
    let mut lines = text.lines();
    lines.next().filter(|line| VERSIONS.contains(line))?;
    let (mut has_id, mut size) = (false, None);
    for line in lines {
        match line.split_once(' ')? {
            ("oid", id) => has_id = id.contains(':'),
            ("size", bytes) => size = Some(bytes.parse().ok()?),
            _ => {}
        }
    }
    size.filter(|_| has_id)
}

/// Returns the text that is packed in place of a pointer.
pub(crate) fn placeholder(size: u64) -> String {
    let plural = if size == 1 { "" } else { "s" };
    format!("[Git LFS file, {size} byte{plural}]\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_complete_pointers_are_recognized() {
        let pointer = "version https://git-lfs.github.com/spec/v1\n\
                       ext-0-x sha256:aa\noid sha256:4d7a\nsize 12345678\n";
        assert_eq!(pointer_size(pointer.as_bytes()), Some(12_345_678));
        assert_eq!(pointer_size(pointer.replace('\n', "\r\n").as_bytes()), Some(12_345_678));
        assert_eq!(placeholder(12_345_678), "[Git LFS file, 12345678 bytes]\n");
        for (from, to) in [
            ("v1", "v2"),
            ("oid ", "id "),
            ("size 1", "size -1"),
            ("size 12345678\n", ""),
            ("ext-0-x ", "x"),
        ] {
            assert_eq!(pointer_size(pointer.replace(from, to).as_bytes()), None, "{to}");
        }
        let long = format!("{pointer}x {}\n", "y".repeat(BYTES_MAX));
        assert_eq!(pointer_size(long.as_bytes()), None);
        assert_eq!(pointer_size(b"# Git LFS\nversion https://git-lfs.github.com/spec/v1\n"), None);
    }
}
