import { generateText, stepCountIs, tool } from "ai";
import type { ModelMessage } from "ai";
import { MockLanguageModelV3 } from "ai/test";
import { UsageError, count } from "llm-context-pack";
import { fitModelMessages, fitStep } from "llm-context-pack/ai";
import { expect, test } from "vitest";
import { z } from "zod";

const image = new Uint8Array([137, 80, 78, 71]);

function turn(at: number): ModelMessage[] {
  const [toolCallId, toolName] = [`call_${at}`, "read"];
  const value = `line ${at} of a file that the model reads\n`.repeat(40);
  return [
    {
      role: "user",
      content: [
        { type: "text", text: `What does file ${at} say?` },
        { type: "image", image },
      ],
    },
    {
      role: "assistant",
      content: [
        { type: "reasoning", text: `I must read file ${at}.` },
        { type: "text", text: "I read it." },
        { type: "tool-call", toolCallId, toolName, input: { path: `${at}.txt` } },
      ],
    },
    {
      role: "tool",
      content: [{ type: "tool-result", toolCallId, toolName, output: { type: "text", value } }],
    },
    { role: "assistant", content: `It repeats line ${at}.` },
  ];
}

const history: ModelMessage[] = [
  { role: "system", content: "Answer briefly." },
  ...Array.from({ length: 12 }, (_, at) => turn(at)).flat(),
  { role: "user", content: "And what do all of them say?" },
];

/** Returns the calls, or the results, of messages. */
function ids(messages: readonly ModelMessage[], type: "tool-call" | "tool-result"): string[] {
  return messages.flatMap(({ content }) =>
    typeof content === "string"
      ? []
      : content.flatMap((part) => (part.type === type ? [part.toolCallId] : [])),
  );
}

test("messages that fit are the same objects", async () => {
  const fitted = await fitModelMessages(history, { budget: 100_000, model: "gpt-5" });
  expect(fitted.isUnchanged).toBe(true);
  fitted.messages.forEach((message, at) => expect(message).toBe(history[at]));
});

test("a long history fits with its calls and newest turn", async () => {
  const { messages, report } = await fitModelMessages(history, { budget: 1_500 });
  expect(report.usedTokens).toBeLessThanOrEqual(1_500);
  expect(messages[0]).toBe(history[0]);
  expect(messages.at(-1)).toBe(history.at(-1));
  expect(ids(messages, "tool-call").length).toBeGreaterThan(0);
  expect(ids(messages, "tool-result")).toEqual(ids(messages, "tool-call"));
  const texts = JSON.stringify(messages, (key, value: unknown) => (key === "image" ? "" : value));
  expect(await count(texts)).toBeLessThan(6_000);
  // The messages are those of the AI SDK, so it sends them.
  const model = new MockLanguageModelV3({ doGenerate: answer("So.") });
  const { text } = await generateText({ model, messages, allowSystemInMessages: true });
  expect(text).toBe("So.");
  const again = await fitModelMessages(messages, { budget: 1_500 });
  expect(again.messages).toEqual(messages);
});

test("the next turn extends the messages of the turn before", async () => {
  const options = { budget: 2_500, imageTokens: 10 };
  const next: ModelMessage[] = [
    ...history,
    { role: "assistant", content: "Their lines." },
    { role: "user", content: "Why?" },
  ];
  const first = await fitModelMessages(history, options);
  expect(first.isUnchanged).toBe(false);
  const second = await fitModelMessages(next, { ...options, previous: first });
  expect(second.isAppended).toBe(true);
  expect(second.messages).toEqual([...first.messages, ...next.slice(-2)]);
  // `fitStep` does the same for several conversations.
  const step = fitStep(options);
  const run = async (messages: ModelMessage[]): Promise<ModelMessage[]> => {
    const prepared = await step({ messages } as never);
    return prepared?.messages ?? [];
  };
  const [one, other] = [await run(history), await run(history.slice(1))];
  expect(await run(next)).toEqual([...one, ...next.slice(-2)]);
  expect(await run(next.slice(1))).toEqual([...other, ...next.slice(-2)]);
});

test("pinned messages stay complete", async () => {
  const options = { budget: 2_500, imageTokens: 10 };
  const result = history[3]!;
  expect((await fitModelMessages(history, options)).messages).not.toContain(result);
  const { messages, report } = await fitModelMessages(history, { ...options, pinned: [2, 3] });
  expect(messages).toContain(result);
  expect(messages).toContain(history[2]);
  expect(report.usedTokens).toBeLessThanOrEqual(2_500);
  const error = "pinned[0]: expected an index below 50, got 50";
  await expect(fitModelMessages(history, { ...options, pinned: [50] })).rejects.toThrow(error);
});

