/**
 * Messages of the Vercel AI SDK within a budget.
 *
 * @module
 */

import type { ModelMessage, PrepareStepFunction, ToolResultPart, ToolSet } from "ai";
import { wrongType } from "./arguments.js";
import { fitMessages } from "./messages.js";
import type { FitOptions, FitResult } from "./messages.js";

type Part = Exclude<ModelMessage["content"], string>[number];

/** An item of OpenAI's responses, in which each part of a message has its own. */
type Item = Record<string, unknown>;

/** The place of an item: the message, and its part unless the message is one text. */
interface Origin {
  message: ModelMessage;
  part?: Part;
}

/** The options of fits of messages of the AI SDK. */
export type ModelFitOptions = Omit<FitOptions, "format" | "previous">;

/**
 * Fits messages of the AI SDK into a budget of tokens, as `fitMessages` does.
 *
 * Reasoning is counted, and shown in full or omitted. Images and files are not counted. If messages are
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
  if (!Array.isArray(messages)) {
    wrongType("messages", "an array", messages);
  }
  const origins = new Map<Item, Origin>();
  const sizes = new Map<ModelMessage, number>();
  for (const message of messages) {
    const items = toItems(message);
    sizes.set(message, items.length);
    items.forEach(([item, origin]) => origins.set(item, origin));
  }
  const fitted = await fitMessages([...origins.keys()], { ...options, format: "openai-responses" });
  if (fitted.isUnchanged) {
    return { ...fitted, messages: [...messages] };
  }
  return { ...fitted, messages: fromItems(fitted.messages, origins, sizes) };
}

/**
 * Returns a function for `prepareStep` that fits the messages of each step.
 *
 * @example
 * await generateText({ model, tools, messages, prepareStep: fitStep({ budget: 100_000 }) });
 */
export function fitStep<Tools extends ToolSet>(
  options: ModelFitOptions,
): PrepareStepFunction<Tools> {
  return async ({ messages }) => ({
    messages: (await fitModelMessages(messages, options)).messages,
  });
}

function toItems(message: ModelMessage): [Item, Origin][] {
  const { role, content } = message;
  if (typeof content === "string") {
    return [[{ type: "message", role, content }, { message }]];
  }
  if (role === "user") {
    const parts = content.map((part, at) =>
      part.type === "text"
        ? { type: "input_text", text: part.text }
        : { type: "input_image", image_url: `attachment:${at}` },
    );
    return [[{ type: "message", role, content: parts }, { message }]];
  }
  return (content as Part[]).flatMap((part): [Item, Origin][] => {
    const item = toItem(part);
    return item === undefined ? [] : [[item, { message, part }]];
  });
}

/** Returns the item of a part of the assistant or a tool. Approvals have no text. */
function toItem(part: Part): Item | undefined {
  switch (part.type) {
    case "text":
      return { type: "message", role: "assistant", content: part.text };
    case "reasoning":
      return { type: "reasoning", id: "rs", summary: [{ type: "summary_text", text: part.text }] };
    case "tool-call": {
      const text = JSON.stringify(part.input ?? {});
      return {
        type: "function_call",
        call_id: part.toolCallId,
        name: part.toolName,
        arguments: text,
      };
    }
    case "tool-result": {
      const output = outputText(part.output);
      return { type: "function_call_output", call_id: part.toolCallId, output };
    }
    default:
      return undefined;
  }
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

/** Returns the messages of items. Those whose items are complete are the original ones. */
function fromItems(
  items: readonly Item[],
  origins: ReadonlyMap<Item, Origin>,
  sizes: ReadonlyMap<ModelMessage, number>,
): ModelMessage[] {
  const names = new Map<unknown, string>();
  for (const { part } of origins.values()) {
    if (part?.type === "tool-call") {
      names.set(part.toolCallId, part.toolName);
    }
  }
  const groups: { role: string; origin: ModelMessage | undefined; items: Item[] }[] = [];
  for (const item of items) {
    const origin = origins.get(item)?.message;
    const role = origin?.role ?? roleOf(item);
    const last = groups.at(-1);
    const continues = last?.role === role && (role === "assistant" || role === "tool");
    if (
      continues &&
      (origin === undefined || last.origin === undefined || origin === last.origin)
    ) {
      last.items.push(item);
      last.origin ??= origin;
    } else {
      groups.push({ role, origin, items: [item] });
    }
  }
  return groups.map(({ role, origin, items }) => {
    const isComplete = items.every((item) => origins.get(item)?.message === origin);
    if (origin !== undefined && isComplete && items.length === sizes.get(origin)) {
      return origin;
    }
    const content = items.flatMap((item) => origins.get(item)?.part ?? toParts(item, names));
    const isText = role === "system";
    return { role, content: isText ? textOf(items[0]) : content } as ModelMessage;
  });
}

function roleOf(item: Item): string {
  if (item["type"] === "function_call_output") {
    return "tool";
  }
  const role = item["role"] ?? "assistant";
  return role === "developer" ? "system" : String(role);
}

/** Returns the parts of an item that was changed. */
function toParts(item: Item, names: ReadonlyMap<unknown, string>): Part[] {
  if (item["type"] === "function_call_output") {
    const toolCallId = String(item["call_id"]);
    const toolName = names.get(toolCallId) ?? "";
    const output = { type: "text" as const, value: String(item["output"]) };
    return [{ type: "tool-result", toolCallId, toolName, output }];
  }
  return [{ type: "text", text: textOf(item) }];
}

function textOf(item: Item | undefined): string {
  const content = item?.["content"];
  if (!Array.isArray(content)) {
    return String(content ?? "");
  }
  return content.map((part: { text?: string }) => part.text ?? "").join("\n");
}
