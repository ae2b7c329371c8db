//! Jupyter notebooks as scripts: cells between `# %%` markers (RFC 0013 §2).

use serde_json::{Map, Value};

use lcp_types::Lang;

/// The maximum lines of one output of a cell.
const OUTPUT_LINES_MAX: usize = 20;

/// A notebook as a script in the language of its kernel.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Script {
    pub(crate) lang: Lang,
    pub(crate) text: String,
}

/// Converts a notebook. Cells of code stay as they are; all other text becomes comments. Outputs
/// that are not text become one line with their type and size.
///
/// # Errors
///
/// Returns a message if the text is not a notebook.
pub(crate) fn to_script(text: &str) -> Result<Script, String> {
    let notebook: Value =
        serde_json::from_str(text).map_err(|error| format!("not valid JSON: {error}"))?;
    let cells = notebook["cells"].as_array();
    // Before version 4, cells were in worksheets.
    let sheets = notebook["worksheets"].as_array().into_iter().flatten();
    let sheets = sheets.filter_map(|sheet| sheet["cells"].as_array());
    let cells: Vec<&Value> = cells.into_iter().chain(sheets).flatten().collect();
    if cells.is_empty() && !notebook["cells"].is_array() {
        return Err("a notebook needs a list `cells`".to_owned());
    }
    let language = language(&notebook);
    let lang = Lang::from_name(&language).unwrap_or(Lang::Unknown);
    let mut script = ScriptWriter { comment: comment(&language), text: String::new() };
    for cell in cells {
        script.add_cell(cell);
    }
    Ok(Script { lang, text: script.text })
}

/// Returns the language of a notebook, as `Lang` names it.
fn language(notebook: &Value) -> String {
    let metadata = &notebook["metadata"];
    let names = [
        &metadata["kernelspec"]["language"], &metadata["language_info"]["name"],
        &metadata["kernelspec"]["name"],
    ];
    let name = names.into_iter().find_map(Value::as_str).unwrap_or("python").to_lowercase();
    match name.as_str() {
        "ipython" | "ipython3" | "python3" => "python".to_owned(),
        "bash" | "sh" => "shell".to_owned(),
        "c++" | "c++17" => "cpp".to_owned(),
        _ => name,
    }
}

/// Returns the characters that begin a comment.
fn comment(language: &str) -> &'static str {
    match language {
        "rust" | "typescript" | "javascript" | "go" | "java" | "c" | "cpp" | "csharp" | "c#"
        | "kotlin" | "scala" | "swift" | ".net-csharp" => "//",
        "sql" | "lua" | "haskell" => "--",
        _ => "#",
    }
}

struct ScriptWriter {
    comment: &'static str,
    text: String,
}

impl ScriptWriter {
    fn add_cell(&mut self, cell: &Value) {
        if !self.text.is_empty() {
            self.text.push('\n');
        }
        let source = joined(cell.get("source").or_else(|| cell.get("input")));
        match cell["cell_type"].as_str().unwrap_or_default() {
            "code" => {
                self.line(&format!("{} %%", self.comment));
                for line in source.lines() {
                    self.line(line);
                }
                for output in cell["outputs"].as_array().into_iter().flatten() {
                    self.add_output(output);
                }
            }
            kind => {
                let kind = if kind == "heading" { "markdown" } else { kind };
                self.line(&format!("{} %% [{}]", self.comment, kind.escape_debug()));
                self.add_comment(source.lines());
            }
        }
    }

    fn add_output(&mut self, output: &Value) {
        if output["output_type"] == "error" || output["output_type"] == "pyerr" {
            let name = output["ename"].as_str().unwrap_or_default();
            let value = output["evalue"].as_str().unwrap_or_default();
            self.add_lines(&format!("{name}: {value}"));
            return;
        }
        if let Some(text) = output.get("text").filter(|text| !text.is_object()) {
            self.add_lines(&joined(Some(text)));
        }
        // Before version 4, the types were fields of the output.
        let data = output["data"].as_object();
        let old = output.as_object().filter(|_| data.is_none());
        let empty = Map::new();
        for (media_type, content) in data.or(old).unwrap_or(&empty) {
            match media_type.as_str() {
                "text/plain" => self.add_lines(&joined(Some(content))),
                _ if media_type.contains('/') => self.add_size(media_type, content),
                "png" | "jpeg" | "svg" | "html" | "latex" if data.is_none() => {
                    self.add_size(media_type, content);
                }
                _ => {}
            }
        }
    }

    /// Adds one line for an output that is not text. The size is that of the file, without Base64.
    fn add_size(&mut self, media_type: &str, content: &Value) {
        let is_base64 = matches!(media_type, "png" | "jpeg" | "application/pdf")
            || media_type.starts_with("image/") && !media_type.contains("svg");
        let bytes = match content {
            Value::String(_) | Value::Array(_) if is_base64 => {
                let text = joined(Some(content));
                let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || b"+/".contains(byte);
                text.bytes().filter(is_part).count() * 3 / 4
            }
            Value::String(_) | Value::Array(_) => joined(Some(content)).len(),
            other => other.to_string().len(),
        };
        let media_type = media_type.escape_debug();
        self.add_comment([format!("[{media_type}, {bytes} bytes]").as_str()].into_iter());
    }

