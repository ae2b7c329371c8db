// Compares `count` with js-tiktoken and gpt-tokenizer, and prints megabytes per second as JSON. The
// counts must be equal. `cargo xtask bench js` runs this.

import { readFile, readdir } from "node:fs/promises";
import { join } from "node:path";
import * as gptTokenizer from "gpt-tokenizer/encoding/o200k_base";
import { Tiktoken } from "js-tiktoken/lite";
import o200k from "js-tiktoken/ranks/o200k_base";
import { Encoding } from "llm-context-pack";

const repository = process.env.LCP_REPOSITORY ?? join(import.meta.dirname, "../..");

/** The length of a text in characters. */
const TEXT = 4_000;
/** The number of texts. */
const TEXTS = 250;

/** Returns texts of files with an ending, all of them different. */
async function texts(folder, ending) {
  const names = await readdir(join(repository, folder), { recursive: true });
  const files = names.filter((name) => name.endsWith(ending)).sort();
  const read = await Promise.all(
    files.map((name) => readFile(join(repository, folder, name), "utf8")),
  );
  const all = read.join("\n");
  const count = Math.min(TEXTS, Math.floor(all.length / TEXT));
  return Array.from({ length: count }, (_, at) =>
    all.slice(at * TEXT, (at + 1) * TEXT).toWellFormed(),
  );
}

/** Returns the counts of texts, and the megabytes per second. Each text is counted once. */
function measure(count, texts) {
  const start = performance.now();
  const counts = texts.map(count);
  const seconds = (performance.now() - start) / 1_000;
  const bytes = texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0);
  return { counts, speed: bytes / 1e6 / seconds };
}

const encoding = await Encoding.load("o200k_base");
const tiktoken = new Tiktoken(o200k);
const plain = { allowedSpecial: new Set(), disallowedSpecial: new Set() };
const peers = {
  "js-tiktoken": (text) => tiktoken.encode(text, [], []).length,
  "gpt-tokenizer": (text) => gptTokenizer.encode(text, plain).length,
};

// Compiles all functions, with texts that do not occur later.
for (const count of [(text) => encoding.count(text), ...Object.values(peers)]) {
  for (let at = 0; at < 200; at += 1) {
    count(`warm up ${at}: let x = ${at * at}; `.repeat(20));
  }
}

const rows = [];
for (const [name, folder, ending] of [
  ["code", "crates", ".rs"],
  ["prose", "docs", ".md"],
]) {
  const sample = await texts(folder, ending);
  const own = measure((text) => encoding.count(text), sample);
  for (const [peer, count] of Object.entries(peers)) {
    const other = measure(count, sample);
    const at = own.counts.findIndex((tokens, at) => tokens !== other.counts[at]);
    if (at >= 0) {
      throw new Error(`${peer} counts ${other.counts[at]} instead of ${own.counts[at]} tokens`);
    }
    rows.push({ text: name, peer, speed: own.speed, peerSpeed: other.speed });
  }
}
console.log(JSON.stringify(rows));
