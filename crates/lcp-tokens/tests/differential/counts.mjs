// Reference counts for `the test `providers``: the tokenizer.json files once
// more, by an implementation that shares no code with Hugging Face's Rust.
//
//     counts.mjs FOLDER
//
// Reads texts.json in FOLDER, writes counts-js.json.

import fs from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";

const folder = path.resolve(process.argv[2]);
const library = path.join(folder, "tokenizers", "package");
const { version } = JSON.parse(fs.readFileSync(path.join(library, "package.json")));
const { TokenizerLoader } = await import(pathToFileURL(path.join(library, "dist", "main.mjs")));
const texts = JSON.parse(fs.readFileSync(path.join(folder, "texts.json")));

// It cannot be told to take special tokens for text, so it gets none.
function load(models) {
  const tokenizerJSON = JSON.parse(fs.readFileSync(path.join(models, "tokenizer.json")));
  tokenizerJSON.added_tokens = tokenizerJSON.added_tokens.filter((token) => !token.special);
  tokenizerJSON.post_processor = null;
  const tokenizerConfig = JSON.parse(fs.readFileSync(path.join(models, "tokenizer_config.json")));
  for (const key of Object.keys(tokenizerConfig)) {
    if (key.endsWith("_token") || key.includes("special_tokens") || key === "added_tokens_decoder") {
      delete tokenizerConfig[key];
    }
  }
  return TokenizerLoader.fromPreTrained({ tokenizerJSON, tokenizerConfig });
}

function count(tokenizer, text) {
  if (text === "") return 0;
  try {
    return tokenizer.encode(text, { add_special_tokens: false }).length;
  } catch {
    return null;
  }
}

const rows = [];
for (const name of fs.readdirSync(folder).sort()) {
  const models = path.join(folder, name, "package", "models");
  if (!fs.existsSync(path.join(models, "tokenizer.json"))) continue;
  const tokenizer = load(models);
  const counts = texts.map((text) => count(tokenizer, text));
  const file = path.posix.join(name, "package", "models", "tokenizer.json");
  rows.push({ file, by: `@lenml/tokenizers ${version}`, counts });
}
fs.writeFileSync(path.join(folder, "counts-js.json"), JSON.stringify(rows));
