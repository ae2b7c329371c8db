//! The MCP server in `config.toml` of Codex.

use toml_edit::{Array, DocumentMut, Item, Table, TableLike, value};

use super::document::{EditError, Edited};

type Result<T> = std::result::Result<T, EditError>;

/// The table of servers, and the name of the server.
const SERVERS: &str = "mcp_servers";
const NAME: &str = "lcp";

/// Sets `[mcp_servers.lcp]`. Returns `None` if it is there already. It may have more fields.
pub(super) fn set(text: &str, command: &str, args: &[&str]) -> Result<Option<Edited>> {
    let mut document = parse(text)?;
    let is_exact = document.to_string() == text;
    let mut new = table(command, args);
    let servers = document.entry(SERVERS).or_insert_with(|| {
        let mut servers = Table::new();
        servers.set_implicit(true);
        Item::Table(servers)
    });
    let is_inline = servers.is_inline_table();
    let servers = servers
        .as_table_like_mut()
        .ok_or_else(|| EditError::new(format!("`{SERVERS}` is not a table")))?;
    let existing = servers.get(NAME);
    if existing.and_then(Item::as_table_like).is_some_and(|there| includes(there, &new)) {
        return Ok(None);
    }
    let replaces = existing.is_some();
    if !is_exact {
        // A table at the end of the file is valid after everything else.
        let can_append = !replaces && !is_inline;
        let text = format!("{}{}", text, block(&new));
        return if can_append { Ok(Some(Edited { text, replaces })) } else { Err(inexact()) };
    }
    let is_inline = is_inline || existing.is_some_and(Item::is_inline_table);
    if is_inline {
        servers.insert(NAME, value(new.into_inline_table()));
    } else {
        if let Some(there) = existing.and_then(Item::as_table) {
            // The comments above the header stay.
            *new.decor_mut() = there.decor().clone();
        } else if !text.trim().is_empty() {
            new.decor_mut().set_prefix("\n");
        }
        servers.insert(NAME, Item::Table(new));
    }
    Ok(Some(Edited { text: document.to_string(), replaces }))
}

/// Removes `[mcp_servers.lcp]`.
pub(super) fn unset(text: &str) -> Result<Edited> {
    let mut document = parse(text)?;
    if document.to_string() != text {
        return unset_block(text, &document);
    }
    if let Some(servers) = document.get_mut(SERVERS).and_then(Item::as_table_like_mut) {
        servers.remove(NAME);
        let is_empty = servers.is_empty();
        let is_implicit = document[SERVERS].as_table().is_none_or(Table::is_implicit);
        if is_empty && is_implicit {
            document.remove(SERVERS);
        }
    }
    Ok(Edited { text: document.to_string(), replaces: false })
}

fn table(command: &str, args: &[&str]) -> Table {
    let mut table = Table::new();
    table.insert("command", value(command));
    table.insert("args", value(args.iter().copied().collect::<Array>()));
    table
}

/// Returns the text of a table that is put at the end of a file.
fn block(table: &Table) -> String {
    format!("\n[{SERVERS}.{NAME}]\n{table}")
}

/// Removes the table as [`set`] puts it at the end of a file.
fn unset_block(text: &str, document: &DocumentMut) -> Result<Edited> {
    let there = document.get(SERVERS).and_then(|servers| servers.get(NAME));
    let Some(there) = there else { return Ok(Edited { text: text.to_owned(), replaces: false }) };
    let rest = there.as_table().and_then(|table| {
        let (before, after) = text.split_once(&block(table))?;
        Some(format!("{before}{after}"))
    });
    let text = rest.filter(|rest| {
        parse(rest)
            .is_ok_and(|rest| rest.get(SERVERS).is_none_or(|servers| servers.get(NAME).is_none()))
    });
    text.map(|text| Edited { text, replaces: false }).ok_or_else(inexact)
}

fn inexact() -> EditError {
    EditError::new(format!(
        "`{SERVERS}.{NAME}` cannot be edited without a change of other lines (mixed line ends, or \
         dotted keys between others)"
    ))
}

fn parse(text: &str) -> Result<DocumentMut> {
    let document: DocumentMut = text.parse().map_err(|error: toml_edit::TomlError| {
        let position = error.span().map(|span| {
            let before = &text[..span.start.min(text.len())];
            let line = before.rfind('\n').map_or(0, |at| at + 1);
            (before.matches('\n').count() + 1, before[line..].chars().count() + 1)
        });
        EditError {
            message: format!("not valid TOML: {}", error.message().replace('\n', ", ")),
            position,
        }
    })?;
    Ok(document)
}

/// Returns whether `there` has the fields of `new`.
fn includes(there: &dyn TableLike, new: &Table) -> bool {
    let text = |item: Option<&Item>| item.and_then(Item::as_str).map(str::to_owned);
    let words = |item: Option<&Item>| {
        let array = item.and_then(Item::as_array)?;
        array.iter().map(|word| word.as_str().map(str::to_owned)).collect::<Option<Vec<_>>>()
    };
    text(there.get("command")) == text(new.get("command"))
        && words(there.get("args")) == words(new.get("args"))
}
