// Checks of arguments.

import { UsageError } from "./errors.js";

/** The tokenizer of a call. */
export interface TokenizerOptions {
  /** The model that reads the text, such as `gpt-5`. */
  model?: string | undefined;
  /** The name of an encoding, such as `o200k_base`. It takes precedence over that of the model. */
  encoding?: string | undefined;
}

/** Throws the error of an argument that has another type. */
export function wrongType(name: string, expected: string, value: unknown): never {
  const kind = value === null ? "null" : Array.isArray(value) ? "array" : typeof value;
  throw new UsageError(`${name}: expected ${expected}, got ${kind}`);
}

/** Checks that a text is a string of complete characters. */
export function checkText(name: string, text: unknown): asserts text is string {
  if (typeof text !== "string") {
    wrongType(name, "a string", text);
  }
  if (!text.isWellFormed()) {
    throw halfPair(name, text);
  }
}

/** Checks an array of texts. Returns a copy of it. */
export function checkTexts(name: string, texts: unknown): string[] {
  if (!Array.isArray(texts)) {
    wrongType(name, "an array", texts);
  }
  return texts.map((text: unknown, at) => {
    checkText(`${name}[${at}]`, text);
    return text;
  });
}

/** Checks an array of indices below `count`. */
export function checkIndices(name: string, indices: unknown, count: number): void {
  if (!Array.isArray(indices)) {
    wrongType(name, "an array", indices);
  }
  for (const [at, index] of indices.entries()) {
    if (!Number.isInteger(index) || index < 0 || index >= count) {
      throw new UsageError(
        `${name}[${at}]: expected an index below ${count}, got ${String(index)}`,
      );
    }
  }
}

/** Returns the error of a text with half of a surrogate pair. */
export function halfPair(name: string, text: string): UsageError {
  const at = text.search(/\p{Surrogate}/u);
  const unit = text.charCodeAt(at).toString(16);
  const message = `${name}: half of a surrogate pair (\\u${unit} at index ${at})`;
  return new UsageError(message, null, "replace it with `text.toWellFormed()`");
}

/** Checks an object of options, and that those with these names are strings. */
export function checkOptions(options: unknown, ...names: string[]): void {
  if (typeof options !== "object" || options === null) {
    wrongType("options", "an object", options);
  }
  for (const name of names) {
    const value: unknown = Reflect.get(options, name);
    if (value !== undefined) {
      checkText(name, value);
    }
  }
}

/** Checks a number of tokens. */
export function checkTokens(
  name: string,
  tokens: unknown,
  minimum: number,
): asserts tokens is number {
  checkNumber(name, tokens, "tokens", minimum);
}

/** Checks a number of these units. */
export function checkNumber(
  name: string,
  number: unknown,
  units: string,
  minimum: number,
): asserts number is number {
  const isNumber = typeof number === "number" && Number.isInteger(number);
  if (!isNumber || number < minimum || number >= 2 ** 32) {
    const value = typeof number === "string" ? JSON.stringify(number) : String(number);
    const expected = `a number of ${units} from ${minimum} to 2^32 - 1`;
    throw new UsageError(`${name}: expected ${expected}, got ${value}`);
  }
}

/** Returns the JSON of each object of an array. */
export function toJsonTexts(name: string, objects: unknown): string[] {
  if (!Array.isArray(objects)) {
    wrongType(name, "an array", objects);
  }
  return objects.map((object, at) => toJson(`${name}[${at}]`, object));
}

function toJson(name: string, object: unknown): string {
  if (typeof object !== "object" || object === null || Array.isArray(object)) {
    wrongType(name, "an object", object);
  }
  let text: string;
  try {
    text = JSON.stringify(object);
  } catch (error) {
    throw new UsageError(`${name}: ${(error as Error).message.split("\n")[0]}`);
  }
  // Halves of surrogate pairs are written as escapes.
  if (text.includes("\\ud") && /(?<!\\)(?:\\\\)*\\ud[89a-f]/.test(text)) {
    throw halfPair(name, firstHalfPair(object) ?? "\ud800");
  }
  return text;
}

/** Returns the first text with half of a surrogate pair. */
function firstHalfPair(value: unknown): string | undefined {
  if (typeof value === "string") {
    return value.isWellFormed() ? undefined : value;
  }
  if (typeof value !== "object" || value === null) {
    return undefined;
  }
  const texts = Object.entries(value).flat().map(firstHalfPair);
  return texts.find((text) => text !== undefined);
}
