//! The languages: a file each, and which grammars may read which.

#[cfg(feature = "c")]
mod c;
#[cfg(feature = "cpp")]
mod cpp;
#[cfg(feature = "go")]
mod go;
#[cfg(feature = "java")]
mod java;
#[cfg(feature = "javascript")]
mod javascript;
#[cfg(feature = "python")]
mod python;
#[cfg(feature = "rust")]
mod rust;
#[cfg(feature = "typescript")]
mod typescript;

use lcp_types::Lang;

use super::language::Language;

/// The languages that a text may be written in, the likeliest first.
pub(super) fn of(lang: Lang) -> &'static [&'static Language] {
    match lang {
        // Headers of C++ are called like those of C.
        #[cfg(all(feature = "c", feature = "cpp"))]
        Lang::C => &[&c::C, &cpp::CPP],
        #[cfg(all(feature = "c", not(feature = "cpp")))]
        Lang::C => &[&c::C],
        #[cfg(feature = "cpp")]
        Lang::Cpp => &[&cpp::CPP],
        #[cfg(feature = "go")]
        Lang::Go => &[&go::GO],
        #[cfg(feature = "java")]
        Lang::Java => &[&java::JAVA],
        #[cfg(feature = "javascript")]
        Lang::JavaScript => &[&javascript::JAVASCRIPT],
        #[cfg(feature = "python")]
        Lang::Python => &[&python::PYTHON],
        #[cfg(feature = "rust")]
        Lang::Rust => &[&rust::RUST],
        #[cfg(feature = "typescript")]
        Lang::TypeScript => &[&typescript::TYPESCRIPT, &typescript::TSX],
        _ => &[],
    }
}
