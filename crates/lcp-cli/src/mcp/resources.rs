//! Packs that are kept, and their renderings, as resources.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rmcp::model::{Resource, ResourceContents, ResourceTemplate};

use super::desk::Desk;
use super::fault::{Fault, Outcome, UNKNOWN_PACK};
use super::packs::ADDRESS;
use super::tool;
use super::tools::render;
use crate::mcp::choices::Mode;

/// The type of a pack.
const PACK: &str = "application/vnd.lcp";

/// Bytes of a pack that is given as it is.
const BYTES_MAX: usize = 16 << 20;

/// The packs that there are.
pub(super) fn all(desk: &Desk) -> Vec<Resource> {
    let resource = |kept: super::packs::Kept| {
        Resource::new(kept.address(), format!("{}.lcp", kept.id))
            .with_title(&*kept.title)
            .with_description("A pack; with ?budget=8000&mode=xml its rendering")
            .with_mime_type(PACK)
            .with_size(kept.bytes.len() as u64)
    };
    desk.packs.all().into_iter().map(resource).collect()
}

/// Their renderings.
pub(super) fn templates() -> Vec<ResourceTemplate> {
    let address = format!("{ADDRESS}{{id}}{{?budget,mode,verbosity,encoding,model}}");
    let template = ResourceTemplate::new(address, "rendering")
        .with_title("A pack within a budget of tokens")
        .with_description(
            "mode is xml, markdown or minimal; verbosity is adaptive, summary or full",
        )
        .with_mime_type("text/plain");
    vec![template]
}

/// A pack, or its rendering.
pub(super) fn read(desk: &Desk, address: &str) -> Outcome<ResourceContents> {
    let shown = address.escape_debug();
    let unknown = || Fault::new(UNKNOWN_PACK, format!("there is no resource {shown}"));
    let path = address.strip_prefix(ADDRESS).ok_or_else(unknown)?;
    let (id, query) = path.split_once('?').map_or((path, None), |(id, query)| (id, Some(query)));
    let kept = desk.packs.find(id).ok_or_else(unknown)?;
    let Some(query) = query else {
        if kept.bytes.len() > BYTES_MAX {
            let message = format!("the pack has more than {BYTES_MAX} bytes");
            return Err(Fault::limit(message).hint("read a rendering of it: ?budget=8000"));
        }
        let pack = ResourceContents::blob(STANDARD.encode(&kept.bytes), address);
        return Ok(pack.with_mime_type(PACK));
    };
    let mut input = asked(query)?;
    input.pack = kept.id;
    let mime_type = match input.mode {
        Mode::Xml => "application/xml",
        Mode::Markdown => "text/markdown",
        Mode::Minimal => "text/plain",
    };
    let text = render::render(desk, input)?.text;
    tool::fits(&text, "read a shorter one: ?budget=8000")?;
    Ok(ResourceContents::text(text, address).with_mime_type(mime_type))
}

/// What a query asks for.
fn asked(query: &str) -> Outcome<render::Input> {
    let mut input = render::Input::default();
    for pair in query.split('&').filter(|pair| !pair.is_empty()) {
        let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
        let wrong = || Fault::usage(format!("{key:?} cannot be {value:?}"));
        let value = &*plain(value).ok_or_else(wrong)?;
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
                let known = "it may have budget, mode, verbosity, encoding and model";
                return Err(Fault::usage(format!("a rendering has no {key:?}")).hint(known));
            }
        }
    }
    Ok(input)
}

/// Returns the choice of this name.
fn choice<T: serde::de::DeserializeOwned>(name: &str) -> Option<T> {
    serde_json::from_value(name.into()).ok()
}

/// A value without the `%XX` that URIs write some bytes as.
fn plain(value: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(value.len());
    let mut rest = value.as_bytes();
    while let Some((&first, behind)) = rest.split_first() {
        let (byte, behind) = match (first, behind) {
            (b'%', [high, low, behind @ ..]) => (hex(*high)? << 4 | hex(*low)?, behind),
            (b'%', _) => return None,
            _ => (first, behind),
        };
        bytes.push(byte);
        rest = behind;
    }
    String::from_utf8(bytes).ok()
}

fn hex(digit: u8) -> Option<u8> {
    char::from(digit).to_digit(16).and_then(|digit| digit.try_into().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_decoded() {
        let asked = asked("model=gpt%2D4o&encoding=o200k%5fbase&mode=%6dinimal").unwrap();
        assert_eq!(asked.model.as_deref(), Some("gpt-4o"));
        assert_eq!(asked.encoding.as_deref(), Some("o200k_base"));
        assert_eq!(asked.mode, Mode::Minimal);
        assert_eq!(plain("a+b%25%C3%BC").as_deref(), Some("a+b%\u{fc}"));
        for wrong in ["%", "%4", "%4x", "%+4", "%FF"] {
            assert_eq!(plain(wrong), None, "{wrong}");
        }
    }
}
