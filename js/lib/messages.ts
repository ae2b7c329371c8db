import { checkIndices, checkOptions, checkTokens, toJsonTexts, wrongType } from "./arguments.js";
import type { TokenizerOptions } from "./arguments.js";
import { UsageError } from "./errors.js";
import { call, currentGeneration, load } from "./module.js";
import * as native from "./wasm/lcp.js";

/** The formats of chat APIs. */
export type MessageFormat = "openai-chat" | "openai-responses" | "anthropic" | "gemini";

/** The options of {@link fitMessages}. */
export interface FitOptions extends TokenizerOptions {
  /** The maximum number of tokens. */
  budget: number;
  /** The format of the messages. By default, it is detected. */
  format?: MessageFormat | undefined;
  /**
   * The part of the budget that stays free for the next turns when messages are shortened or omitted,
   * from 0 to less than 1. System messages and the newest user turn may use it. By default, it is 0.1.
   */
  headroom?: number | undefined;
  /** The tokens of an image. By default, 1600: about the most that Claude and GPT-4o charge for one. */
  imageTokens?: number | undefined;
  /** The indices of messages that stay complete, as system messages do. */
  pinned?: readonly number[] | undefined;
  /**
   * The result of the turn before, if the messages are the complete messages of that turn followed by
   * new ones. Its messages stay as they are and the new ones follow, as long as they fit, so that the
   * provider can reuse its cache. When they no longer fit, or a pinned message was cut before, all messages
   * are fitted again.
   */
  previous?: FitResult<object> | undefined;
}

/** A report on messages that were fitted into a budget. */
export class FitReport {
  /** Tokens of the messages. Images have a fixed number each, and audio is not counted. */
  readonly usedTokens: number;
  /** The budget. */
  readonly budget: number;
  /**
   * `true` if the texts are counted with the model's own tokenizer, `false` for estimates. The
   * tokens around each message are a convention: 4 for each, 3 for the list.
   */
  readonly exact: boolean;
  /** The name of the tokenizer. */
  readonly encoding: string;
  /** The number of parts that no message shows. */
  readonly omittedParts: number;
  /** The number of parts by decision, such as `full`, `excerpt` or `placeholder`. */
  readonly byDecision: Readonly<Record<string, number>>;
  /** The warnings, such as about calls without a result, which are removed. */
  readonly warnings: readonly string[];
  readonly #json: Json;

  /** @internal */
  constructor(json: Json, warnings: readonly string[]) {
    const { metadata: _, ...decisions } = json["by_decision"] as Record<string, number>;
    this.usedTokens = json["used_tokens"] as number;
    this.budget = json["budget"] as number;
    this.exact = json["exact"] as boolean;
    this.encoding = json["encoding"] as string;
    this.omittedParts = (json["rolled_up"] as { count: number } | null)?.count ?? 0;
    this.byDecision = decisions;
    this.warnings = warnings;
    this.#json = json;
  }

  /** Returns the complete report (`lcp.export.v1`). */
  toJSON(): Readonly<Record<string, unknown>> {
    return this.#json;
  }
}

/** Messages within a budget. */
export interface FitResult<Message> {
  /** The messages in the shape of the input, ready to send. Unchanged messages are the same objects. */
  messages: Message[];
  /**
   * The note about omitted messages if the list cannot contain it, as for Anthropic. Append it to the
   * system prompt; it is counted.
   */
  note: string | null;
  /** `true` if nothing was omitted or changed. */
  isUnchanged: boolean;
  /** `true` if the messages begin with those of `previous`. */
  isAppended: boolean;
  /** Counts, decisions and warnings. */
  report: FitReport;
}

/** A JSON object. */
export type Json = Record<string, unknown>;

/** The data of a turn that the next one needs. */
interface Turn {
  native: native.NativeFit;
  /** The instance of the module that has the data. */
  generation: number;
  /** The options other than the budget. */
  options: string;
  /** The given messages as JSON. */
  texts: readonly string[];
}

const turns = new WeakMap<object, Turn>();

/** Returns the index of the original of each message of a result, or -1 for a new one. */
export function originsOf(fitted: FitResult<object>): readonly number[] {
  const turn = turns.get(fitted);
  return turn === undefined ? [] : [...turn.native.origins()];
}

/** Returns a result with other messages, which the next turn accepts as `previous`. */
export function withMessages<Message>(
  fitted: FitResult<object>,
  messages: Message[],
): FitResult<Message> {
  const value = { ...fitted, messages };
  const turn = turns.get(fitted);
  if (turn !== undefined) {
    turns.set(value, turn);
  }
  return value;
}

/** Returns whether messages begin with all messages of the previous turn. */
function extendsTurn(texts: readonly string[], previous: Turn | undefined): boolean {
  return previous?.texts.every((text, at) => text === texts[at]) ?? false;
}

