//! Reads results of tools that are called over the Model Context Protocol.

use lcp_types::{Role, Status};
use serde_json::value::RawValue;

use crate::builder::BlockBuilder;
use crate::raw_json::{self, Document, Fields, Source};
use crate::reader::result_part;
use crate::{Error, Format, ImportResult, Result, images};

/// The tool name of a result without a recorded call.
const TOOL_NAME: &str = "mcp";

/// Imports a tool result, a JSON-RPC response that contains one, a list of them, or JSON lines.
pub(crate) fn import(bytes: &[u8]) -> Result<ImportResult> {
    let source = Source::new(bytes)?;
    let mut builder = BlockBuilder::new(Format::Mcp, &source);
    let is_one = match source.document()? {
        Document::List(list) => any(&mut builder, &list),
        Document::One(value) => any(&mut builder, &[value]),
        Document::Lines(lines) => {
            let mut is_one = false;
            for line in lines {
                builder.move_to(line.text);
                match line.value {
                    Ok(value) => is_one |= message(&mut builder, value),
                    Err(error) => builder.push_broken_line(line.text, &error),
                }
            }
            is_one
        }
    };
    let looked_for = "an object with \"content\", or with \"jsonrpc\" and a \"result\"";
    if is_one { Ok(builder.finish()) } else { Err(Error::looked_for(Format::Mcp, looked_for)) }
}

fn any(builder: &mut BlockBuilder, values: &[&RawValue]) -> bool {
    let mut is_one = false;
    for value in values {
        builder.move_to(value.get());
        is_one |= message(builder, value);
    }
    is_one
}

/// Returns whether an object is a JSON-RPC message or the result of a tool.
pub(crate) fn is_message(fields: &Fields<'_>) -> bool {
    fields.get("jsonrpc").is_some() || is_result(fields)
}

fn is_result(fields: &Fields<'_>) -> bool {
    let list = fields.get("content").and_then(raw_json::array);
    fields.get("role").is_none() && (list.is_some() || fields.get("structuredContent").is_some())
}

/// Reads one message. Any other value becomes an extension, and the return value is `false`.
fn message(builder: &mut BlockBuilder, value: &RawValue) -> bool {
    let Some(mut fields) = Fields::read(value) else {
        builder.push_detached("item", value.get());
        return false;
    };
    if is_result(&fields) {
        builder.begin_message(Role::Tool);
        builder.begin_orphan_result("");
        result(builder, "", fields);
        return true;
    }
    let is_rpc = fields.take("jsonrpc").is_some();
    let id = fields.get("id");
    let id = id.map(|id| raw_json::string(id).unwrap_or_else(|| id.get().to_owned()));
    let id = id.unwrap_or_default();
    let inner = fields.get("result").and_then(Fields::read).filter(is_result);
    let error = fields.get("error").and_then(Fields::read);
    match (is_rpc, inner, error) {
        (true, Some(inner), _) => {
            builder.begin_message(Role::Tool);
            answer(builder, &id);
            result(builder, &id, inner);
        }
        (true, None, Some(mut error)) => {
            builder.begin_message(Role::Tool);
            answer(builder, &id);
            let text = builder.take_text(&mut error, "message").unwrap_or_default();
            builder.push_result_text(&id, tool(builder, &id), Status::Error, &text);
            if error.get("data").is_some() {
                builder.push_extension("error", fields.get("error").map_or("", RawValue::get));
                builder.tag_as_result_of(&id);
            } else {
                builder.tag_part_fields(error.rest_json().as_deref());
            }
        }
        (true, None, None) if !call(builder, &id, &fields) => {
            let name = fields.string("method").unwrap_or_else(|| "result".to_owned());
            builder.push_detached(&name, value.get());
        }
        (true, None, None) => {}
        (false, ..) => {
            builder.push_detached("item", value.get());
            return false;
        }
    }
    true
}

/// Reads a request that calls a tool. Returns `false` for other requests.
fn call(builder: &mut BlockBuilder, id: &str, fields: &Fields<'_>) -> bool {
    let params = fields.get("params").and_then(Fields::read);
    let name = params.as_ref().and_then(|params| params.string("name"));
    let (Some(params), Some(name)) = (params, name) else { return false };
    if fields.string("method").as_deref() != Some("tools/call") || id.is_empty() {
        return false;
    }
    builder.begin_message(Role::Assistant);
    builder.push_call(id, &name, params.get("arguments").map_or("{}", RawValue::get));
    true
}

/// Counts a result. Recordings often omit the request, so a result without one is not an orphan.
fn answer(builder: &mut BlockBuilder, id: &str) {
    if builder.has_call(id) {
        builder.begin_result(id, None);
    } else {
        builder.begin_orphan_result(id);
    }
}

/// Returns [`TOOL_NAME`] for a result without a recorded call, else `None`.
fn tool(builder: &BlockBuilder, id: &str) -> Option<&'static str> {
    (!builder.has_call(id)).then_some(TOOL_NAME)
}

fn result(builder: &mut BlockBuilder, id: &str, mut fields: Fields<'_>) {
    let failed = fields.take("isError").and_then(raw_json::boolean) == Some(true);
    let status = if failed { Status::Error } else { Status::Ok };
    let tool = tool(builder, id);
    result_fields(builder, (id, tool, status), fields);
}

/// Reads the content of a result, and adds each further field as an extension.
pub(crate) fn result_fields(
    builder: &mut BlockBuilder,
    (id, tool, status): (&str, Option<&str>, Status),
    mut fields: Fields<'_>,
) {
    let parts = fields.take("content").and_then(raw_json::array).unwrap_or_default();
    if parts.is_empty() {
        builder.push_result_text(id, tool, status, "");
    }
    for value in parts {
        result_part(builder, (id, tool, status), value, |kind| kind == "text", image);
    }
    for (name, value) in fields.rest() {
        builder.push_extension(name, value.get());
        builder.tag_as_result_of(id);
    }
}

fn image(builder: &mut BlockBuilder, kind: &str, fields: &mut Fields<'_>) -> bool {
    let media = fields.string("mimeType").and_then(|mime| images::media_type(&mime));
    let data = fields.string("data").and_then(|data| images::decode(&data));
    let (Some(media), Some(data), "image") = (media, data, kind) else { return false };
    builder.push_image(media, "", data);
    for key in ["type", "data", "mimeType"] {
        fields.take(key);
    }
    builder.tag_part_fields(fields.rest_json().as_deref());
    true
}
