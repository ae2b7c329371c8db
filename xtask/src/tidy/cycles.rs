//! Import cycles between the source files of a crate.
//!
//! A file depends on the files that define the names it uses. A re-export does not count as a use,
//! and a name is followed through re-exports to its definition, so a facade (`lib.rs`, `mod.rs`)
//! causes no cycle by itself. A module owns its submodules: it does not depend on them, but they
//! depend on it if they use its types. Test modules and the arguments of macros are not read.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use syn::visit::Visit;
use syn::{Attribute, Item, ItemMod, ItemUse, UseTree, Visibility};

/// A path of names from the root of the crate.
type ModulePath = Vec<String>;

/// The modules of a crate, with the names they define, and the references in its files.
#[derive(Default)]
struct Crate {
    modules: BTreeMap<ModulePath, Module>,
    files: BTreeMap<PathBuf, Vec<Reference>>,
}

#[derive(Default)]
struct Module {
    file: PathBuf,
    defined: BTreeSet<String>,
    /// Imported names: the local name, and the path that it stands for.
    imported: Vec<(String, ModulePath)>,
    /// Paths of `use path::*`.
    globs: Vec<ModulePath>,
}

/// A path that occurs in a file, relative to the module that contains it.
struct Reference {
    module: ModulePath,
    path: Vec<String>,
}

/// Returns the groups of files that depend on each other, each sorted.
///
/// `sources` are the files of one crate below `src`, by path. Files that no `mod` item names are
/// ignored. So are files that don't parse, because the compiler reports them.
pub(super) fn find(sources: &BTreeMap<PathBuf, String>, root: &Path) -> Vec<Vec<PathBuf>> {
    let mut krate = Crate::default();
    krate.load(sources, root, &[]);
    strongly_connected(&krate.dependencies())
}

impl Crate {
    fn load(&mut self, sources: &BTreeMap<PathBuf, String>, file: &Path, module: &[String]) {
        let Some(syntax) = sources.get(file).and_then(|text| syn::parse_file(text).ok()) else {
            return;
        };
        let mut folder = file.with_extension("");
        if file.ends_with("mod.rs") || module.is_empty() {
            folder.pop();
        }
        self.files.insert(file.to_owned(), Vec::new());
        self.read_items(sources, file, &folder, module, &syntax.items);
    }

    fn read_items(
        &mut self,
        sources: &BTreeMap<PathBuf, String>,
        file: &Path,
        folder: &Path,
        module: &[String],
        items: &[Item],
    ) {
        let mut this = Module { file: file.to_owned(), ..Module::default() };
        for item in items {
            if is_test(attributes(item)) {
                continue;
            }
            if let Some(name) = name(item) {
                this.defined.insert(name);
            }
            match item {
                Item::Use(import) => {
                    let is_reexport = !matches!(import.vis, Visibility::Inherited);
                    let references = self.files.entry(file.to_owned()).or_default();
                    each_leaf(import, &mut |path, alias| {
                        match (alias, path.last().is_some_and(|last| last == "*")) {
                            (_, true) => this.globs.push(path[..path.len() - 1].to_vec()),
                            (alias, _) => this.imported.push((alias, path.clone())),
                        }
                        if !is_reexport {
                            references.push(Reference { module: module.to_vec(), path });
                        }
                    });
                }
                Item::Mod(child) => {
                    let name = child.ident.to_string();
                    let path: ModulePath = [module, std::slice::from_ref(&name)].concat();
                    if let Some((_, items)) = &child.content {
                        self.read_items(sources, file, &folder.join(&name), &path, items);
                    } else {
                        let flat = folder.join(format!("{name}.rs"));
                        let nested = folder.join(&name).join("mod.rs");
                        let file = if sources.contains_key(&flat) { flat } else { nested };
                        self.load(sources, &file, &path);
                    }
                }
                other => {
                    let mut paths = Paths { module, references: Vec::new() };
                    paths.visit_item(other);
                    self.files.entry(file.to_owned()).or_default().extend(paths.references);
                }
            }
        }
        self.modules.insert(module.to_vec(), this);
    }

    /// Returns, for each file, the other files that define names it uses.
    fn dependencies(&self) -> BTreeMap<&Path, BTreeSet<&Path>> {
        let targets = |file: &Path, references: &[Reference]| {
            let targets = references.iter().filter_map(|reference| {
                let target = self.definition(&reference.module, &reference.path, 8)?;
                let is_own = target == file || is_below(target, file);
                (!is_own).then_some(target)
            });
            targets.collect()
        };
        self.files.iter().map(|(file, refs)| (file.as_path(), targets(file, refs))).collect()
    }

    /// Returns the file that defines a path as seen from `module`, or `None` if another crate
    /// defines it. `depth` limits the number of re-exports that are followed.
    fn definition(&self, module: &[String], path: &[String], depth: usize) -> Option<&Path> {
        let (first, rest) = path.split_first()?;
        let mut at = match first.as_str() {
            "crate" => Vec::new(),
            "self" => module.to_vec(),
            "super" => module[..module.len().checked_sub(1)?].to_vec(),
            name => return self.member(module, name, rest, depth),
        };
        for (index, name) in rest.iter().enumerate() {
            if name == "super" {
                at.pop()?;
                continue;
            }
            return self.member(&at, name, &rest[index + 1..], depth);
        }
        self.modules.get(&at).map(|module| module.file.as_path())
    }