    /// Adds a text output as a comment, without escapes of terminals.
    fn add_lines(&mut self, text: &str) {
        let text = without_escapes(text);
        // A progress bar writes its line again and again.
        let shown = |line: &str| line.rsplit('\r').next().unwrap_or_default().to_owned();
        let text: Vec<_> = text.trim_end().lines().map(shown).collect();
        let lines = text.len();
        self.add_comment(text.iter().map(String::as_str).take(OUTPUT_LINES_MAX));
        if lines > OUTPUT_LINES_MAX {
            let more = format!("… {} more lines", lines - OUTPUT_LINES_MAX);
            self.add_comment([more.as_str()].into_iter());
        }
    }

    fn add_comment<'t>(&mut self, lines: impl Iterator<Item = &'t str>) {
        for line in lines {
            let space = if line.is_empty() { "" } else { " " };
            self.line(&format!("{}{space}{line}", self.comment));
        }
    }

    fn line(&mut self, line: &str) {
        self.text.push_str(line);
        self.text.push('\n');
    }
}

/// Returns a text that is stored as a string or as a list of lines.
fn joined(value: Option<&Value>) -> String {
    match value {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(lines)) => lines.iter().filter_map(Value::as_str).collect(),
        _ => String::new(),
    }
}

/// Removes the escape sequences that color text in a terminal.
fn without_escapes(text: &str) -> String {
    let mut parts = text.split('\u{1b}');
    let mut plain = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let rest = part.strip_prefix('[').and_then(|part| {
            let end = part.find(|c: char| ('@'..='~').contains(&c))?;
            part.get(end + 1..)
        });
        plain.push_str(rest.unwrap_or(part));
    }
    plain
}

#[cfg(test)]
mod tests {
    use expect_test::expect;
    use serde_json::json;

    use super::*;

    #[test]
    fn cells_and_outputs_become_a_script() {
        let lines: Vec<String> = (0..25).map(|line| format!("line {line}\n")).collect();
        let notebook = json!({
            "cells": [
                { "cell_type": "markdown", "source": ["# Sales\n", "\n", "By month."] },
                { "cell_type": "code", "source": "import pandas\n\ndf.plot()", "outputs": [
                    { "output_type": "stream", "name": "stdout", "text": "1%\r\u{1b}[31mred\u{1b}[0m\n" },
                    { "output_type": "display_data", "data": {
                        "image/png": "iVBORw0KGgo=", "text/plain": ["<Figure>"],
                        "application/vnd.jupyter.widget-view+json": { "model_id": "a" },
                    } },
                ] },
                { "cell_type": "code", "source": ["1/0"], "outputs": [
                    { "output_type": "error", "ename": "ZeroDivisionError",
                      "evalue": "division by zero", "traceback": ["…"] },
                ] },
                { "cell_type": "code", "source": "print_all()", "outputs": [
                    { "output_type": "stream", "text": lines },
                ] },
            ],
            "metadata": { "kernelspec": { "language": "python" } },
            "nbformat": 4,
        });
        let script = to_script(&notebook.to_string()).unwrap();
        assert_eq!(script.lang, Lang::Python);
        expect![[r"
            # %% [markdown]
            # # Sales
            #
            # By month.

            # %%
            import pandas

            df.plot()
            # red
            # [application/vnd.jupyter.widget-view+json, 16 bytes]
            # [image/png, 8 bytes]
            # <Figure>

            # %%
            1/0
            # ZeroDivisionError: division by zero

            # %%
            print_all()
            # line 0
            # line 1
            # line 2
            # line 3
            # line 4
            # line 5
            # line 6
            # line 7
            # line 8
            # line 9
            # line 10
            # line 11
            # line 12
            # line 13
            # line 14
            # line 15
            # line 16
            # line 17
            # line 18
            # line 19
            # … 5 more lines
        "]]
        .assert_eq(&script.text);
    }

    #[test]
    fn old_notebooks_and_other_languages_are_read() {
        let notebook = json!({
            "worksheets": [{ "cells": [
                { "cell_type": "heading", "source": ["Title"] },
                { "cell_type": "code", "input": ["let x = 1;"], "outputs": [
                    { "output_type": "pyout", "text": ["1"], "png": "iVBORw0KGgo=" },
                ] },
            ] }],
            "metadata": { "language_info": { "name": "Rust" } },
            "nbformat": 3,
        });
        let script = to_script(&notebook.to_string()).unwrap();
        assert_eq!(script.lang, Lang::Rust);
        let wanted = "// %% [markdown]\n// Title\n\n// %%\nlet x = 1;\n// 1\n// [png, 8 bytes]\n";
        assert_eq!(script.text, wanted);
    }

    #[test]
    fn text_that_is_not_a_notebook_is_an_error() {
        assert!(to_script("not json").unwrap_err().starts_with("not valid JSON"));
        assert_eq!(to_script("{}").unwrap_err(), "a notebook needs a list `cells`");
        let deep = format!("{{\"cells\":{}", "[".repeat(10_000));
        assert!(to_script(&deep).unwrap_err().contains("recursion limit"));
        assert_eq!(to_script(r#"{"cells":[]}"#).unwrap().text, "");
        assert!(to_script(r#"{"cells":[3, {"cell_type": 4}]}"#).is_ok());
    }
}
