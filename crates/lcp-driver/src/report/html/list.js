// The list of blocks, filtered and sorted. Only the first rows are drawn, so that a pack of a
// hundred thousand blocks opens as quickly as a small one.

const ROWS = 100;
const CHOICES_MAX = 500;
const COVERS_MAX = 8;
const NUMERIC = new Set(['tokens', 'full']);
const COLUMNS = [
  { key: 'index', name: '#', width: '5%', className: 'number index' },
  { key: 'label', name: 'Block', width: '28%', className: 'what' },
  { key: 'category', name: 'Category', width: '12%', className: 'group' },
  { key: 'priority', name: 'Priority', width: '10%', className: 'rank' },
  { key: 'decision', name: 'Decision', width: '12%', className: 'said' },
  { key: 'reason', name: 'Reason', width: '17%', className: 'reason' },
  { key: 'tokens', name: 'Tokens', width: '8%', className: 'number tokens' },
  { key: 'full', name: 'In full', width: '8%', className: 'number full' },
];

/** Returns the sort key of a column: a number or a word. */
function sortKey(key, plan) {
  switch (key) {
    case 'label': return (i) => blocks.label[i];
    case 'category': return (i) => categoryOf(i);
    case 'priority': return (i) => blocks.priority[i];
    case 'decision': return (i) => code(plan.d, i);
    case 'reason': return (i) => reasonOf(plan, i);
    case 'tokens': return (i) => plan.t[i];
    case 'full': return (i) => blocks.full[i];
    default: return (i) => i;
  }
}

/** Returns whether metadata blocks are listed; they have no text of their own. */
const listsAll = (state) => state.metadata || state.decision === 'metadata';

function matching(state, plan) {
  const text = state.text.trim().toLowerCase();
  const index = /^#\d+$/.test(text) ? Number(text.slice(1)) : null;
  const found = [];
  const all = listsAll(state);
  for (let i = 0; i < count; i += 1) {
    // A search by index also finds metadata.
    if (!all && index === null && decisionOf(plan, i) === 'metadata') continue;
    if (state.decision && decisionOf(plan, i) !== state.decision) continue;
    if (state.group !== null && categoryOf(i) !== state.group) continue;
    if (state.priority && priorityOf(i) !== state.priority) continue;
    if (state.cover && !isCover(i, state.cover)) continue;
    if (index !== null ? i !== index : text && !blocks.label[i].toLowerCase().includes(text) && !typeOf(i).includes(text)) continue;
    found.push(i);
  }
  const key = sortKey(state.sort, plan);
  const way = state.dir === 'desc' ? -1 : 1;
  // Equal keys stay in the order of the pack, in both directions.
  found.sort((a, b) => {
    const [x, y] = [key(a), key(b)];
    if (x === y) return a - b;
    return (x < y ? -1 : 1) * way;
  });
  return found;
}

function drawColumns(sortBy) {
  find('columns').replaceChildren(...COLUMNS.map((column) => {
    const button = make('button', '', column.name);
    button.type = 'button';
    button.addEventListener('click', () => sortBy(column.key, NUMERIC.has(column.key) ? 'desc' : 'asc'));
    const th = make('th', column.className, button);
    th.scope = 'col';
    th.style.width = column.width;
    th.dataset.key = column.key;
    return th;
  }));
}

/** Makes a link that shows a block in the list, with its index and an optional label. */
function link(i, label) {
  const button = make('button', 'link', `#${i}`, ...(label ? [' ', own(label)] : []));
  button.type = 'button';
  button.dataset.to = i;
  return button;
}

/** Makes the lines about the block that covers this one and the blocks that this one covers. */
function coverOf(i) {
  const lines = [];
  const by = covered.get(i);
  if (by) lines.push(make('div', 'cover', `${title(by.relation)}: covered by `, link(by.by, blocks.label[by.by] || typeOf(by.by)), `, ${plural(by.saved, 'token')} saved.`));
  const those = covers.get(i);
  if (those) {
    const links = those.slice(0, COVERS_MAX).flatMap((other, at) => [at === 0 ? '' : ', ', link(other)]);
    const more = those.length - COVERS_MAX;
    lines.push(make('div', 'cover', 'Covers ', ...links, more > 0 ? ` and ${digits(more)} more.` : '.'));
  }
  return lines;
}

function drawRow(i, plan) {
  const decision = decisionOf(plan, i);
  const cut = plan.cut.get(i);
  const label = blocks.label[i];
  const type = make('span', 'type', typeOf(i).replace(/-/g, ' '));
  const part = make('i');
  part.style.width = `${Math.min((plan.t[i] * 100) / Math.max(blocks.full[i], 1), 100)}%`;
  const cells = {
    index: [String(i)],
    label: [own(label || typeOf(i), 'label'), type],
    category: [own(title(categoryOf(i)))],
    priority: [title(priorityOf(i))],
    decision: [decided('span', 'swatch', decision), title(decision), decided('div', 'part-bar', decision, part)],
    reason: [make('span', 'why', data.sentences[reasonOf(plan, i)], cut ? ` ${plural(cut.lines, 'line')}, about ${plural(cut.tokens, 'token')} omitted.` : ''), ...coverOf(i)],
    tokens: [digits(plan.t[i])],
    full: [digits(blocks.full[i])],
  };
  const row = make('tr', '', ...COLUMNS.map((column) => make('td', column.className, ...cells[column.key])));
  row.dataset.index = i;
  row.dataset.decision = decision;
  row.dataset.reason = reasonOf(plan, i);
  return row;
}

function drawList(state, plan) {
  const metadata = sums(plan).decision.get('metadata')?.blocks ?? 0;
  find('metadata-label').hidden = metadata === 0;
  const listed = listsAll(state) ? count : count - metadata;
  const found = matching(state, plan);
  const shown = found.slice(0, state.rows);
  find('rows').replaceChildren(...shown.map((i) => drawRow(i, plan)));
  const of = found.length === listed ? plural(listed, 'block') : `${digits(found.length)} of ${plural(listed, 'block')}`;
  find('count').textContent = shown.length < found.length ? `${of}, the first ${digits(shown.length)} shown` : of;
  const more = find('more');
  more.hidden = shown.length === found.length;
  more.textContent = `Show ${digits(Math.min(found.length - shown.length, ROWS * 5))} more`;
  for (const th of find('columns').children) {
    if (th.dataset.key === state.sort) th.setAttribute('aria-sort', state.dir === 'desc' ? 'descending' : 'ascending');
    else th.removeAttribute('aria-sort');
  }
}

/** Fills a choice of names, with an entry for all of them first. A pack may have any number of names. */
function drawChoice(id, none, names) {
  const choice = find(id);
  const option = (name, at) => {
    const element = make('option', '', at === null ? none : title(name));
    // The value is a number, because a name of a pack may be any text, also empty.
    element.value = at === null ? '' : String(at);
    return element;
  };
  choice.replaceChildren(option(none, null), ...names.slice(0, CHOICES_MAX).map((name, at) => option(name, at)));
}
