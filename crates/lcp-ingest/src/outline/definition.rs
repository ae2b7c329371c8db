//! The definitions in a text.

/// A function, type or value that a text defines.
///
/// ```
/// # #[cfg(feature = "rust")] {
/// use lcp_ingest::outline::{DefinitionKind, InputKind, definitions};
/// use lcp_types::Lang;
///
/// let text = "/// A door.\npub struct Door;\n\nimpl Door {\n    fn open(&self) {\n    }\n}\n";
/// let found = definitions(InputKind::Code(Lang::Rust), text);
/// let open = found.iter().find(|one| one.name == "open").unwrap();
/// assert_eq!((open.first_line, open.last_line, open.depth), (5, 6, 1));
/// assert_eq!(open.kind, DefinitionKind::Function);
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Definition {
    /// The name; empty if it has none.
    pub name: String,
    /// The first line, from 1. Comments and attributes above it are not included.
    pub first_line: usize,
    /// The last line, included.
    pub last_line: usize,
    /// The kind.
    pub kind: DefinitionKind,
    /// The number of definitions that contain it.
    pub depth: usize,
}

/// The kind of a definition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DefinitionKind {
    /// A function or method with a body, or a macro.
    Function,
    /// A type or a namespace, which can contain other definitions.
    Type,
    /// A constant, a field, a signature without a body, or another name.
    Value,
}
