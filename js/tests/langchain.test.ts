import {
  AIMessage,
  HumanMessage,
  SystemMessage,
  ToolMessage,
  trimMessages,
} from "@langchain/core/messages";
import type { BaseMessage } from "@langchain/core/messages";
import { RunnableLambda } from "@langchain/core/runnables";
import { count } from "llm-context-pack";
import { fitChatMessages, tokenCounter } from "llm-context-pack/langchain";
import { expect, test } from "vitest";

const history: BaseMessage[] = [
  new SystemMessage("Answer briefly."),
  ...Array.from({ length: 12 }, (_, at) => [
    new HumanMessage({ content: `What does file ${at} say?`, id: `q${at}` }),
    new AIMessage({
      content: "",
      tool_calls: [{ id: `call_${at}`, name: "read", args: { path: `${at}.txt` } }],
    }),
    new ToolMessage({
      content: `line ${at} of a file that the model reads\n`.repeat(40),
      tool_call_id: `call_${at}`,
    }),
    new AIMessage(`It repeats line ${at}.`),
  ]).flat(),
  new HumanMessage([{ type: "text", text: "And what do all of them say?" }]),
];

test("messages that fit are the same objects", async () => {
  const fitted = await fitChatMessages(history, { budget: 100_000, model: "gpt-5" });
  expect(fitted.isUnchanged).toBe(true);
  fitted.messages.forEach((message, at) => expect(message).toBe(history[at]));
  expect(await tokenCounter()(history)).toBe(fitted.report.usedTokens);
});

test("a long history fits with its calls and newest turn", async () => {
  const { messages, report } = await fitChatMessages(history, { budget: 1_500 });
  expect(await tokenCounter()(messages)).toBeLessThanOrEqual(1_500);
  expect(report.usedTokens).toBeLessThanOrEqual(1_500);
  expect(messages[0]).toBe(history[0]);
  expect(messages.at(-1)).toBe(history.at(-1));
  const calls = messages
    .filter((it) => AIMessage.isInstance(it))
    .flatMap((it) => it.tool_calls ?? []);
  const results = messages.filter((it) => ToolMessage.isInstance(it));
  expect(calls.length).toBeGreaterThan(0);
  expect(results.map((it) => it.tool_call_id)).toEqual(calls.map((it) => it.id));
  expect((await fitChatMessages(messages, { budget: 1_500 })).messages).toEqual(messages);
});

test("the next turn extends the messages of the turn before", async () => {
  const first = await fitChatMessages(history, { budget: 1_500 });
  const next = [...history, new AIMessage("Their lines."), new HumanMessage("Why?")];
  const second = await fitChatMessages(next, { budget: 1_500, previous: first });
  expect(second.isAppended).toBe(true);
  expect(second.messages).toEqual([...first.messages, ...next.slice(-2)]);
});

test("shortened messages keep their other fields", async () => {
  const artifact = { path: "0.txt" };
  const call = { id: "call", name: "read", args: { path: "0.txt" } };
  const raw = [
    { id: "call", type: "function" as const, function: { name: "read", arguments: "{}" } },
  ];
  const content = "line of a file that the model reads\n".repeat(200);
  const messages: BaseMessage[] = [
    new HumanMessage({ content: "Words that can be left out. ".repeat(200), id: "q", name: "ada" }),
    new AIMessage({
      content: "I read it. ".repeat(200),
      id: "a",
      tool_calls: [call],
      additional_kwargs: { tool_calls: raw, refusal: null },
    }),
    new ToolMessage({
      content,
      id: "t",
      tool_call_id: "call",
      name: "read",
      artifact,
      status: "error",
    }),
    new HumanMessage("And now?"),
  ];
  const shortened = new Set<string>();
  for (let budget = 60; budget < 3_000; budget += 40) {
    const fitted = await fitChatMessages(messages, { budget, headroom: 0 });
    for (const message of fitted.messages.filter((it) => !messages.includes(it))) {
      const type = message.getType();
      shortened.add(type);
      if (ToolMessage.isInstance(message)) {
        expect(message).toMatchObject({ id: "t", name: "read", artifact, status: "error" });
      } else if (AIMessage.isInstance(message)) {
        expect(message.id).toBe("a");
        expect(message.additional_kwargs).toEqual({ refusal: null });
      } else if (type === "human") {
        expect(message).toMatchObject({ id: "q", name: "ada" });
      }
    }
  }
  expect([...shortened].sort()).toEqual(expect.arrayContaining(["ai", "human", "tool"]));
});

test("trimMessages counts with the tokenizer of a model", async () => {
  const counter = tokenCounter({ model: "gpt-4" });
  const trimmed = await trimMessages(history, {
    maxTokens: 1_000,
    tokenCounter: counter,
    strategy: "last",
    startOn: "human",
  });
  expect(trimmed.length).toBeGreaterThan(0);
  expect(await counter(trimmed)).toBeLessThanOrEqual(1_000);
  const text = "a budget is a promise";
  const expected = (await count(text, { model: "gpt-4" })) + 7;
  expect(await counter([new HumanMessage(text)])).toBe(expected);
  await expect(tokenCounter({ model: "no-such-model" })([])).rejects.toThrow("unknown model");
});

test("a fit is a step of a chain", async () => {
  const fit = RunnableLambda.from(async (messages: BaseMessage[]) => {
    return (await fitChatMessages(messages, { budget: 1_500 })).messages;
  });
  const chain = fit.pipe((messages: BaseMessage[]) => messages.length);
  expect(await chain.invoke(history)).toBeLessThanOrEqual(history.length);
});

test("calls of Anthropic keep their thinking", async () => {
  const step = (at: number): BaseMessage[] => [
    new AIMessage({
      content: [
        { type: "thinking", thinking: "I read it next. ".repeat(20), signature: "c2ln" },
        { type: "text", text: "I read it." },
        { type: "tool_use", id: `call_${at}`, name: "read", input: { path: `${at}.txt` } },
      ],
      tool_calls: [{ id: `call_${at}`, name: "read", args: { path: `${at}.txt` } }],
    }),
    new ToolMessage({ content: `line ${at} of a file\n`.repeat(40), tool_call_id: `call_${at}` }),
  ];
  const question = new HumanMessage("What do the files say?");
  const loop = [question, ...Array.from({ length: 12 }, (_, at) => step(at)).flat()];
  expect((await fitChatMessages(loop, { budget: 100_000 })).isUnchanged).toBe(true);
  let calls = 0;
  for (let budget = 300; budget < 5_000; budget += 200) {
    const { messages } = await fitChatMessages(loop, { budget });
    for (const message of messages.filter((it) => AIMessage.isInstance(it))) {
      const types = (message.content as { type: string }[]).map((part) => part.type);
      expect(types).toContain("thinking");
      calls += 1;
    }
  }
  expect(calls).toBeGreaterThan(20);
});
