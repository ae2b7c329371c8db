//! Results of tools that are called over the Model Context Protocol.

use lcp_types::{Role, Status};
use serde_json::value::RawValue;

use crate::build::Builder;
use crate::json::{self, Document, Fields, Source};
use crate::{Error, Format, ImportResult, Result, pictures};

/// What a result is of where nobody wrote down which tool it was.
const TOOL_NAME: &str = "mcp";

/// Imports a result, an answer of JSON-RPC with one, a list of them, or one a line.
pub(crate) fn import(bytes: &[u8]) -> Result<ImportResult> {
    let source = Source::new(bytes)?;
    let mut builder = Builder::new(Format::Mcp);
    let is_one = match source.document()? {
        Document::One(value) => match json::array(value) {
            Some(list) => any(&mut builder, &source, list.into_iter()),
            None => any(&mut builder, &source, std::iter::once(value)),
        },
        Document::Lines(lines) => {
            let mut is_one = false;
            for line in lines {
                builder.at_line(source.line(line.text));
                match line.value {
                    Ok(value) => is_one |= message(&mut builder, value),
                    Err(error) => {
                        builder.warn(Error { line: 0, column: 0, ..error }.to_string());
                        builder.aside("line", line.text);
                    }
                }
            }
            is_one
        }
    };
    let looked_for = "an object with \"content\", or with \"jsonrpc\" and a \"result\"";
    if is_one { Ok(builder.finish()) } else { Err(Error::looked_for(Format::Mcp, looked_for)) }
}

fn any<'a>(
    builder: &mut Builder,
    source: &Source<'a>,
    values: impl Iterator<Item = &'a RawValue>,
) -> bool {
    let mut is_one = false;
    for value in values {
        builder.at_line(source.line(value.get()));
        is_one |= message(builder, value);
    }
    is_one
}

/// Whether an object is a message of JSON-RPC or the result of a tool.
pub(crate) fn is_message(fields: &Fields<'_>) -> bool {
    fields.get("jsonrpc").is_some() || is_result(fields)
}

fn is_result(fields: &Fields<'_>) -> bool {
    let list = fields.get("content").and_then(json::array);
    fields.get("role").is_none() && (list.is_some() || fields.get("structuredContent").is_some())
}

/// One message; what is none is kept, and `false`.
fn message(builder: &mut Builder, value: &RawValue) -> bool {
    let Some(mut fields) = Fields::read(value) else {
        builder.aside("item", value.get());
        return false;
    };
    if is_result(&fields) {
        builder.message(Role::Tool);
        builder.alone("");
        result(builder, "", fields);
        return true;
    }
    let is_rpc = fields.take("jsonrpc").is_some();
    let id = fields.get("id");
    let id = id.map(|id| json::string(id).unwrap_or_else(|| id.get().to_owned()));
    let id = id.unwrap_or_default();
    let inner = fields.get("result").and_then(Fields::read).filter(is_result);
    let error = fields.get("error").and_then(Fields::read);
    match (is_rpc, inner, error) {
        (true, Some(inner), _) => {
            builder.message(Role::Tool);
            answer(builder, &id);
            result(builder, &id, inner);
        }
        (true, None, Some(mut error)) => {
            builder.message(Role::Tool);
            answer(builder, &id);
            let text = builder.take_text(&mut error, "message").unwrap_or_default();
            builder.result_text(&id, tool(builder, &id), Status::Error, &text);
            if error.get("data").is_some() {
                builder.unknown("error", fields.get("error").map_or("", RawValue::get));
                builder.answers(&id);
            } else {
                builder.part_fields(error.rest_json().as_deref());
            }
        }
        (true, None, None) if !call(builder, &id, &fields) => {
            let name = fields.string("method").unwrap_or_else(|| "result".to_owned());
            builder.aside(&name, value.get());
        }
        (true, None, None) => {}
        (false, ..) => {
            builder.aside("item", value.get());
            return false;
        }
    }
    true
}

/// The request that calls a tool; `false` where it does something else.
fn call(builder: &mut Builder, id: &str, fields: &Fields<'_>) -> bool {
    let params = fields.get("params").and_then(Fields::read);
    let name = params.as_ref().and_then(|params| params.string("name"));
    let (Some(params), Some(name)) = (params, name) else { return false };
    if fields.string("method").as_deref() != Some("tools/call") || id.is_empty() {
        return false;
    }
    builder.message(Role::Assistant);
    builder.call(id, &name, params.get("arguments").map_or("{}", RawValue::get));
    true
}

/// Counts an answer; that its request is not there is as people record it.
fn answer(builder: &mut Builder, id: &str) {
    if builder.has_call(id) {
        builder.answer(id, None);
    } else {
        builder.alone(id);
    }
}

/// What a result is of, where its call does not tell.
fn tool(builder: &Builder, id: &str) -> Option<&'static str> {
    (!builder.has_call(id)).then_some(TOOL_NAME)
}

fn result(builder: &mut Builder, id: &str, mut fields: Fields<'_>) {
    let failed = fields.take("isError").and_then(json::boolean) == Some(true);
    let status = if failed { Status::Error } else { Status::Ok };
    let tool = tool(builder, id);
    let parts = fields.take("content").and_then(json::array).unwrap_or_default();
    if parts.is_empty() {
        builder.result_text(id, tool, status, "");
    }
    for value in parts {
        part(builder, id, tool, status, value);
    }
    for (name, value) in fields.rest() {
        builder.unknown(name, value.get());
        builder.answers(id);
    }
}

fn part(builder: &mut Builder, id: &str, tool: Option<&str>, status: Status, value: &RawValue) {
    let mut fields = Fields::read(value).unwrap_or_default();
    let kind = fields.string("type").unwrap_or_else(|| "part".to_owned());
    match kind.as_str() {
        "text" => {
            if let Some(text) = builder.take_text(&mut fields, "text") {
                fields.take("type");
                builder.result_text(id, tool, status, &text);
                return builder.part_fields(fields.rest_json().as_deref());
            }
        }
        "image" => {
            let media = fields.string("mimeType").and_then(|mime| pictures::media_type(&mime));
            let data = fields.string("data").and_then(|data| pictures::decode(&data));
            if let (Some(media), Some(data)) = (media, data) {
                builder.image(media, "", data);
                for key in ["type", "data", "mimeType"] {
                    fields.take(key);
                }
                builder.part_fields(fields.rest_json().as_deref());
                return builder.answers(id);
            }
        }
        _ => {}
    }
    builder.unknown(&kind, value.get());
    builder.answers(id);
}
