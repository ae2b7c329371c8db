// Random histories in the formats of the providers, and a view of them that is the same for all.

import fc from "fast-check";

/** A message of OpenAI Chat or Anthropic, or an item of OpenAI Responses. */
export type Message = Record<string, any>;

/** A piece of a history that is not written in a format yet. */
interface Piece {
  kind: "system" | "user" | "thinking" | "text" | "call" | "result";
  text: string;
  /** The ID of a call, or of the call that a result answers. */
  id: string;
  /** The address of the image that follows the text. */
  url: string | undefined;
  /** The index in the history. */
  at: number;
}

const WORDS = [
  "budget",
  "pack",
  "the",
  "a file",
  "日本語",
  "שלום",
  "🦀",
  "e\u0301",
  "a\tb",
  "\n",
  '"\\',
];
const texts = fc
  .array(fc.constantFrom(...WORDS), { minLength: 1, maxLength: 30 })
  .map((words) => words.join(" "));
const lines = fc.tuple(texts, fc.nat(20)).map(([text, count]) => `${text}\n`.repeat(count));
const optional = fc.option(texts, { freq: 2 });
const calls = fc.record({
  path: texts,
  result: lines,
  hasImage: fc.constantFrom(false, false, false, true),
});
const steps = fc.record({
  thought: optional,
  remark: optional,
  calls: fc.array(calls, { minLength: 1, maxLength: 3 }),
  isReversed: fc.boolean(),
});
const turns = fc.record({
  instruction: optional,
  question: texts,
  hasImage: fc.boolean(),
  steps: fc.array(steps, { maxLength: 2 }),
  thought: optional,
  answer: lines,
});

/** Histories that {@link write} writes in a format. */
export const histories = fc.array(turns, { minLength: 1, maxLength: 6 }).map((turns) => {
  const pieces: Piece[] = [];
  const add = (kind: Piece["kind"], text: string | null, id = "", hasImage = false): void => {
    const at = pieces.length;
    if (text !== null) {
      const url = hasImage ? `https://example.org/${at}.png` : undefined;
      // Numbers make texts unique. Some results are empty.
      pieces.push({ kind, text: text && `${at}: ${text}`, id, url, at });
    }
  };
  for (const turn of turns) {
    add("system", turn.instruction);
    add("user", turn.question, "", turn.hasImage);
    for (const step of turn.steps) {
      add("thinking", step.thought);
      add("text", step.remark);
      const calls = step.calls.map((call, at) => ({ ...call, id: `call_${pieces.length}_${at}` }));
      calls.forEach((call) => add("call", call.path, call.id));
      const results = step.isReversed ? calls.toReversed() : calls;
      results.forEach((call) => add("result", call.result, call.id, call.hasImage));
    }
    // Some turns have no answer.
    if (turn.answer !== "") {
      add("thinking", turn.thought);
      add("text", turn.answer);
    }
  }
  return pieces;
});

/** Returns the text and the image of a piece as a list. */
function list({ text, url }: Piece, type: string, image: object): object[] {
  return [...(text === "" ? [] : [{ type, text }]), ...(url === undefined ? [] : [image])];
}

/** Returns the text of a piece, or a list if an image follows it. */
function content(piece: Piece, type: string, image: object): string | object[] {
  return piece.url === undefined ? piece.text : list(piece, type, image);
}

type Writer = Partial<Record<Piece["kind"], (piece: Piece) => Message>>;

const chatArguments = ({ text }: Piece): string => JSON.stringify({ path: text });

// Thinking is not part of this format.
const openaiChat: Writer = {
  system: ({ text, at }) => ({ role: at === 0 ? "system" : "developer", content: text }),
  user: (it) => ({
    role: "user",
    content: content(it, "text", { type: "image_url", image_url: { url: it.url } }),
  }),
  text: ({ text }) => ({ role: "assistant", content: text }),
  call: (it) => ({
    role: "assistant",
    content: null,
    tool_calls: [
      { id: it.id, type: "function", function: { name: "read", arguments: chatArguments(it) } },
    ],
  }),
  result: ({ id, text }) => ({ role: "tool", tool_call_id: id, content: text }),
};

const anthropicImage = ({ url }: Piece): object => ({
  type: "image",
  source: { type: "url", url },
});
const said = (part: object): Message => ({ role: "assistant", content: [part] });

