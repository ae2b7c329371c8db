import { checkOptions, checkText, wrongType } from "./arguments.js";
import type { TokenizerOptions } from "./arguments.js";
import { UsageError } from "./errors.js";
import { call, currentGeneration, load } from "./module.js";
import { NativeEncoding } from "./wasm/lcp.js";

const decoder = new TextDecoder();

/** A tokenizer: the encoding of a model. */
export class Encoding {
  #native: NativeEncoding | undefined;
  #generation = -1;
  readonly #encoding: string | undefined;
  readonly #model: string | undefined;

  /** The name. */
  readonly name: string;
  /** `true` if the counts are those of the model, `false` for estimates. */
  readonly isExact: boolean;

  private constructor(encoding: string | undefined, model: string | undefined) {
    this.#encoding = encoding;
    this.#model = model;
    this.name = this.#get().name;
    this.isExact = this.#get().isExact;
  }

  /**
   * Loads a tokenizer by its name, or the one of a model: `Encoding.load({ model: "gpt-5" })`. Without
   * both, it is `o200k_base`.
   *
   * @example
   * const encoding = await Encoding.load("o200k_base");
   * encoding.encode("hello world"); // Uint32Array [24912, 2375]
   */
  static async load(
    tokenizer: string | { model?: string | undefined; encoding?: string | undefined } = {},
  ): Promise<Encoding> {
    const options = typeof tokenizer === "string" ? { encoding: tokenizer } : tokenizer;
    checkOptions(options, "model", "encoding");
    await load(options);
    return new Encoding(options.encoding, options.model);
  }

  #get(): NativeEncoding {
    if (this.#native === undefined || this.#generation !== currentGeneration()) {
      this.#native = call(() => new NativeEncoding(this.#encoding, this.#model));
      this.#generation = currentGeneration();
    }
    return this.#native;
  }

  /** Counts the tokens of a text. */
  count(text: string): number {
    checkText("text", text);
    const native = this.#get();
    return call(() => native.count(text));
  }

  /** Counts the tokens of several texts. */
  countBatch(texts: readonly string[]): number[] {
    if (!Array.isArray(texts)) {
      wrongType("texts", "an array", texts);
    }
    const native = this.#get();
    return texts.map((text, at) => {
      checkText(`texts[${at}]`, text);
      return call(() => native.count(text));
    });
  }

  /** Returns the ids of the tokens of a text. Names of special tokens are ordinary text. */
  encode(text: string): Uint32Array {
    checkText("text", text);
    const native = this.#get();
    return call(() => native.encode(text));
  }

  /** Returns the bytes of tokens. A character can have several tokens. */
  decodeBytes(ids: Iterable<number>): Uint8Array {
    const list = Array.from(ids);
    const wrong = list.find((id) => !Number.isInteger(id) || id < 0 || id >= 2 ** 32);
    if (wrong !== undefined) {
      throw new UsageError(`ids: expected numbers of tokens, got ${String(wrong)}`);
    }
    const native = this.#get();
    return call(() => native.decode(Uint32Array.from(list)));
  }

  /** Returns the text of tokens. Incomplete characters become U+FFFD. */
  decode(ids: Iterable<number>): string {
    return decoder.decode(this.decodeBytes(ids));
  }
}

const encodings = new Map<string, Promise<Encoding>>();

function encodingOf(options: TokenizerOptions): Promise<Encoding> {
  checkOptions(options, "model", "encoding");
  const { model, encoding } = options;
  const key = JSON.stringify([encoding, model]);
  let loading = encodings.get(key);
  if (loading === undefined) {
    loading = Encoding.load({ encoding, model });
    encodings.set(key, loading);
    // A failure may be temporary.
    loading.catch(() => encodings.delete(key));
  }
  return loading;
}

/**
 * Counts the tokens of a text.
 *
 * The count is exact if the tokenizer of the model is public. `isExact` of {@link Encoding} tells.
 * Without a model and an encoding, it is that of `o200k_base`.
 *
 * @example
 * await count("a budget is a promise", { model: "gpt-5" }); // 5
 */
export async function count(text: string, options: TokenizerOptions = {}): Promise<number> {
  return (await encodingOf(options)).count(text);
}

/** Counts the tokens of several texts. */
export async function countBatch(
  texts: readonly string[],
  options: TokenizerOptions = {},
): Promise<number[]> {
  return (await encodingOf(options)).countBatch(texts);
}
