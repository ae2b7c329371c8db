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
import { fitMessages, originsOf, withMessages } from "./messages.js";
import type { FitOptions, FitResult } from "./messages.js";

/** A call in a message of OpenAI's chat API. */
interface ChatCall {
  id: string;
  type: "function";
  function: { name: string; arguments: string };
}

/** A message of OpenAI's chat API. */
interface Chat {
  role: string;
  content: unknown;
  tool_calls?: ChatCall[];
  tool_call_id?: string;
}

/** The options of fits of messages of LangChain. */
export type ChatFitOptions = Omit<FitOptions, "format">;

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
 * Fits messages of LangChain into a budget of tokens, as `fitMessages` does. A shortened message is
 * a copy of its original with other contents.
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
  const chats = messages.map((message: BaseMessage) => toChat(message));
  const fitted = await fitMessages(chats, { ...options, format: "openai-chat" });
  const origins = originsOf(fitted);
  const result = fitted.messages.map((chat, at) => {
    const index = origins[at] ?? -1;
    const original: BaseMessage | undefined = messages[index];
    return original !== undefined && chat === chats[index] ? original : fromChat(chat, original);
  });
  return withMessages(fitted, result);
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

/** Returns a changed message, with the other fields of its original, or a new one. */
function fromChat(chat: Chat, original: BaseMessage | undefined): BaseMessage {
  const content = (chat.content ?? "") as MessageContent;
  const { id, name, additional_kwargs, response_metadata } = original ?? {};
  const fields = { id, name, additional_kwargs, response_metadata, content };
  const message = { ...defined(fields), content };
  if (ToolMessage.isInstance(original)) {
    const { tool_call_id, status, artifact, metadata } = original;
    return new ToolMessage({
      ...message,
      tool_call_id,
      ...defined({ status, artifact, metadata }),
    });
  }
  if (AIMessage.isInstance(original)) {
    const calls = (chat.tool_calls ?? []).map((call) => toCall(call, original));
    const { usage_metadata, invalid_tool_calls } = original;
    // Some providers have the calls here, too.
    const { tool_calls: _, ...kwargs } = original.additional_kwargs;
    return new AIMessage({
      ...message,
      ...defined({ usage_metadata, invalid_tool_calls }),
      content: withCalls(content, calls, original),
      additional_kwargs: kwargs,
      tool_calls: calls,
    });
  }
  return chat.role === "system" ? new SystemMessage(message) : new HumanMessage(message);
}

/** Returns the fields that have a value. */
function defined<Fields extends object>(fields: Fields): Partial<Fields> {
  const given = Object.entries(fields).filter(([, value]) => value !== undefined);
  return Object.fromEntries(given) as Partial<Fields>;
}

/** Returns a call of a message, with arguments that may be shortened. */
function toCall({ id, function: { arguments: args } }: ChatCall, original: AIMessage): ToolCall {
  const call = callsOf(original).find((call) => call.id === id);
  if (call !== undefined && JSON.stringify(call.args) === args) {
    return call;
  }
  return { ...call, id, name: call?.name ?? "", args: JSON.parse(args) as ToolCall["args"] };
}

/** Returns a content with the parts that are calls, if the original has some. */
function withCalls(
  content: MessageContent,
  calls: readonly ToolCall[],
  original: AIMessage,
): MessageContent {
  if (!Array.isArray(content) || !Array.isArray(original.content)) {
    return content;
  }
  const parts = original.content.filter(({ type }) => CALL_TYPES.includes(type));
  const kept = calls.flatMap((call) => {
    const part = parts.find((part) => part["id"] === call.id);
    return part === undefined ? [] : [{ ...part, ...("input" in part && { input: call.args }) }];
  });
  return [...content, ...kept];
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