// System messages are not part of this format.
const anthropic: Writer = {
  user: (it) => ({ role: "user", content: list(it, "text", anthropicImage(it)) }),
  thinking({ text, at }) {
    const signature = `c2lnbmVk${at}==`;
    return at % 3 === 0
      ? said({ type: "redacted_thinking", data: signature })
      : said({ type: "thinking", thinking: text, signature });
  },
  text: ({ text }) => said({ type: "text", text }),
  call: ({ id, text }) => said({ type: "tool_use", id, name: "read", input: { path: text } }),
  result(it) {
    const result = content(it, "text", anthropicImage(it));
    return {
      role: "user",
      content: [{ type: "tool_result", tool_use_id: it.id, content: result }],
    };
  },
};

const inputImage = ({ url }: Piece): object => ({
  type: "input_image",
  image_url: url,
  detail: "auto",
});

const openaiResponses: Writer = {
  system: ({ text, at }) => ({ role: at === 0 ? "developer" : "system", content: text }),
  user: (it) => ({ role: "user", content: content(it, "input_text", inputImage(it)) }),
  thinking: ({ text, at }) => ({
    type: "reasoning",
    id: `rs_${at}`,
    summary: [{ type: "summary_text", text }],
    encrypted_content: `gAAAAAB${at}_-==`,
  }),
  text: ({ text, at }) => ({
    type: "message",
    id: `msg_${at}`,
    role: "assistant",
    status: "completed",
    content: [{ type: "output_text", text, annotations: [] }],
  }),
  call: (it) => ({
    type: "function_call",
    call_id: it.id,
    name: "read",
    arguments: chatArguments(it),
  }),
  result: (it) => ({
    type: "function_call_output",
    call_id: it.id,
    output: content(it, "input_text", inputImage(it)),
  }),
};

const WRITERS = { "openai-chat": openaiChat, anthropic, "openai-responses": openaiResponses };

export type Format = keyof typeof WRITERS;

export const FORMATS = Object.keys(WRITERS) as Format[];

/** Returns the messages of a history in a format. */
export function write(pieces: readonly Piece[], format: Format): Message[] {
  const messages: Message[] = [];
  for (const piece of pieces) {
    const message = WRITERS[format][piece.kind]?.(piece);
    const last = messages.at(-1);
    if (last?.role === "assistant" && message?.tool_calls) {
      last.tool_calls = [...(last.tool_calls ?? []), ...message.tool_calls];
    } else if (format === "anthropic" && message && last?.role === message.role) {
      last?.content.push(...message.content);
    } else if (message) {
      messages.push(message);
    }
  }
  return messages;
}

/** A part of a message, regardless of its format. */
export interface Part {
  role: string;
  kind: "text" | "image" | "thinking" | "call" | "result";
  /** The ID of a call, or of the call that a result answers. */
  id: string;
  /** The text, the name and arguments, or other content as JSON. */
  value: string;
}

/** Returns the parts of messages in their order. */
export function parts(messages: readonly Message[]): Part[] {
  return messages.flatMap((it) => {
    switch (it.type ?? it.role) {
      case "reasoning":
        return [{ role: "assistant", kind: "thinking", id: "", value: JSON.stringify(it) }];
      case "function_call":
        return [callPart(it.call_id, it.name + it.arguments)];
      case "function_call_output":
        return resultParts(it.call_id, it.output);
      case "tool":
        return resultParts(it.tool_call_id, it.content);
    }
    const calls: Message[] = it.tool_calls ?? [];
    return [
      ...contentParts(it.role, it.content),
      ...calls.map((call) => callPart(call.id, call.function.name + call.function.arguments)),
    ];
  });
}

function contentParts(role: string, content: string | Message[] | null): Part[] {
  const list = typeof content === "string" ? [{ type: "text", text: content }] : (content ?? []);
  return list.flatMap((it: Message): Part[] => {
    switch (it.type) {
      case "tool_use":
        return [callPart(it.id, it.name + JSON.stringify(it.input))];
      case "tool_result":
        return resultParts(it.tool_use_id, it.content);
      case "thinking":
      case "redacted_thinking":
        return [{ role, kind: "thinking", id: "", value: JSON.stringify(it) }];
    }
    return "text" in it
      ? [{ role, kind: "text", id: "", value: it.text }]
      : [{ role, kind: "image", id: "", value: JSON.stringify(it) }];
  });
}

function callPart(id: string, value: string): Part {
  return { role: "assistant", kind: "call", id, value };
}

function resultParts(id: string, content: string | Message[] | null): Part[] {
  const all = contentParts("tool", content ?? "");
  const texts = all.filter((it) => it.kind === "text");
  const others = all.filter((it) => it.kind !== "text");
  const value = texts.map((it) => it.value).join("");
  return [{ role: "tool", kind: "result", id, value }, ...others.map((it) => ({ ...it, id }))];
}
