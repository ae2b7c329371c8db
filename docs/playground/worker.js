// Packs and renders, so that the page never waits.

/** The package, which `cargo xtask ci-packages` copies here. */
const lcp = await import("./lcp/index.js").catch(() => undefined);

const SAMPLE_FILES = ["arguments", "encoding", "errors", "index", "messages", "module", "pack"];

let source;
let query;
let pack;
/** The tokens of the complete text by encoding and format. */
let complete = new Map();

async function read(name) {
  const response = await fetch(new URL(`./lcp/${name}`, import.meta.url));
  if (!response.ok) throw new Error(`${response.url}: status ${response.status}`);
  return new Uint8Array(await response.arrayBuffer());
}

const bytesOf = async (file) => new Uint8Array(await file.arrayBuffer());

/** Reads files. Reads all files as one blob, which is much faster than one by one. */
async function readAll(files) {
  const bytes = await bytesOf(new Blob(files.map(({ file }) => file)));
  let at = 0;
  return files.map(({ path, file }) => {
    at += file.size;
    return { path, content: bytes.subarray(at - file.size, at) };
  });
}

/** Returns the pack of a source. */
async function open() {
  const { Pack, MalformedError } = lcp;
  const fromFiles = (files) => Pack.fromFiles(files, { query: query || undefined });
  if (source.sample === "session") return Pack.fromBytes(await read("session.lcp"));
  if (source.sample === "code") {
    const names = SAMPLE_FILES.map((name) => `${name}.js`);
    return fromFiles(
      await Promise.all(names.map(async (path) => ({ path, content: await read(path) }))),
    );
  }
  if (source.transcript !== undefined) return Pack.fromTranscript(source.transcript);
  const [first] = source.files;
  if (source.files.length === 1 && /\.(lcp|bcp)$/i.test(first.path)) {
    return Pack.fromBytes(await bytesOf(first.file));
  }
  if (source.files.length === 1 && /\.jsonl?$/i.test(first.path)) {
    try {
      return await Pack.fromTranscript(await bytesOf(first.file));
    } catch (error) {
      // Other JSON is a file like any other.
      if (!(error instanceof MalformedError)) throw error;
    }
  }
  // Kept for the next question.
  source.contents ??= await readAll(source.files);
  return fromFiles(source.contents);
}

async function render({ source: newSource, query: newQuery, encoding, mode, budget }) {
  if (lcp === undefined) {
    const error = new Error("this guide was built without the playground module");
    error.hint = "run `cargo xtask ci-packages --only js` before `mdbook build docs`";
    throw error;
  }
  if (newSource !== undefined || newQuery !== query) {
    source = newSource ?? source;
    query = newQuery;
    complete = new Map();
    pack = undefined;
  }
  pack ??= await open();
  const key = `${encoding} ${mode}`;
  if (!complete.has(key)) {
    const { report } = await pack.renderWithReport({ encoding, mode });
    complete.set(key, report.used_tokens);
  }
  postMessage({ complete: complete.get(key) });
  const { text, report } = await pack.renderWithReport({
    budget,
    encoding,
    mode,
  });
  return { text, report, warnings: pack.warnings };
}

onmessage = async ({ data }) => {
  try {
    postMessage(await render(data));
  } catch (error) {
    postMessage({
      error: { message: error.message, hint: error.hint, code: error.code },
    });
  }
};
postMessage({ ready: true });
