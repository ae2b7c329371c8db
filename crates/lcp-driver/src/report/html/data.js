// The data of the page: the plans, parsed once, and functions to query them.
// Data never becomes markup; text is inserted as text.

window.addEventListener('error', (event) => {
  document.documentElement.dataset.error = event.message;
});

const data = JSON.parse(document.getElementById('data').textContent);
const blocks = data.blocks;
const plans = data.plans;
const count = blocks.label.length;
const SHOWS = new Set(['full', 'detailed', 'summary', 'tags', 'excerpt']);

/** Digits in groups of three, the same everywhere. */
const digits = (n) => String(n).replace(/\B(?=(\d{3})+$)/g, ',');
/** A share in percent, to the nearest; only the whole is 100 %. */
function percent(part, whole) {
  if (whole === 0) return '–';
  let nearest = Math.round((part * 100) / whole);
  if (nearest === 100 && part !== whole) nearest += part < whole ? -1 : 1;
  return nearest === 0 && part > 0 ? '< 1%' : `${nearest}%`;
}
const plural = (n, one) => `${digits(n)} ${one}${n === 1 ? '' : 's'}`;

/** `tool_results` as people write it. */
function title(name) {
  if (name === '') return 'No share';
  if (name === 'omit') return 'Omitted';
  const words = name.replace(/[_-]+/g, ' ').trim();
  return words ? words[0].toUpperCase() + words.slice(1) : name;
}

/** 12,400 as 12.4k, in the room of five characters. */
function compact(n) {
  if (n === null) return 'all';
  if (n < 1000) return String(n);
  // A number that would round to 1000k is shown in millions.
  const [by, unit] = n < 999_500 ? [1e3, 'k'] : n < 999_500_000 ? [1e6, 'M'] : [1e9, 'G'];
  const short = n / by;
  return `${short < 100 ? Math.round(short * 10) / 10 : Math.round(short)}${unit}`;
}

const code = (codes, i) => codes.charCodeAt(i) - 97;
const decisionOf = (plan, i) => data.decisions[code(plan.d, i)];
const reasonOf = (plan, i) => data.reasons[code(plan.r, i)];
const categoryOf = (i) => data.categories[blocks.category[i]];
const priorityOf = (i) => data.priorities[blocks.priority[i]];
const typeOf = (i) => data.types[blocks.type[i]];

// The blocks that others cover, and the blocks that cover others.
const duplicates = data.duplicates ?? { relations: [], covered: [] };
const covered = new Map();
const covers = new Map();
for (const [i, by, relation, saved] of duplicates.covered) {
  covered.set(i, { by, relation: duplicates.relations[relation][0], saved });
  if (!covers.has(by)) covers.set(by, []);
  covers.get(by).push(i);
}
const COVER = covered.size > 0 ? ['covered', 'covering', ...duplicates.relations.map(([name]) => name)] : [];

/** Returns whether a block is covered, covers others, or is covered by this relation. */
function isCover(i, cover) {
  if (cover === 'covering') return covers.has(i);
  return cover === 'covered' ? covered.has(i) : covered.get(i)?.relation === cover;
}

/** Returns the sums of a plan by property of the blocks, computed on first use. */
function sums(plan) {
  if (plan.sums) return plan.sums;
  const by = { decision: new Map(), reason: new Map(), priority: new Map(), category: new Map() };
  const add = (map, key, tokens) => {
    const sum = map.get(key) ?? { blocks: 0, tokens: 0 };
    sum.blocks += 1;
    sum.tokens += tokens;
    map.set(key, sum);
  };
  plan.cut = new Map(plan.omitted.map(([i, lines, tokens]) => [i, { lines, tokens }]));
  let shown = 0;
  for (let i = 0; i < count; i += 1) {
    const decision = decisionOf(plan, i);
    add(by.decision, decision, plan.t[i]);
    add(by.reason, reasonOf(plan, i), plan.t[i]);
    if (SHOWS.has(decision)) shown += 1;
    // As in the report, metadata has no priority or category.
    if (decision === 'metadata') continue;
    add(by.priority, priorityOf(i), plan.t[i]);
    add(by.category, categoryOf(i), plan.t[i]);
  }
  plan.sums = { ...by, shown };
  return plan.sums;
}

/** An element with a class and children; strings become text. */
function make(tag, className, ...children) {
  const element = document.createElement(tag);
  if (className) element.className = className;
  element.append(...children.filter((child) => child !== null));
  return element;
}

/** Text of a pack, which may run either way and stays within its own bounds. */
function own(text, className) {
  return make('bdi', className, text);
}

function decided(tag, className, decision, ...children) {
  const element = make(tag, className, ...children);
  element.dataset.d = decision;
  return element;
}

const find = (id) => document.getElementById(id);