/** The maximum number of conversations whose newest fit is remembered. */
const CONVERSATIONS = 16;

/** A fitter of messages. It remembers the newest fit of each conversation, which the next turn extends. */
export class Fitter {
  #results: FitResult<object>[] = [];

  /** Fits messages as `fitMessages` does. */
  async fit<Message extends object>(
    messages: readonly Message[],
    options: FitOptions,
  ): Promise<FitResult<Message>> {
    const texts = toJsonTexts("messages", messages);
    const length = (result: FitResult<object>): number => turns.get(result)?.texts.length ?? 0;
    const [previous] = this.#results
      .filter((result) => extendsTurn(texts, turns.get(result)))
      .sort((a, b) => length(b) - length(a));
    const result = await fitTexts(texts, messages, { ...options, previous });
    const others = this.#results.filter((it) => it !== previous);
    this.#results = [result, ...others].slice(0, CONVERSATIONS);
    return result;
  }
}

/**
 * Fits messages into a budget of tokens.
 *
 * Older content shrinks first. Tool calls stay with their results. System messages, pinned messages
 * and the newest user turn stay complete. Messages that fit are returned unchanged.
 *
 * `messages` are those of OpenAI (chat or responses), Anthropic or Gemini. Lists with only roles and
 * texts have the same shape for OpenAI and Anthropic. They are read as Anthropic's if the name of the
 * model begins with `claude`, and as OpenAI's otherwise; pass `format` to change that.
 *
 * Each image counts `imageTokens`. Audio, tool definitions and a separate system prompt are not counted:
 * subtract their tokens from the budget. Calls without a result are removed, with a warning.
 *
 * @throws {OverBudgetError} if the messages that must be kept exceed the budget
 *
 * @example
 * const { messages } = await fitMessages(history, { budget: 100_000, model: "gpt-5" });
 */
export async function fitMessages<Message extends object>(
  messages: readonly Message[],
  options: FitOptions,
): Promise<FitResult<Message>> {
  return fitTexts(toJsonTexts("messages", messages), messages, options);
}

/** Fits messages, which are given as JSON, too. */
async function fitTexts<Message extends object>(
  texts: readonly string[],
  messages: readonly Message[],
  options: FitOptions,
): Promise<FitResult<Message>> {
  if (texts.length === 0) {
    throw new UsageError("messages: the list is empty");
  }
  checkOptions(options, "model", "encoding", "format");
  const { budget, model, encoding, format, headroom = 0.1, imageTokens = 1600 } = options;
  const { pinned = [], previous } = options;
  checkTokens("budget", budget, 1);
  if (typeof headroom !== "number" || !(headroom >= 0 && headroom < 1)) {
    const value = String(headroom);
    throw new UsageError(`headroom: expected a number from 0 to less than 1, got ${value}`);
  }
  checkTokens("imageTokens", imageTokens, 0);
  checkIndices("pinned", pinned, texts.length);
  if (previous !== undefined && (previous === null || !turns.has(previous))) {
    wrongType("previous", "a result of fitMessages", previous);
  }
  await load({ encoding, model });
  const key = JSON.stringify([model, encoding, format, headroom, imageTokens]);
  const before = previous && turns.get(previous);
  if (before && before.options === key && before.generation === currentGeneration()) {
    const appended = append(before, texts, budget, pinned);
    if (appended) {
      return result(appended, messages, true);
    }
  }
  const list = `[${texts.join(",")}]`;
  const pins = new Uint32Array(pinned);
  const fit = call(() =>
    native.fitMessages(list, budget, pins, model, encoding, format, headroom, imageTokens),
  );
  const turn = { native: fit, generation: currentGeneration(), options: key, texts };
  return result(turn, messages, false);
}

/** Appends the new messages to those of the turn before, if they fit. */
function append(
  before: Turn,
  texts: readonly string[],
  budget: number,
  pinned: readonly number[],
): Turn | undefined {
  if (!extendsTurn(texts, before)) {
    return undefined;
  }
  const list = `[${texts.slice(before.texts.length).join(",")}]`;
  const fit = call(() => before.native.append(list, budget, new Uint32Array(pinned)));
  return fit && { ...before, native: fit, texts };
}

function result<Message>(
  turn: Turn,
  messages: readonly Message[],
  isAppended: boolean,
): FitResult<Message> {
  const { native: fit } = turn;
  // Shortened messages are read again in each turn, because callers may change the objects.
  const fitted = JSON.parse(fit.messages()) as (number | Message)[];
  const list = fitted.map((it) => (typeof it === "number" ? (messages[it] as Message) : it));
  const value = {
    messages: list,
    note: fit.note() ?? null,
    isUnchanged: fit.isUnchanged(),
    isAppended,
    report: new FitReport(JSON.parse(fit.report()) as Json, fit.warnings()),
  };
  turns.set(value, turn);
  return value;
}
