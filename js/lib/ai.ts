/**
 * Messages of the Vercel AI SDK within a budget.
 *
 * @module
 */

import type { ModelMessage, PrepareStepFunction, ToolResultPart, ToolSet } from "ai";
import { checkIndices, wrongType } from "./arguments.js";
import { Fitter, fitMessages, originsOf, withMessages } from "./messages.js";
import type { FitOptions, FitResult } from "./messages.js";

type Part = Exclude<ModelMessage["content"], string>[number];

/** An item of OpenAI's responses, in which each part of a message has its own. */
type Item = Record<string, unknown>;

/** The origin of an item: the index of its message, and its part unless it is the complete message. */
interface Origin {
  message: number;
  part: Part | undefined;
}

/** The options of fits of messages of the AI SDK. */
export type ModelFitOptions = Omit<FitOptions, "format">;

/**
 * Fits messages of the AI SDK into a budget of tokens, as `fitMessages` does.
 *
 * Reasoning is counted, and shown in full or omitted. Files of the user count as images. If messages are
 * omitted, a system message at the beginning says so.
 *
 * @example
 * const { messages } = await fitModelMessages(history, { budget: 100_000, model: "gpt-5" });
 * await generateText({ model, messages });
 */
export async function fitModelMessages(
  messages: readonly ModelMessage[],
  options: ModelFitOptions,
): Promise<FitResult<ModelMessage>> {
  return fitWith(fitMessages, messages, options);
}

/** Fits messages of the AI SDK. `fit` fits the items that they become. */
async function fitWith(
  fit: typeof fitMessages,
  messages: readonly ModelMessage[],
  options: ModelFitOptions,
): Promise<FitResult<ModelMessage>> {
  if (!Array.isArray(messages)) {
    wrongType("messages", "an array", messages);
  }
  messages.forEach((message: ModelMessage | null, at) => {
    const content: unknown = message?.content;
    if (typeof content !== "string" && !Array.isArray(content)) {
      wrongType(`messages[${at}].content`, "a string or an array", content);
    }
  });
  const history = new History(messages);
  const { pinned = [] } = options;
  checkIndices("pinned", pinned, messages.length);
  const fitted = await fit(history.items, {
    ...options,
    format: "openai-responses",
    pinned: history.indicesOf(pinned),
  });
  return withMessages(fitted, fitted.isUnchanged ? [...messages] : history.toMessages(fitted));
}

/**
 * Returns a function for `prepareStep` that fits the messages of each step. While the next step fits,
 * the messages of the previous step stay as they are, so that the provider can reuse its cache.
 *
 * @example
 * await generateText({ model, tools, messages, prepareStep: fitStep({ budget: 100_000 }) });
 */
export function fitStep<Tools extends ToolSet>(
  options: Omit<ModelFitOptions, "pinned" | "previous">,
): PrepareStepFunction<Tools> {
  const fitter = new Fitter();
  return async ({ messages }) => ({
    messages: (await fitWith(fitter.fit.bind(fitter), messages, options)).messages,
  });
}

/** Converts messages to items, and fitted items to messages. */
class History {
  readonly items: Item[] = [];
  readonly #messages: readonly ModelMessage[];
  /** The origins of the items. */
  readonly #origins: Origin[] = [];
  /** The number of items of each message. */
  readonly #sizes: number[] = [];
  /** The parts of user messages other than text, by the addresses that replace them. */
  readonly #attachments = new Map<unknown, Part>();
  /** The ids of calls by the ids of their approvals. */
  readonly #approvals = new Map<string, string>();
  /** The ids of the calls that have a result. */
  readonly #answered = new Set<string>();

  constructor(messages: readonly ModelMessage[]) {
    this.#messages = messages;
    for (const part of messages.flatMap(partsOf)) {
      if (part.type === "tool-approval-request") {
        this.#approvals.set(part.approvalId, part.toolCallId);
      } else if (part.type === "tool-result") {
        this.#answered.add(part.toolCallId);
      }
    }
    messages.forEach((message, at) => {
      const items = this.#itemsOf(message);
      this.#sizes.push(items.length);
      for (const [item, part] of items) {
        this.items.push(item);
        this.#origins.push({ message: at, part });
      }
    });
  }

  /** Returns the indices of all items of these messages. */
  indicesOf(messages: readonly number[]): number[] {
    const all = this.#origins.keys();
    return [...all].filter((at) => messages.includes(this.#origins[at]?.message ?? -1));
  }

  /** Returns the items of a message, each with its part unless it is the whole message. */
  #itemsOf(message: ModelMessage): [Item, Part?][] {
    const { role, content } = message;
    if (typeof content === "string") {
      return [[{ type: "message", role, content }]];
    }
    if (role === "user") {
      const parts = content.map((part) =>
        part.type === "text"
          ? { type: "input_text", text: part.text }
          : { type: "input_image", image_url: this.#attach(part) },
      );
      return [[{ type: "message", role, content: parts }]];
    }
    return partsOf(message).flatMap((part): [Item, Part][] => {
      const item = this.#toItem(part);
      return item === undefined ? [] : [[item, part]];
    });
  }

  #attach(part: Part): string {
    const address = `attachment:${this.#attachments.size}`;
    this.#attachments.set(address, part);
    return address;
  }

  /** Returns the item of a part of the assistant or a tool, unless it stays with another part. */
  #toItem(part: Part): Item | undefined {
    switch (part.type) {
      case "text":
        return { type: "message", role: "assistant", content: part.text };
      case "reasoning":
        return {
          type: "reasoning",
          id: "rs",
          summary: [{ type: "summary_text", text: part.text }],
        };
      case "tool-call": {
        const text = JSON.stringify(part.input ?? {});
        return {
          type: "function_call",
          call_id: part.toolCallId,
          name: part.toolName,
          arguments: text,
        };
      }
      case "tool-result":
        return toOutput(part.toolCallId, outputText(part.output));
      case "tool-approval-response": {
        // The tool of an approved call runs in the next step. Until then, this is the result.
        const call = this.#approvals.get(part.approvalId);
        const isOpen = call !== undefined && !this.#answered.has(call);
        return isOpen ? toOutput(call, part.reason ?? "") : undefined;
      }
      case "file":
        return { type: "message", role: "assistant", content: `[${part.mediaType}]` };
      default:
        return undefined;
    }
  }