function answer(text: string) {
  return {
    content: [{ type: "text" as const, text }],
    finishReason: { unified: "stop" as const, raw: "stop" },
    usage: {
      inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
      outputTokens: { total: 1, text: 1, reasoning: 0 },
    },
    warnings: [],
  };
}

test("each step of an agent stays within the budget", async () => {
  const sizes: number[] = [];
  let step = 0;
  const model = new MockLanguageModelV3({
    doGenerate: async ({ prompt }) => {
      sizes.push(await count(JSON.stringify(prompt)));
      step += 1;
      const call = { toolCallId: `c${step}`, toolName: "read", input: `{"path":"${step}.txt"}` };
      return step > 8
        ? answer("Done.")
        : {
            ...answer(""),
            content: [{ type: "tool-call" as const, ...call }],
            finishReason: { unified: "tool-calls" as const, raw: "tool_calls" },
          };
    },
  });
  const read = tool({
    inputSchema: z.object({ path: z.string() }),
    execute: ({ path }) => `line of ${path}\n`.repeat(100),
  });
  const result = await generateText({
    model,
    tools: { read },
    prompt: "Read all files.",
    stopWhen: stepCountIs(10),
    prepareStep: fitStep({ budget: 1_200 }),
  });
  expect(result.text).toBe("Done.");
  expect(sizes).toHaveLength(9);
  // The JSON of a prompt has more tokens than its texts.
  expect(Math.max(...sizes)).toBeLessThan(2_400);
});

test("shortened messages keep their images and other fields", async () => {
  const providerOptions = { anthropic: { cacheControl: { type: "ephemeral" } } };
  const long = "Words that can be left out. ".repeat(300);
  const content = [
    { type: "text" as const, text: long },
    { type: "image" as const, image },
  ];
  const toolCall = { type: "tool-call" as const, toolCallId: "c", toolName: "read", input: {} };
  const output = { type: "text" as const, value: long };
  const messages: ModelMessage[] = [
    { role: "user", content, providerOptions },
    { role: "assistant", content: [toolCall] },
    { role: "tool", content: [{ ...toolCall, type: "tool-result", output, providerOptions }] },
    { role: "assistant", content: "An answer.", providerOptions },
    { role: "user", content: "And now?" },
  ];
  let [images, results] = [0, 0];
  for (let budget = 100; budget < 3_000; budget += 100) {
    const options = { budget, headroom: 0, imageTokens: 20 };
    const fitted = await fitModelMessages(messages, options);
    for (const message of fitted.messages) {
      if (message.role === "user" && typeof message.content !== "string") {
        expect(message.providerOptions).toBe(providerOptions);
        const hasImage = message.content.some((part) => part.type === "image");
        images += Number(hasImage && !messages.includes(message));
      } else if (message.role === "tool") {
        const [part] = message.content;
        expect(part).toMatchObject({ type: "tool-result", toolName: "read", providerOptions });
        results += Number(!messages.includes(message));
      }
    }
  }
  expect(images).toBeGreaterThan(5);
  expect(results).toBeGreaterThan(5);
});

test("calls of the newest turn have their reasoning", async () => {
  const step = (at: number): ModelMessage[] => {
    const call = { toolCallId: `call_${at}`, toolName: "read" };
    const reasoning = `I read file ${at}, for a reason. `.repeat(20);
    const value = `line ${at} of a file\n`.repeat(30);
    return [
      {
        role: "assistant",
        content: [
          { type: "reasoning", text: reasoning },
          { type: "tool-call", ...call, input: { path: `${at}.txt` } },
        ],
      },
      {
        role: "tool",
        content: [{ type: "tool-result", ...call, output: { type: "text", value } }],
      },
    ];
  };
  const steps = Array.from({ length: 12 }, (_, at) => step(at)).flat();
  let calls = 0;
  for (let budget = 300; budget < 5_000; budget += 100) {
    const question: ModelMessage = { role: "user", content: "What do the files say?" };
    const { messages } = await fitModelMessages([question, ...steps], { budget, headroom: 0 });
    for (const { role, content } of messages) {
      if (role === "assistant") {
        const types = typeof content === "string" ? [] : content.map((part) => part.type);
        expect(types).toEqual(["reasoning", "tool-call"]);
        calls += 1;
      }
    }
  }
  expect(calls).toBeGreaterThan(50);
});

