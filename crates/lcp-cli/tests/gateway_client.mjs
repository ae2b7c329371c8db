// The SDKs of Anthropic and OpenAI for TypeScript, which talk to a provider through the gateway.
//
// Usage: gateway_client.mjs PACKAGES URL

import assert from "node:assert";
import { createRequire } from "node:module";

const [packages, url] = process.argv.slice(2);
const require = createRequire(`${packages}/`);
const { default: Anthropic } = require("@anthropic-ai/sdk");
const { default: OpenAI } = require("openai");

const read = (json) => {
  const name = JSON.parse(json).file_path;
  return Array.from({ length: 150 }, (_, at) => `${at}\tline ${at} of the long file ${name}\n`).join("");
};
const schema = { type: "object", properties: { file_path: { type: "string" } } };
const anthropic = new Anthropic({ baseURL: url, apiKey: "sk-ant-dummy", maxRetries: 0 });
const openai = new OpenAI({ baseURL: `${url}/v1`, apiKey: "sk-dummy", maxRetries: 0 });

async function askAnthropic(prompt, stream) {
  const messages = [{ role: "user", content: prompt }];
  for (;;) {
    const request = {
      model: "claude-sonnet-4-5",
      max_tokens: 100,
      system: [{ type: "text", text: "Be brief.", cache_control: { type: "ephemeral" } }],
      tools: [{ name: "Read", description: "Reads a file", input_schema: schema }],
      messages,
    };
    const message = stream
      ? await anthropic.messages.stream(request).finalMessage()
      : await anthropic.messages.create(request);
    assert.equal(message.usage.cache_read_input_tokens, 20_000);
    messages.push({ role: "assistant", content: message.content });
    const calls = message.content.filter((part) => part.type === "tool_use");
    if (calls.length === 0) return message.content.at(-1).text;
    const results = calls.map(({ id, input }) => {
      return { type: "tool_result", tool_use_id: id, content: read(JSON.stringify(input)) };
    });
    messages.push({ role: "user", content: results });
  }
}

async function askResponses(prompt, stream) {
  const input = [{ role: "user", content: prompt }];
  for (;;) {
    const tools = [{ type: "function", name: "shell", parameters: schema, strict: false }];
    const request = { model: "gpt-5", input, tools, store: false };
    let response;
    if (stream) {
      for await (const event of await openai.responses.create({ ...request, stream })) {
        if (event.type === "response.completed") response = event.response;
      }
    } else {
      response = await openai.responses.create(request);
    }
    assert.equal(response.usage.input_tokens_details.cached_tokens, 8_000);
    input.push(...response.output);
    const calls = response.output.filter((item) => item.type === "function_call");
    if (calls.length === 0) return response.output.at(-1).content[0].text;
    for (const call of calls) {
      input.push({ type: "function_call_output", call_id: call.call_id, output: read(call.arguments) });
    }
  }
}

async function askChat(prompt, stream) {
  const messages = [{ role: "user", content: prompt }];
  for (;;) {
    const tools = [{ type: "function", function: { name: "shell", parameters: schema } }];
    const request = { model: "gpt-5", messages, tools };
    let completion;
    if (stream) {
      const options = { ...request, stream_options: { include_usage: true } };
      completion = await openai.chat.completions.stream(options).finalChatCompletion();
    } else {
      completion = await openai.chat.completions.create(request);
    }
    assert.equal(completion.usage.prompt_tokens, 9_000);
    const { content, tool_calls: calls } = completion.choices[0].message;
    if (!calls?.length) return content;
    messages.push({ role: "assistant", content: null, tool_calls: calls });
    for (const call of calls) {
      messages.push({ role: "tool", tool_call_id: call.id, content: read(call.function.arguments) });
    }
  }
}

for (const prompt of ["Read a.txt again.", "Read different files."]) {
  for (const ask of [askAnthropic, askResponses, askChat]) {
    for (const stream of [false, true]) {
      assert.equal(await ask(prompt, stream), "All is read.", `${ask.name} ${stream}`);
    }
  }
}
const messages = [{ role: "user", content: "hello" }];
await assert.rejects(
  anthropic.messages.create({ model: "overloaded", max_tokens: 1, messages }),
  (error) => error.status === 529 && error.error.error.message === "Overloaded",
);
console.log("all is well");