  /** Returns the messages of fitted items: the original ones if none of their items changed. */
  toMessages(fitted: FitResult<Item>): ModelMessage[] {
    const groups: Group[] = [];
    originsOf(fitted).forEach((index, at) => {
      const item = fitted.messages[at] as Item;
      const origin = this.#origins[index];
      const last = groups.at(-1);
      if (last !== undefined && last.message === origin?.message && origin?.part !== undefined) {
        last.items.push([item, index]);
      } else {
        groups.push({ message: origin?.message, items: [[item, index]] });
      }
    });
    const calls = new Set(
      fitted.messages.filter((it) => it["type"] === "function_call").map((it) => it["call_id"]),
    );
    return this.#withApprovals(groups, calls).map((group) => this.#toMessage(group, calls));
  }

  /** Inserts messages that only have responses to approvals, if a call of them was kept. */
  #withApprovals(groups: Group[], calls: ReadonlySet<unknown>): Group[] {
    this.#messages.forEach((message, at) => {
      const isKept = (part: Part): boolean => this.#isApprovalOf(calls, part);
      if (this.#sizes[at] === 0 && partsOf(message).some(isKept)) {
        const next = groups.findIndex((group) => (group.message ?? -1) > at);
        groups.splice(next < 0 ? groups.length : next, 0, { message: at, items: [] });
      }
    });
    return groups;
  }

  /** Returns whether a part is the request for an approval of one of these calls, or the response. */
  #isApprovalOf(calls: ReadonlySet<unknown>, part: Part): boolean {
    return (
      (part.type === "tool-approval-request" && calls.has(part.toolCallId)) ||
      (part.type === "tool-approval-response" && calls.has(this.#approvals.get(part.approvalId)))
    );
  }

  #toMessage({ message: at, items }: Group, calls: ReadonlySet<unknown>): ModelMessage {
    const message = this.#messages[at ?? -1];
    if (message === undefined) {
      // The note about omitted messages.
      return { role: "system", content: items.map(([item]) => textOf(item)).join("\n") };
    }
    if (message.role === "user" || typeof message.content === "string") {
      const [item, index] = items[0] ?? [undefined, -1];
      return item === this.items[index]
        ? message
        : ({ ...message, content: this.#contentOf(message, item) } as ModelMessage);
    }
    const byPart = new Map(items.map((item) => [this.#origins[item[1]]?.part, item]));
    const parts = partsOf(message);
    const content = parts.flatMap((part) => {
      const [item, index] = byPart.get(part) ?? [undefined, -1];
      if (item === undefined) {
        return this.#isApprovalOf(calls, part) ? [part] : [];
      }
      return [item === this.items[index] ? part : toPart(part, item)];
    });
    const isOriginal =
      content.length === parts.length && content.every((part, at) => part === parts[at]);
    return isOriginal ? message : ({ ...message, content } as ModelMessage);
  }

  /** Returns the content of a message that is one item. */
  #contentOf(message: ModelMessage, item: Item | undefined): ModelMessage["content"] {
    const content = item?.["content"];
    if (typeof message.content === "string" || !Array.isArray(content)) {
      return textOf(item);
    }
    const parts = content.map((part: Item): Part | undefined =>
      part["type"] === "input_image"
        ? this.#attachments.get(part["image_url"])
        : { type: "text", text: String(part["text"] ?? "") },
    );
    return parts.filter((part) => part !== undefined) as ModelMessage["content"];
  }
}

/** Returns a part with the content of a changed item. */
function toPart(part: Part, item: Item): Part {
  switch (part.type) {
    case "text":
      return { ...part, text: textOf(item) };
    case "tool-call":
      return { ...part, input: JSON.parse(String(item["arguments"])) as unknown };
    case "tool-result":
      return { ...part, output: { type: "text", value: String(item["output"]) } };
    default:
      return part;
  }
}

/** The items of a message, with their indices. A note has no message. */
interface Group {
  message: number | undefined;
  items: [Item, number][];
}

function partsOf(message: ModelMessage | undefined): Part[] {
  const content = message?.content ?? [];
  return typeof content === "string" ? [] : content;
}

function toOutput(callId: string, output: string): Item {
  return { type: "function_call_output", call_id: callId, output };
}

function outputText(output: ToolResultPart["output"]): string {
  switch (output.type) {
    case "text":
    case "error-text":
      return output.value;
    case "json":
    case "error-json":
      return JSON.stringify(output.value);
    case "execution-denied":
      return output.reason ?? "";
    default:
      return output.value.map((part) => (part.type === "text" ? part.text : "")).join("\n");
  }
}

function textOf(item: Item | undefined): string {
  const content = item?.["content"];
  if (!Array.isArray(content)) {
    return String(content ?? "");
  }
  return content.map((part: { text?: string }) => part.text ?? "").join("\n");
}