test("approvals stay with their calls", async () => {
  const ask = (at: number): ModelMessage[] => [
    {
      role: "assistant",
      content: [
        { type: "tool-call", toolCallId: `call_${at}`, toolName: "remove", input: { at } },
        { type: "tool-approval-request", approvalId: `ask_${at}`, toolCallId: `call_${at}` },
      ],
    },
    {
      role: "tool",
      content: [{ type: "tool-approval-response", approvalId: `ask_${at}`, approved: true }],
    },
  ];
  const done = (at: number): ModelMessage => {
    const output = { type: "text" as const, value: `removed ${at}\n`.repeat(100) };
    const call = { toolCallId: `call_${at}`, toolName: "remove" };
    return { role: "tool", content: [{ type: "tool-result", ...call, output }] };
  };
  const question: ModelMessage = { role: "user", content: "Remove all files." };
  const old = Array.from({ length: 10 }, (_, at) => [...ask(at), done(at)]).flat();
  // The tool of the last call runs in the next step.
  const history = [question, ...old, ...ask(10)];
  let [responses, cuts] = [0, 0];
  for (let budget = 200; budget < 6_000; budget += 200) {
    const { messages, isUnchanged } = await fitModelMessages(history, { budget, headroom: 0 });
    expect(messages.slice(-2)).toEqual(ask(10));
    const parts = messages.flatMap(({ content }) =>
      typeof content === "string" ? [] : [...content],
    );
    const count = (type: string): number => parts.filter((part) => part.type === type).length;
    expect(count("tool-approval-request")).toBe(count("tool-call"));
    expect(count("tool-approval-response")).toBe(count("tool-call"));
    expect(count("tool-result")).toBe(count("tool-call") - 1);
    responses += count("tool-approval-response");
    cuts += Number(!isUnchanged);
  }
  expect(responses).toBeGreaterThan(60);
  expect(cuts).toBeGreaterThan(3);
});

test("responses stay with their results, and files with their texts", async () => {
  const step = (at: number): ModelMessage[] => {
    const calls = ["a", "b"].map((name) => ({ toolCallId: `${name}_${at}`, toolName: "remove" }));
    const value = `removed ${at}\n`.repeat(100);
    return [
      {
        role: "assistant",
        content: calls.flatMap((call) => [
          { type: "tool-call" as const, ...call, input: { at } },
          {
            type: "tool-approval-request" as const,
            approvalId: `ask_${call.toolCallId}`,
            toolCallId: call.toolCallId,
          },
        ]),
      },
      {
        role: "tool",
        content: calls.flatMap((call) => [
          {
            type: "tool-approval-response" as const,
            approvalId: `ask_${call.toolCallId}`,
            approved: true,
          },
          { type: "tool-result" as const, ...call, output: { type: "text" as const, value } },
        ]),
      },
    ];
  };
  const file = { type: "file" as const, mediaType: "image/png", data: image };
  const drawing: ModelMessage = { role: "assistant", content: [file] };
  const question: ModelMessage = { role: "user", content: "Remove all files, and draw." };
  const steps = Array.from({ length: 10 }, (_, at) => step(at)).flat();
  let cuts = 0;
  for (let budget = 300; budget < 9_000; budget += 300) {
    const history = [question, ...steps, drawing];
    const fitted = await fitModelMessages(history, { budget, headroom: 0 });
    expect(fitted.messages.at(-1)).toBe(drawing);
    const parts = fitted.messages.flatMap(({ content }) =>
      typeof content === "string" ? [] : [...content],
    );
    const count = (type: string): number => parts.filter((part) => part.type === type).length;
    expect(count("tool-approval-request")).toBe(count("tool-call"));
    expect(count("tool-approval-response")).toBe(count("tool-call"));
    expect(count("tool-result")).toBe(count("tool-call"));
    cuts += Number(!fitted.isUnchanged);
  }
  expect(cuts).toBeGreaterThan(5);
});

test("bad input is an error", async () => {
  await expect(fitModelMessages("text" as never, { budget: 100 })).rejects.toThrow(UsageError);
  const parts = [{ role: "user", parts: [] }] as never;
  await expect(fitModelMessages(parts, { budget: 100 })).rejects.toThrow("messages[0].content");
  await expect(fitModelMessages(history, { budget: 0 })).rejects.toThrow("budget: expected");
});
