// The page: reads its fields, asks the worker for a text, and shows the answer. Data never becomes
// markup; text is inserted as text.

import { collect, ofDrop, ofPicker } from "./folders.js";

const $ = (id) => document.getElementById(id);
const digits = (n) => n.toLocaleString("en");
const plural = (n, one) => `${digits(n)} ${one}${n === 1 ? "" : "s"}`;

/** The characters of a text that the page shows, so that it stays fast. */
const TEXT_SHOWN_MAX = 200_000;
const ROWS_MAX = 200;

const OVER_BUDGET = "LCP-BUD-001";

/** The groups of decisions, and the decisions in each. */
const GROUPS = {
  full: { title: "In full", decisions: ["full"] },
  shortened: {
    title: "Shortened",
    decisions: ["detailed", "summary", "tags", "excerpt"],
  },
  omitted: {
    title: "Omitted",
    decisions: ["placeholder", "rolled_up", "omit", "duplicate", "filtered"],
  },
};

const DECISIONS = {
  full: "in full",
  placeholder: "one line",
  rolled_up: "rolled up",
  omit: "omitted",
};

const REASONS = {
  critical: "critical: always in full",
  pinned: "pinned: always in full",
  fits: "it fits",
  no_budget: "no budget is set",
  ceiling: "its priority does not allow more",
  over_budget: "more does not fit in the budget",
  background: "its priority is background: other blocks come first",
};

/** Creates an element with text or other elements in it. */
function element(name, attributes, ...children) {
  const node = Object.assign(document.createElement(name), attributes);
  node.append(...children);
  return node;
}

// A worker inherits the policy of the page only if it is loaded from a blob.
const start = `import(${JSON.stringify(new URL("worker.js", import.meta.url).href)}).catch((error) => setTimeout(() => { throw error; }))`;
const blob = new Blob([start], { type: "text/javascript" });
const worker = new Worker(URL.createObjectURL(blob), { type: "module" });

let source;
let isNewSource = false;
let isBusy = true;
let isWaiting = false;
let complete;
let last;
let filter = "";
/** The number of inputs that the user chose. */
let inputs = 0;
let rowsMax = ROWS_MAX;

/** The number of requests that wait until the user pauses. */
let pending = 0;

const setBusy = (value) => $("result").setAttribute("aria-busy", String(value || pending > 0));

/** Asks for a text, now or after the answer that is awaited. */
function request() {
  setBusy(true);
  isWaiting = isBusy;
  if (isBusy) return;
  isBusy = true;
  worker.postMessage({
    source: isNewSource ? source : undefined,
    query: $("question").hidden ? "" : $("query").value.trim(),
    encoding: $("encoding").value,
    mode: $("mode").value,
    budget: $("budget").value === "" ? undefined : Number($("budget").value),
  });
  isNewSource = false;
}

/** Returns a function that calls another one when no further call follows for a while. */
function debounced(run, milliseconds) {
  let timer;
  return () => {
    pending += timer === undefined ? 1 : 0;
    setBusy(true);
    clearTimeout(timer);
    timer = setTimeout(() => {
      timer = undefined;
      pending -= 1;
      run();
    }, milliseconds);
  };
}

const requestSoon = debounced(request, 80);
const requestAfterTyping = debounced(request, 300);

worker.onmessage = ({ data }) => {
  if (data.complete !== undefined) {
    if (!isWaiting) {
      complete = data.complete;
      showSlider();
    }
    return;
  }
  isBusy = false;
  if (isWaiting || data.ready) {
    request();
    return;
  }
  setBusy(false);
  if (data.error) showError(data.error);
  else show(data);
};
worker.onerror = (event) => showError({ message: event.message || "the worker cannot be started" });

/** Uses another source. */
function use(newSource, title, leftOut = new Map()) {
  inputs += 1;
  source = newSource;
  isNewSource = true;
  complete = undefined;
  $("slider").disabled = true;
  filter = "";
  $("source").textContent = title;
  const names = [...leftOut].map(([name, count]) => (count === 1 ? name : `${count} × ${name}`));
  $("skipped").textContent =
    names.length > 0
      ? `Skipped: ${names.slice(0, 12).join(", ")}${names.length > 12 ? ", …" : ""}`
      : "";
  const { files, sample } = source;
  const isFiles =
    sample === "code" ||
    (files && !(files.length === 1 && /\.(lcp|bcp|jsonl?)$/i.test(files[0].path)));
  // A question ranks only files; messages are kept by age.
  $("question").hidden = !isFiles;
  if (source.transcript === undefined) togglePaste(false);
  request();
}

async function useFiles(entries) {
  setBusy(true);
  const own = (inputs += 1);
  try {
    const { name, files, leftOut } = await collect(entries);
    // The user chose another input in the meantime.
    if (own !== inputs) return;
    if (files.length === 0) throw new Error("the folder has no files to pack");
    const bytes = files.reduce((sum, { file }) => sum + file.size, 0);
    const title = name ?? (files.length === 1 ? files[0].path : "Files");
    use({ files }, `${title}: ${plural(files.length, "file")}, ${size(bytes)}`, leftOut);
  } catch (error) {
    if (own === inputs) showError(error);
  }
}