    /// Returns the file that defines the path of `name`, a member of the module `at`, and `rest`.
    fn member(&self, at: &[String], name: &str, rest: &[String], depth: usize) -> Option<&Path> {
        let module = self.modules.get(at)?;
        let child: ModulePath = at.iter().cloned().chain([name.to_owned()]).collect();
        if let Some(below) = self.modules.get(&child) {
            return match rest.split_first() {
                Some((next, rest)) => self.member(&child, next, rest, depth),
                None => Some(&below.file),
            };
        }
        if module.defined.contains(name) {
            return Some(&module.file);
        }
        let depth = depth.checked_sub(1)?;
        if let Some((_, path)) = module.imported.iter().find(|(alias, _)| alias == name) {
            let path: Vec<_> = path.iter().chain(rest).cloned().collect();
            return self.definition(at, &path, depth);
        }
        module.globs.iter().find_map(|glob| {
            let path: Vec<_> = glob.iter().cloned().chain([name.to_owned()]).collect();
            self.definition(at, &path, depth)
        })
    }
}

/// Returns whether `file` belongs to a submodule of the module in `parent`.
fn is_below(file: &Path, parent: &Path) -> bool {
    let is_root = parent == Path::new("lib.rs") || parent == Path::new("main.rs");
    if is_root || parent.ends_with("mod.rs") {
        return parent.parent().is_some_and(|folder| file.starts_with(folder));
    }
    file.starts_with(parent.with_extension(""))
}

/// Collects the paths in an item that can lead to another file.
struct Paths<'m> {
    module: &'m [String],
    references: Vec<Reference>,
}

impl<'ast> Visit<'ast> for Paths<'_> {
    fn visit_path(&mut self, path: &'ast syn::Path) {
        // A single name is either imported, and was already read, or defined in this file.
        if path.segments.len() > 1 && path.leading_colon.is_none() {
            let names = path.segments.iter().map(|segment| segment.ident.to_string()).collect();
            self.references.push(Reference { module: self.module.to_vec(), path: names });
        }
        syn::visit::visit_path(self, path);
    }

    fn visit_item_mod(&mut self, _: &'ast ItemMod) {}
}

fn attributes(item: &Item) -> &[Attribute] {
    match item {
        Item::Const(item) => &item.attrs,
        Item::Enum(item) => &item.attrs,
        Item::Fn(item) => &item.attrs,
        Item::Impl(item) => &item.attrs,
        Item::Mod(item) => &item.attrs,
        Item::Struct(item) => &item.attrs,
        Item::Use(item) => &item.attrs,
        _ => &[],
    }
}

fn is_test(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        attribute.path().is_ident("cfg")
            && attribute.parse_args::<syn::Path>().is_ok_and(|path| path.is_ident("test"))
    })
}

fn name(item: &Item) -> Option<String> {
    let ident = match item {
        Item::Const(item) => &item.ident,
        Item::Enum(item) => &item.ident,
        Item::Fn(item) => &item.sig.ident,
        Item::Macro(item) => item.ident.as_ref()?,
        Item::Static(item) => &item.ident,
        Item::Struct(item) => &item.ident,
        Item::Trait(item) => &item.ident,
        Item::Type(item) => &item.ident,
        Item::Union(item) => &item.ident,
        _ => return None,
    };
    Some(ident.to_string())
}

/// Calls `leaf` with each imported path and its local name.
fn each_leaf(import: &ItemUse, leaf: &mut impl FnMut(ModulePath, String)) {
    fn walk(tree: &UseTree, path: &ModulePath, leaf: &mut impl FnMut(ModulePath, String)) {
        let with = |name: &syn::Ident| {
            let mut path = path.clone();
            // `use a::{self}` imports `a`.
            if name != "self" || path.is_empty() {
                path.push(name.to_string());
            }
            path
        };
        match tree {
            UseTree::Path(tree) => walk(&tree.tree, &with(&tree.ident), leaf),
            UseTree::Name(tree) => {
                let path = with(&tree.ident);
                let alias = path.last().cloned().unwrap_or_default();
                leaf(path, alias);
            }
            UseTree::Rename(tree) => leaf(with(&tree.ident), tree.rename.to_string()),
            UseTree::Glob(_) => {
                leaf([path.as_slice(), &["*".to_owned()]].concat(), String::new());
            }
            UseTree::Group(tree) => tree.items.iter().for_each(|tree| walk(tree, path, leaf)),
        }
    }
    if import.leading_colon.is_none() {
        walk(&import.tree, &Vec::new(), leaf);
    }
}

/// Returns the sets of two or more nodes that all reach each other.
fn strongly_connected(graph: &BTreeMap<&Path, BTreeSet<&Path>>) -> Vec<Vec<PathBuf>> {
    let reachable = |from: &Path| {
        let mut reached = BTreeSet::new();
        let mut open: Vec<&Path> = graph.get(from).into_iter().flatten().copied().collect();
        while let Some(node) = open.pop() {
            if reached.insert(node) {
                open.extend(graph.get(node).into_iter().flatten());
            }
        }
        reached
    };
    let reached: BTreeMap<_, _> = graph.keys().map(|node| (*node, reachable(node))).collect();
    let groups = graph.keys().filter(|node| reached[*node].contains(*node)).map(|node| {
        let mutual = reached[node].iter().filter(|other| reached[*other].contains(node));
        mutual.map(|path| path.to_path_buf()).collect::<Vec<_>>()
    });
    groups.collect::<BTreeSet<_>>().into_iter().collect()
}

#[cfg(test)]
mod tests;
