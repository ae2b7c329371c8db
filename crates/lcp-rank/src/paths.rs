//! The parts of paths, and names of files.

/// Returns the folder of a path, which is empty at the top.
pub(crate) fn folder(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

/// Returns the last part of a path.
pub(crate) fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// Returns the name of a file without its extension.
pub(crate) fn stem(path: &str) -> &str {
    let name = file_name(path);
    name.rsplit_once('.').map_or(name, |(stem, _)| stem)
}

/// Returns the name of the module in a file: that of its folder for files such as `mod.rs`.
pub(crate) fn module_name(path: &str) -> &str {
    let name = file_name(path);
    let stem = name.split('.').next().unwrap_or(name);
    match stem {
        "mod" | "lib" | "main" | "__init__" | "index" => {
            let folder = path.strip_suffix(name).unwrap_or_default().trim_end_matches('/');
            let folder = folder.strip_suffix("/src").unwrap_or(folder);
            file_name(folder)
        }
        _ => stem,
    }
}

/// Returns whether a name ends with the extension of a known type of file.
pub(crate) fn is_file_name(name: &str) -> bool {
    let extension = name.rsplit_once('.').map(|(_, extension)| extension);
    extension.is_some_and(|extension| EXTENSIONS.split(' ').any(|known| known == extension))
}

/// The extensions of files that questions name. Other dotted names are modules.
const EXTENSIONS: &str = "c cc cfg cjs conf cpp cs css cts cxx go gradle h hh hpp html ini ipynb \
                          java js json jsx kt kts lock lua md mjs mod mts php pl proto py pyi rb \
                          rs rst scala sh sql svelte swift toml ts tsx txt vue xml yaml yml zig";
