// The WebAssembly module: its files, its instance, and its errors.

import { readPackageFile } from "#files";
import * as errors from "./errors.js";
import { checkOptions, wrongType } from "./arguments.js";
import type { TokenizerOptions } from "./arguments.js";
import * as native from "./wasm/lcp.js";

/** The files of the package, for environments that cannot read or fetch them. */
export interface InitOptions {
  /** The module `llm-context-pack/lcp.wasm`: compiled, as bytes, or as a response of `fetch`. */
  wasm?: WebAssembly.Module | BufferSource | Response | Promise<Response> | undefined;
  /** The bytes of vocabularies by name: `o200k_base` is `llm-context-pack/vocabularies/o200k_base.bpe`. */
  vocabularies?: Readonly<Record<string, Uint8Array | ArrayBuffer>> | undefined;
}

/** The vocabularies that were loaded. A new instance of the module needs them again. */
const vocabularies = new Map<string, Uint8Array>();

/** The vocabularies that are being loaded. */
const loading = new Map<string, Promise<void>>();

let instance: Promise<unknown> | undefined;

/** The number of instances so far. Values of earlier instances are invalid. */
let generation = 0;

/**
 * Passes the files of the package, where they cannot be read or fetched: in edge workers, and in
 * bundles that move them. Elsewhere, they are loaded on first use.
 */
export async function init(options: InitOptions = {}): Promise<void> {
  checkOptions(options);
  const { wasm, vocabularies: files = {} } = options;
  await start(wasm);
  for (const [name, file] of Object.entries(files)) {
    if (!(file instanceof Uint8Array || file instanceof ArrayBuffer)) {
      wrongType(`vocabularies.${name}`, "bytes", file);
    }
    loadVocabulary(name, file instanceof Uint8Array ? file : new Uint8Array(file));
  }
}

/** Creates the instance, unless there is one. */
function start(wasm?: InitOptions["wasm"]): Promise<unknown> {
  instance ??= (async () => {
    try {
      const file = wasm ?? (await readPackageFile("./wasm/lcp_bg.wasm"));
      await native.default({ module_or_path: file as BufferSource });
    } catch (error) {
      instance = undefined;
      throw fileError("the WebAssembly module", error);
    }
  })();
  return instance;
}

/** Creates the instance, and loads the vocabulary of a tokenizer, unless they are there. */
export async function load(tokenizer?: TokenizerOptions): Promise<void> {
  await start();
  if (tokenizer === undefined) {
    return;
  }
  const name = call(() => native.neededVocabulary(tokenizer.encoding, tokenizer.model));
  if (name === undefined || vocabularies.has(name)) {
    return;
  }
  let reading = loading.get(name);
  if (reading === undefined) {
    reading = readPackageFile(`./vocabularies/${name}.bpe`).then(
      (bytes) => loadVocabulary(name, bytes),
      (error: unknown) => {
        throw fileError(`the vocabulary ${name}`, error);
      },
    );
    loading.set(name, reading);
    // A failure may be temporary.
    void reading.catch(() => {}).then(() => loading.delete(name));
  }
  await reading;
}

function loadVocabulary(name: string, bytes: Uint8Array): void {
  call(() => native.loadVocabulary(name, bytes));
  vocabularies.set(name, bytes);
}

function fileError(what: string, error: unknown): errors.FileError {
  const cause = error instanceof Error ? error.message : String(error);
  const hint = "pass the files of the package to `init`";
  return new errors.FileError(`cannot load ${what}: ${cause}`, null, hint);
}

/** Returns the number of the instance. */
export function currentGeneration(): number {
  return generation;
}

/** Calls a function of the module, and converts its errors. */
export function call<T>(run: () => T): T {
  try {
    return run();
  } catch (error) {
    if (error instanceof native.Failure) {
      const { name, message, code, hint } = error;
      error.free();
      const Class = errors[name as keyof typeof errors] ?? errors.LcpError;
      throw new Class(message, code ?? null, hint ?? null);
    }
    throw afterPanic(error);
  }
}

/** Replaces the instance, whose memory may be inconsistent after a panic. */
function afterPanic(error: unknown): unknown {
  const isPanic = error instanceof WebAssembly.RuntimeError || error instanceof RangeError;
  if (!isPanic) {
    return error;
  }
  generation += 1;
  native.__wbg_reset_state();
  for (const [name, bytes] of vocabularies) {
    native.loadVocabulary(name, bytes);
  }
  const message = `internal error: ${error.message}`;
  return new errors.LcpError(message, null, "report the message that was logged before this error");
}
