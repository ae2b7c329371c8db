//! The largest folders of files, for errors.

use std::collections::BTreeMap;

use crate::paths::escape;

/// The maximum number of folders in a list.
const LISTED: usize = 5;

/// Returns a list of the largest folders of these labels, with their sizes. A folder that has nine
/// tenths of all bytes is replaced by the folders in it.
pub(crate) fn largest<'f>(files: impl Iterator<Item = (&'f str, u64)>) -> String {
    let files: Vec<_> = files.collect();
    let mut above = "";
    let folders = loop {
        let (mut folders, mut total) = (BTreeMap::new(), 0_u64);
        for &(label, size) in &files {
            let Some(name) = label.strip_prefix(above) else { continue };
            total = total.saturating_add(size);
            if let Some((folder, _)) = name.split_once('/') {
                let folder = &label[..=above.len() + folder.len()];
                let of_folder: &mut u64 = folders.entry(folder).or_default();
                *of_folder = of_folder.saturating_add(size);
            }
        }
        let most = folders.iter().max_by_key(|(_, size)| **size);
        match most {
            Some((folder, size)) if *size >= total - total / 10 => above = folder,
            Some(_) => break folders,
            None => break BTreeMap::from([(above, total)]),
        }
    };
    let mut folders: Vec<_> = folders.into_iter().collect();
    folders.sort_by_key(|(_, size)| std::cmp::Reverse(*size));
    let name = |folder: &str| match folder {
        "" => ".".to_owned(),
        folder => escape(folder),
    };
    let listed = folders
        .iter()
        .take(LISTED)
        .map(|(folder, size)| format!("{} ({:.1} MiB)", name(folder), mebibytes(*size)));
    listed.collect::<Vec<_>>().join(", ")
}

#[expect(clippy::cast_precision_loss, reason = "one decimal is shown")]
fn mebibytes(bytes: u64) -> f64 {
    bytes as f64 / f64::from(1 << 20)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn largest_folders_are_those_below_a_common_one() {
        let files = [
            ("README.md", 1 << 20),
            ("src/a/x.rs", 60 << 20),
            ("src/b/c/y.rs", 20 << 20),
            ("src/b/z.rs", 30 << 20),
        ];
        assert_eq!(largest(files.into_iter()), "src/a/ (60.0 MiB), src/b/ (50.0 MiB)");
        assert_eq!(largest([("a.rs", 1 << 19)].into_iter()), ". (0.5 MiB)");
        assert_eq!(largest([("a/b/c.rs", 1 << 20)].into_iter()), "a/b/ (1.0 MiB)");
    }
}
