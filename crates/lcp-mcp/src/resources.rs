//! The packs in memory and their renderings, as resources.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use percent_encoding::percent_decode_str;
use rmcp::model::{Resource, ResourceContents, ResourceTemplate};

use super::error::{ToolError, ToolResult, UNKNOWN_PACK};
use super::pack_cache::{CachedPack, URI_PREFIX};
use super::state::ServerState;
use super::text::check_length;
use super::tools::render;
use lcp_driver::OutputMode;

/// The media type of a pack.
const PACK_TYPE: &str = "application/vnd.lcp";

/// The maximum size in bytes of a pack that is returned whole.
const BYTES_MAX: usize = 16 << 20;

/// Lists the packs in memory.
pub(crate) fn list(state: &ServerState) -> Vec<Resource> {
    let resource = |pack: CachedPack| {
        Resource::new(pack.uri(), format!("{}.lcp", pack.id))
            .with_title(&*pack.title)
            .with_description("A pack. Append ?budget=8000&mode=xml to read it as text.")
            .with_mime_type(PACK_TYPE)
            .with_size(pack.bytes.len() as u64)
    };
    state.packs.list().into_iter().map(resource).collect()
}

/// Returns the URI template of renderings.
pub(crate) fn templates() -> Vec<ResourceTemplate> {
    let address = format!("{URI_PREFIX}{{id}}{{?budget,mode,verbosity,encoding,model}}");
    let template = ResourceTemplate::new(address, "rendering")
        .with_title("Pack rendered within a token budget")
        .with_description(
            "The text of a pack. mode: xml, markdown or minimal; verbosity: adaptive, summary or \
             full.",
        )
        .with_mime_type("text/plain");
    vec![template]
}

/// Reads a pack, or renders it if the URI has a query.
pub(crate) fn read(state: &ServerState, uri: &str) -> ToolResult<ResourceContents> {
    let escaped = uri.escape_debug();
    let unknown = || ToolError::new(UNKNOWN_PACK, format!("resource {escaped} does not exist"));
    let path = uri.strip_prefix(URI_PREFIX).ok_or_else(unknown)?;
    let (id, query) = path.split_once('?').map_or((path, None), |(id, query)| (id, Some(query)));
    let pack = state.packs.get(id).ok_or_else(unknown)?;
    let Some(query) = query else {
        if pack.bytes.len() > BYTES_MAX {
            let message = format!("the pack exceeds the limit of {BYTES_MAX} bytes");
            let hint = "append ?budget=8000 to read it as text";
            return Err(ToolError::limit(message).with_hint(hint));
        }
        let blob = ResourceContents::blob(STANDARD.encode(&pack.bytes), uri);
        return Ok(blob.with_mime_type(PACK_TYPE));
    };
    let mut input = parse_query(query)?;
    input.pack = pack.id;
    let mime_type = match input.mode.0 {
        OutputMode::Xml => "application/xml",
        OutputMode::Markdown => "text/markdown",
        OutputMode::Minimal => "text/plain",
    };
    let (text, _) = render::render(state, input)?;
    check_length(&text, "append a smaller budget, such as ?budget=8000")?;
    Ok(ResourceContents::text(text, uri).with_mime_type(mime_type))
}

/// Parses the query of the URI of a rendering.
fn parse_query(query: &str) -> ToolResult<render::Input> {
    let mut input = render::Input::default();
    for pair in query.split('&').filter(|pair| !pair.is_empty()) {
        let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
        let wrong = || ToolError::usage(format!("invalid value {value:?} for {key:?}"));
        let value = &*decode(value).ok_or_else(wrong)?;
        match key {
            "budget" => input.budget = Some(value.parse().map_err(|_| wrong())?),
            "mode" => {
                input.mode = choice(value).ok_or_else(wrong)?;
            }
            "verbosity" => {
                input.verbosity = choice(value).ok_or_else(wrong)?;
            }
            "encoding" => input.encoding = Some(value.to_owned()),
            "model" => input.model = Some(value.to_owned()),
            _ => {
                let hint = "use budget, mode, verbosity, encoding or model";
                return Err(ToolError::usage(format!("unknown parameter {key:?}")).with_hint(hint));
            }
        }
    }
    Ok(input)
}

/// Returns the value with this name.
fn choice<T: serde::de::DeserializeOwned>(name: &str) -> Option<T> {
    serde_json::from_value(name.into()).ok()
}

/// Decodes the `%XX` escapes of a value; `None` if they are malformed or not UTF-8.
fn decode(value: &str) -> Option<String> {
    let is_hex = |rest: &str| {
        rest.as_bytes().get(..2).is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit))
    };
    let is_valid = value.split('%').skip(1).all(is_hex);
    let decoded = percent_decode_str(value).decode_utf8().ok().filter(|_| is_valid)?;
    Some(decoded.into_owned())
}

#[cfg(test)]
mod tests;
