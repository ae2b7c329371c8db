/**
 * Messages of LangChain within a budget.
 *
 * @module
 */

import { AIMessage, HumanMessage, SystemMessage, ToolMessage } from "@langchain/core/messages";
import type { BaseMessage, MessageContent, ToolCall } from "@langchain/core/messages";
import { wrongType } from "./arguments.js";
import type { TokenizerOptions } from "./arguments.js";
import { Encoding } from "./encoding.js";
import { fitMessages } from "./messages.js";
import type { FitOptions, FitResult } from "./messages.js";

/** A message of OpenAI's chat API. */
interface Chat {
  role: string;
  content: unknown;
  tool_calls?: { id: string; type: "function"; function: { name: string; arguments: string } }[];
  tool_call_id?: string;
}

/** The options of fits of messages of LangChain. */
export type ChatFitOptions = Omit<FitOptions, "format" | "previous">;

/** The tokens around each message, and around the list. */
const MESSAGE_TOKENS = 4;
const LIST_TOKENS = 3;

/**
 * Returns a counter for `trimMessages`. Images and audio are not counted.
 *
 * @example
 * await trimMessages(history, { maxTokens: 8_000, tokenCounter: tokenCounter({ model: "gpt-5" }) });
 */
export function tokenCounter(
  options: TokenizerOptions = {},
): (messages: BaseMessage[]) => Promise<number> {
  const loading = Encoding.load(options);
  // The counter throws the error.
  loading.catch(() => {});
  return async (messages) => {
    const encoding = await loading;
    const texts = messages.map((message) => textOf(toChat(message)));
    const sum = encoding.countBatch(texts).reduce((sum, tokens) => sum + tokens, 0);
    return sum + MESSAGE_TOKENS * messages.length + LIST_TOKENS;
  };
}

/**
 * Fits messages of LangChain into a budget of tokens, as `fitMessages` does. A changed message is a new
 * one, without an `id`.
 *
 * @example
 * const fit = RunnableLambda.from(async (history: BaseMessage[]) => {
 *   return (await fitChatMessages(history, { budget: 100_000, model: "gpt-5" })).messages;
 * });
 * const chain = fit.pipe(model);
 */
export async function fitChatMessages(
  messages: readonly BaseMessage[],
  options: ChatFitOptions,
): Promise<FitResult<BaseMessage>> {
  if (!Array.isArray(messages)) {
    wrongType("messages", "an array", messages);
  }
  const originals = new Map(messages.map((message: BaseMessage) => [toChat(message), message]));
  const fitted = await fitMessages([...originals.keys()], { ...options, format: "openai-chat" });
  const calls = messages.flatMap((message: BaseMessage) => callsOf(message));
  const known = new Map(calls.map((call) => [call.id, call]));
  const result = fitted.messages.map((chat) => originals.get(chat) ?? fromChat(chat, known));
  return { ...fitted, messages: result };
}

function callsOf(message: BaseMessage): ToolCall[] {
  return AIMessage.isInstance(message) ? (message.tool_calls ?? []) : [];
}

const ROLES: Readonly<Record<string, string>> = { human: "user", ai: "assistant" };

/** The types of parts that are calls. */
const CALL_TYPES = ["tool_use", "tool_call", "function_call"];

function toChat(message: BaseMessage): Chat {
  const type = message.getType();
  const chat: Chat = { role: ROLES[type] ?? type, content: message.content };
  const calls = callsOf(message);
  if (calls.length > 0) {
    // Some providers have the calls in the content, too.
    if (Array.isArray(message.content)) {
      const parts = message.content.filter(({ type }) => !CALL_TYPES.includes(type));
      chat.content = parts.length > 0 ? parts : null;
    }
    chat.tool_calls = calls.map(({ id = "", name, args }) => {
      return { id, type: "function", function: { name, arguments: JSON.stringify(args) } };
    });
  }
  if (ToolMessage.isInstance(message)) {
    chat.tool_call_id = message.tool_call_id;
  }
  return chat;
}

/** Returns the message of a changed one. */
function fromChat(chat: Chat, calls: ReadonlyMap<string | undefined, ToolCall>): BaseMessage {
  const content = (chat.content ?? "") as MessageContent;
  switch (chat.role) {
    case "system":
      return new SystemMessage(content);
    case "tool":
      return new ToolMessage({ content, tool_call_id: chat.tool_call_id ?? "" });
    case "assistant": {
      const kept = (chat.tool_calls ?? []).map((call) => calls.get(call.id));
      return new AIMessage({ content, tool_calls: kept.filter((call) => call !== undefined) });
    }
    default:
      return new HumanMessage(content);
  }
}

/** Returns the text of a message that counts. */
function textOf({ content, tool_calls: calls = [] }: Chat): string {
  const parts: { type?: string; text?: string }[] = Array.isArray(content) ? content : [];
  const isThinking = (type?: string): boolean => type?.endsWith("thinking") ?? false;
  return [
    typeof content === "string" ? content : "",
    ...parts.map((part) => (isThinking(part.type) ? JSON.stringify(part) : (part.text ?? ""))),
    ...calls.map((call) => call.function.name + call.function.arguments),
  ].join("");
}
