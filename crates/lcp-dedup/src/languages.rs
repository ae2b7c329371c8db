//! Properties of the languages of texts: the meaning of white space, and comments.

use lcp_types::{BlockContent, DataFormat, FormatHint, Lang};

use crate::near::CommentSyntax;

/// Returns whether white space is significant in this content.
pub(crate) fn has_meaning_in_space(content: &BlockContent<'_>) -> bool {
    match content {
        BlockContent::Code(code) => !matches!(
            code.lang,
            Lang::Rust
                | Lang::TypeScript
                | Lang::JavaScript
                | Lang::Go
                | Lang::Java
                | Lang::C
                | Lang::Cpp
        ),
        BlockContent::Document(document) => document.format_hint != FormatHint::Html,
        BlockContent::StructuredData(data) => data.format != DataFormat::Json,
        // Tool output is often numbered.
        BlockContent::ToolResult(_) => false,
        _ => true,
    }
}

/// Returns the markers of comments in this content.
pub(crate) fn comment_syntax(content: &BlockContent<'_>) -> CommentSyntax {
    match content {
        BlockContent::Code(code) => match code.lang {
            Lang::Rust
            | Lang::TypeScript
            | Lang::JavaScript
            | Lang::Go
            | Lang::Java
            | Lang::C
            | Lang::Cpp => CommentSyntax::SLASHES,
            Lang::Python | Lang::Ruby | Lang::Shell | Lang::Yaml | Lang::Toml => {
                CommentSyntax::HASH
            }
            Lang::Css => CommentSyntax::STARS,
            Lang::Sql => CommentSyntax::DASHES,
            Lang::Html | Lang::Markdown => CommentSyntax::MARKUP,
            Lang::Json => CommentSyntax::NONE,
            _ => CommentSyntax::ANY,
        },
        BlockContent::Document(document) => match document.format_hint {
            FormatHint::Markdown | FormatHint::Html => CommentSyntax::MARKUP,
            _ => CommentSyntax::NONE,
        },
        BlockContent::StructuredData(data) => match data.format {
            DataFormat::Yaml | DataFormat::Toml => CommentSyntax::HASH,
            _ => CommentSyntax::NONE,
        },
        // A tool often prints code.
        BlockContent::ToolResult(_) => CommentSyntax::ANY,
        _ => CommentSyntax::NONE,
    }
}