const size = (n) =>
  n < 1024
    ? plural(n, "byte")
    : n < 1 << 20
      ? `${Math.round(n / 1024)} KiB`
      : `${(n / (1 << 20)).toFixed(1)} MiB`;

function useTranscript() {
  // The user chose another input in the meantime.
  if ($("transcript-part").hidden) return;
  const transcript = $("transcript").value;
  if (transcript.trim() === "") {
    request();
  } else {
    use({ transcript }, `Pasted transcript: ${size(new Blob([transcript]).size)}`);
  }
}

// The slider is logarithmic: small budgets are as easy to set as large ones.
const SLIDER_MAX = 1000;
const least = () => Math.min(50, complete);

function showSlider() {
  const budget = Number($("budget").value) || complete;
  $("slider").disabled = complete <= least();
  // A rounded budget would move the slider back.
  if (budgetOfSlider() === budget) return;
  const ratio = Math.log(Math.max(budget, 1) / least()) / Math.log(complete / least());
  $("slider").value = Math.round(SLIDER_MAX * Math.min(Math.max(ratio || 0, 0), 1));
  $("slider").setAttribute("aria-valuetext", plural(budget, "token"));
}

function budgetOfSlider() {
  const at = Number($("slider").value) / SLIDER_MAX;
  if (at === 1) return complete;
  const budget = least() * (complete / least()) ** at;
  const unit = 10 ** Math.max(Math.floor(Math.log10(budget)) - 1, 0);
  return Math.min(Math.round(budget / unit) * unit, complete);
}

function showError({ message, hint, code }) {
  hint ??= code === OVER_BUDGET ? "raise the budget" : undefined;
  setBusy(false);
  $("error").replaceChildren(
    element("strong", {}, message),
    ...(hint ? [element("span", {}, hint)] : []),
  );
  $("error").hidden = false;
  $("result").hidden = true;
  $("columns").hidden = true;
  $("warnings-part").hidden = true;
}

const groupOf = (block) =>
  Object.keys(GROUPS).find((name) => GROUPS[name].decisions.includes(block.decision)) ?? "omitted";

function show({ text, report, warnings }) {
  $("error").hidden = true;
  $("result").hidden = false;
  $("columns").hidden = false;
  const blocks = report.blocks.filter(({ decision }) => decision !== "metadata");
  const groups = Object.fromEntries(
    Object.keys(GROUPS).map((name) => [name, { count: 0, tokens: 0 }]),
  );
  for (const block of blocks) {
    block.group = groupOf(block);
    groups[block.group].count += 1;
    groups[block.group].tokens += block.tokens;
  }
  last = { text, blocks, groups };
  const { used_tokens: used, budget, exact, encoding } = report;
  $("used").textContent = digits(used);
  $("used-of").textContent =
    `of ${digits(budget ?? used)} tokens, ${exact ? "counted exactly" : "estimated"} (${encoding}); ${digits(complete)} in full`;
  showBar(groups, used, Math.max(budget ?? used, used));
  const counts = Object.entries(groups).map(
    ([name, { count }]) => `${digits(count)} ${GROUPS[name].title.toLowerCase()}`,
  );
  $("status").textContent = `${plural(blocks.length, "block")}: ${counts.join(", ")}.`;
  $("text").textContent = text.slice(0, TEXT_SHOWN_MAX);
  const rest = text.length - TEXT_SHOWN_MAX;
  $("text-rest").hidden = rest <= 0;
  $("text-rest").textContent =
    `${digits(Math.max(rest, 0))} more characters are not shown here. “Copy” copies all.`;
  rowsMax = ROWS_MAX;
  showFilters();
  showRows();
  const all = [...warnings, ...report.warnings.map(({ message }) => message)];
  $("warnings").replaceChildren(...all.map((warning) => element("li", {}, warning)));
  $("warnings-part").hidden = all.length === 0;
}

function showBar(groups, used, budget) {
  const content = Object.values(groups).reduce((sum, { tokens }) => sum + tokens, 0);
  const parts = [
    ["full", "In full", groups.full.tokens],
    ["shortened", "Shortened", groups.shortened.tokens],
    ["omitted", "Omitted", groups.omitted.tokens],
    ["frame", "Envelope", Math.max(used - content, 0)],
    ["free", "Free", budget - used],
  ].filter(([, , tokens]) => tokens > 0);
  const swatch = (group) => {
    const node = element("i", { className: "swatch" });
    node.dataset.group = group;
    return node;
  };
  $("bar").replaceChildren(
    ...parts.map(([group, , tokens]) => {
      const part = swatch(group);
      part.style.flexGrow = String(tokens);
      return part;
    }),
  );
  $("legend").replaceChildren(
    ...parts.map(([group, title, tokens]) =>
      element("li", {}, swatch(group), `${title} `, element("b", {}, digits(tokens))),
    ),
  );
}

function showFilters() {
  const all = [
    ["", "All", last.blocks.length],
    ...Object.entries(last.groups).map(([name, { count }]) => [name, GROUPS[name].title, count]),
  ];
  const hasFocus = document.activeElement?.parentElement === $("filters");
  $("filters").replaceChildren(
    ...all.map(([name, title, count]) => {
      const button = element(
        "button",
        { type: "button", className: "button" },
        `${title} `,
        element("b", {}, digits(count)),
      );
      button.setAttribute("aria-pressed", String(filter === name));
      button.onclick = () => {
        filter = name;
        rowsMax = ROWS_MAX;
        showFilters();
        showRows();
      };
      return button;
    }),
  );
  if (hasFocus) $("filters").querySelector('[aria-pressed="true"]').focus();
}

function showRows() {
  const blocks = last.blocks.filter(({ group }) => filter === "" || group === filter);
  $("rows").replaceChildren(...blocks.slice(0, rowsMax).map(row));
  $("more").hidden = blocks.length <= rowsMax;
  $("more").textContent = `Show ${digits(Math.min(blocks.length - rowsMax, ROWS_MAX))} more`;
}

function row(block) {
  const {
    type,
    label,
    decision,
    group,
    reason,
    tokens,
    full_tokens: full,
    omitted_lines: lines,
    why = [],
  } = block;
  const reasons = [REASONS[reason] ?? reason.replaceAll("_", " ")];
  if (lines) reasons.push(`${plural(lines, "line")} omitted`);
  if (why.length > 0) reasons.push(`matches ${why.join(", ")}`);
  const mark = element("span", { className: "mark" }, DECISIONS[decision] ?? decision);
  mark.dataset.group = group;
  return element(
    "tr",
    {},
    element(
      "td",
      {},
      element("bdi", { className: "label" }, label),
      " ",
      element("span", { className: "soft" }, type),
    ),
    element("td", {}, mark, element("span", { className: "soft reason" }, reasons.join("; "))),
    element(
      "td",
      { className: "number" },
      digits(tokens),
      tokens === full ? "" : element("span", { className: "soft" }, ` of ${digits(full)}`),
    ),
  );
}

function togglePaste(isOpen) {
  $("transcript-part").hidden = !isOpen;
  $("paste").setAttribute("aria-expanded", String(isOpen));
  if (isOpen) $("transcript").focus();
}

$("paste").onclick = () => togglePaste($("transcript-part").hidden);
$("transcript").oninput = debounced(useTranscript, 300);
$("sample-session").onclick = () => {
  $("budget").value = 8000;
  use({ sample: "session" }, "Sample: a session of a coding agent");
};
$("sample-code").onclick = () => {
  $("query").value ||= "how is a vocabulary loaded only once?";
  $("budget").value = 1500;
  use({ sample: "code" }, "Sample: the JavaScript of the npm package");
};
for (const input of [$("folder"), $("files")]) {
  input.onchange = async () => {
    await useFiles(ofPicker(input.files));
    input.value = "";
  };
}
$("query").oninput = requestAfterTyping;
$("encoding").onchange = request;
$("mode").onchange = request;
$("slider").oninput = () => {
  $("budget").value = budgetOfSlider();
  $("slider").setAttribute("aria-valuetext", plural(Number($("budget").value), "token"));
  requestSoon();
};
$("budget").oninput = () => {
  if (complete) showSlider();
  requestAfterTyping();
};
$("more").onclick = () => {
  rowsMax += ROWS_MAX;
  showRows();
};
$("copy").onclick = async () => {
  if (!last) return;
  const isCopied = await navigator.clipboard.writeText(last.text).then(
    () => true,
    () => false,
  );
  $("copy").textContent = isCopied ? "Copied" : "Not allowed";
  setTimeout(() => ($("copy").textContent = "Copy"), 1500);
};

document.ondragover = (event) => {
  event.preventDefault();
  $("drop").classList.add("over");
};
document.ondragleave = (event) => {
  if (event.relatedTarget === null) $("drop").classList.remove("over");
};
document.ondrop = (event) => {
  event.preventDefault();
  $("drop").classList.remove("over");
  void useFiles(ofDrop(event.dataTransfer));
};
document.onpaste = (event) => {
  if (event.target.matches("input, textarea")) return;
  const text = event.clipboardData.getData("text");
  if (text !== "") {
    togglePaste(true);
    $("transcript").value = text;
    useTranscript();
  }
};

// In the guide: its colors, and the height of the page.
const frame = window.frameElement;
if (frame) {
  document.documentElement.classList.add("embedded");
  const guide = parent.document.documentElement;
  const copyTheme = () => {
    const isDark = ["coal", "navy", "ayu"].some((name) => guide.classList.contains(name));
    document.documentElement.dataset.theme = isDark ? "dark" : "light";
    document.documentElement.style.setProperty(
      "--page",
      parent.getComputedStyle(guide).getPropertyValue("--bg"),
    );
  };
  copyTheme();
  new MutationObserver(copyTheme).observe(guide, {
    attributeFilter: ["class"],
  });
  new ResizeObserver(() => {
    frame.style.height = `${document.body.offsetHeight}px`;
  }).observe(document.body);
}

$("sample-session").click();
