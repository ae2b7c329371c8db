// Figures, bars, notices and the columns of the replay.

function drawChips() {
  const counts = data.exact ? 'exact counts' : 'estimated counts';
  const objective = data.objective === 'strict' ? [] : [`by ${data.objective}`];
  for (const text of [data.encoding, counts, data.mode, data.verbosity, ...objective]) {
    find('chips').append(make('span', 'chip', own(text)));
  }
}

/** Returns the decisions that used tokens, in order of detail, and the overhead. */
function spent(plan) {
  const by = sums(plan).decision;
  const list = data.decisions.filter((name) => (by.get(name)?.tokens ?? 0) > 0);
  const rows = list.map((name) => ({ name, title: title(name), tokens: by.get(name).tokens }));
  if (plan.overhead > 0) rows.push({ name: 'overhead', title: 'Envelope', tokens: plan.overhead });
  return rows;
}

/** Returns the share of each decision in the full tokens of the pack, as parts of 1. */
function became(plan) {
  const full = new Map();
  let total = 0;
  for (let i = 0; i < count; i += 1) {
    const name = decisionOf(plan, i);
    if (name === 'metadata') continue;
    full.set(name, (full.get(name) ?? 0) + blocks.full[i]);
    total += blocks.full[i];
  }
  return data.decisions.filter((name) => full.get(name) > 0).map((name) => ({ name, part: full.get(name) / total }));
}

function drawHero(plan) {
  find('used').textContent = digits(plan.used);
  find('of').textContent = plan.budget === null ? 'tokens, without a budget' : `of ${plural(plan.budget, 'token')}`;
  const whole = Math.max(plan.used, plan.budget ?? 0, 1);
  const rows = spent(plan);
  const stack = find('stack');
  stack.replaceChildren(...rows.map((row) => {
    const piece = decided('span', '', row.name);
    piece.style.width = `${(row.tokens * 100) / whole}%`;
    piece.title = `${row.title}: ${plural(row.tokens, 'token')}`;
    return piece;
  }));
  stack.setAttribute('aria-label', rows.map((row) => `${row.title} ${plural(row.tokens, 'token')}`).join(', ') || 'No tokens');
  const by = sums(plan).decision;
  const without = data.decisions.filter((name) => name !== 'metadata' && by.get(name)?.tokens === 0);
  const entry = (name, text, figure) => make('li', '', decided('span', 'swatch', name), `${text} `, make('b', '', figure));
  find('legend').replaceChildren(
    ...rows.map((row) => entry(row.name, row.title, digits(row.tokens))),
    ...without.map((name) => entry(name, title(name), plural(by.get(name).blocks, 'block'))),
  );
}

function drawFigures(plan) {
  const blocksShown = sums(plan).shown;
  const said = count - (sums(plan).decision.get('metadata')?.blocks ?? 0);
  const over = plan.overflow > 0;
  const figures = [
    ['budget', 'Budget', plan.budget === null ? 'None' : digits(plan.budget), plan.budget === null ? 'everything in full' : 'tokens'],
    over
      ? ['remaining', 'Over the budget', digits(plan.overflow), 'tokens']
      : ['remaining', 'Remaining', plan.budget === null ? '–' : digits(plan.remaining), 'tokens'],
    ['fill', 'Fill', plan.budget ? percent(plan.shown, plan.budget) : '–', 'of the budget shows content'],
    ['blocks-shown', 'Blocks with content', digits(blocksShown), `of ${digits(said)}`],
    ['exact', 'Counts', data.exact ? 'Exact' : 'Estimated', data.encoding],
  ];
  if (plan.value) figures.push(['value', 'Value', ...plan.value]);
  if (plan.stable) {
    const { kept_tokens: kept, previous_tokens: previous, prefix_tokens: prefix, prefix_bytes: bytes } = plan.stable;
    figures.push(
      ['kept', 'Reused from the previous text', percent(kept, previous), previous > 0 ? `${digits(kept)} of ${plural(previous, 'token')}` : 'no previous text'],
      ['prefix', 'Cacheable prefix', digits(prefix), `tokens, ${plural(bytes, 'byte')}`],
    );
  }
  if (data.duplicates) figures.push(['saved', 'Duplicates saved', digits(data.duplicates.saved), 'tokens of content']);
  find('figures').replaceChildren(...figures.map(([id, name, value, note]) => {
    const figure = make('dd', '', value);
    figure.id = id;
    return make('div', over && id === 'remaining' ? 'alert' : '', make('dt', '', name), figure, make('dd', 'note', own(note)));
  }));
}

const sentence = (text) => `${text[0].toUpperCase()}${text.slice(1)}.`;

function drawNotices(plan) {
  const notices = [];
  if (plan.stable?.turn === 'repacked' && plan.why) {
    const notice = make('div', 'notice', make('strong', '', 'The text was repacked'), make('span', '', sentence(plan.why)));
    notice.id = 'repacked';
    notices.push(notice);
  }
  if (plan.suggestion) {
    const notice = make('div', 'notice', make('strong', '', 'A larger budget would help'), make('span', '', sentence(plan.suggestion)));
    notice.id = 'suggestion';
    notices.push(notice);
  }
  if (plan.warned > 0) {
    const list = make('ul', '', ...plan.warnings.map((warning) => make(
      'li', '', own(warning.block === undefined ? warning.message : `${warning.message} (block ${warning.block})`), make('code', '', warning.code),
    )));
    const notice = make('div', 'notice', make('strong', '', plural(plan.warned, 'warning')), list);
    const more = plan.warned - plan.warnings.length;
    if (more > 0) list.append(make('li', '', `and ${digits(more)} more, in the JSON report`));
    notice.id = 'warnings';
    notices.push(notice);
  }
  find('notices').replaceChildren(...notices);
}

/** Draws rows of a name, a bar and numbers. */
function drawBars(id, rows) {
  const largest = Math.max(1, ...rows.map((row) => row.tokens));
  const whole = rows.reduce((sum, row) => sum + row.tokens, 0);
  find(id).replaceChildren(...rows.map((row) => {
    const piece = decided('i', '', row.decision ?? 'plain');
    piece.style.width = `${(row.tokens * 100) / largest}%`;
    const what = make('div', 'what', row.decision ? decided('span', 'swatch', row.decision) : null, own(title(row.name)));
    what.title = title(row.name);
    const of = row.blocks === undefined ? '' : ` · ${plural(row.blocks, 'block')}`;
    const num = make('div', 'num', make('b', '', digits(row.tokens)), ` · ${percent(row.tokens, whole)}${of}`);
    return make('div', 'row', what, num, make('div', 'bar', row.tokens > 0 ? piece : null));
  }));
  if (rows.length === 0) find(id).append(make('p', 'hint', 'None.'));
}

function drawSums(plan) {
  const by = sums(plan);
  const decisions = data.decisions.filter((name) => by.decision.has(name))
    .map((name) => ({ name, decision: name, ...by.decision.get(name) }));
  if (plan.overhead > 0) decisions.push({ name: 'envelope', decision: 'overhead', tokens: plan.overhead });
  drawBars('decisions', decisions);
  drawBars('reasons', [...by.reason].map(([name, sum]) => ({ name, ...sum }))
    .sort((a, b) => b.tokens - a.tokens || b.blocks - a.blocks || (a.name < b.name ? -1 : 1)));
  drawBars('priorities', data.priorities.filter((name) => by.priority.has(name)).map((name) => ({ name, ...by.priority.get(name) })));
  drawShares(plan, by);
}

/** Draws the result of deduplication, which is the same for all plans. */
function drawDuplicates() {
  find('dedup').hidden = covered.size === 0;
  find('cover-label').hidden = covered.size === 0;
  if (covered.size === 0) return;
  const { removed, merged, superseded, saved } = duplicates;
  find('dedup-said').textContent = `${digits(removed)} removed, ${digits(merged)} merged, ${digits(superseded)} superseded: ${plural(saved, 'token')} saved`;
  drawBars('relations', duplicates.relations.map(([name, sum]) => ({ name, ...sum })));
}

/** Returns the largest rows, and one row for all others, because a pack may have any number. */
function capped(rows) {
  if (rows.length <= PARTS_MAX) return rows;
  const rest = rows.splice(PARTS_MAX - 1);
  const sum = (key) => rest.reduce((all, row) => all + row[key], 0);
  rows.push({ ...rest[0], name: `${digits(rest.length)} more`, used: sum('used'), blocks: sum('blocks') });
  return rows;
}

function drawShares(plan, by) {
  find('shares-title').textContent = plan.shares.length > 0 ? 'By share' : 'By category';
  const rows = plan.shares.length > 0
    ? plan.shares
    : capped([...by.category].map(([name, sum]) => ({ name, tokens: null, cap: null, wanted: 0, used: sum.tokens, borrowed: 0, over_cap: 0, blocks: sum.blocks }))
      .sort((a, b) => b.used - a.used || (a.name < b.name ? -1 : 1)));
  // Wanted tokens and caps may be far larger than the used tokens, so they do not set the scale.
  const scale = Math.max(1, ...rows.map((row) => Math.max(row.used, row.tokens ?? 0))) * 1.02;
  const piece = (className, from, to) => {
    const element = make('i', className);
    element.style.left = `${(from * 100) / scale}%`;
    element.style.width = `${(Math.min(to - from, scale - from) * 100) / scale}%`;
    return element;
  };
  find('shares').replaceChildren(...rows.map((row) => {
    const limit = row.tokens ?? row.used;
    const allowed = row.used - row.over_cap;
    const bar = make('div', 'bar');
    if (row.tokens > 0) bar.append(piece('room', 0, row.tokens));
    if (row.wanted > row.used) bar.append(piece('wanted', 0, Math.min(row.wanted, scale)));
    if (row.used > 0) bar.append(piece('own', 0, Math.min(allowed, limit)));
    if (row.borrowed > 0) bar.append(piece('borrowed', limit, limit + row.borrowed));
    if (row.over_cap > 0) bar.append(piece('over', allowed, row.used));
    if (row.cap !== null && row.cap <= scale) {
      const cap = make('i', 'cap');
      cap.style.left = `calc(${(row.cap * 100) / scale}% - 1px)`;
      cap.title = `Cap: ${digits(row.cap)}`;
      bar.append(cap);
    }
    const num = make('div', 'num', make('b', '', digits(row.used)));
    if (row.tokens > 0) num.append(` / ${digits(row.tokens)} · ${percent(row.used, row.tokens)}`);
    num.append(` · ${plural(row.blocks, 'block')}`);
    if (row.borrowed > 0 && row.tokens > 0) num.append(` · ${digits(row.borrowed)} borrowed`);
    if (row.over_cap > 0) num.append(` · ${digits(row.over_cap)} over its cap`);
    const what = make('div', 'what', own(title(row.name)));
    what.title = title(row.name);
    const line = make('div', 'row', what, bar, num);
    line.dataset.share = row.name;
    return line;
  }));
  const key = [['own', 'used'], ['room', 'own, unused'], ['borrowed', 'borrowed'], ['over', 'over its cap'], ['wanted', 'wanted'], ['cap', 'cap']]
    .filter(([className]) => plan.shares.length > 0 && (className !== 'over' || rows.some((row) => row.over_cap > 0))
      && (className !== 'cap' || rows.some((row) => row.cap !== null && row.cap <= scale)));
  find('shares-key').replaceChildren(...key.map(([className, text]) => make('span', '', make('span', 'bar', make('i', className)), text)));
}

const NAME_WIDTH = 46;

/** Returns the names of the replay columns: at even steps, far enough from each other, and always for the last one. */
function columnNames(width) {
  const last = plans.length - 1;
  const room = Math.max(width, NAME_WIDTH) / plans.length;
  const every = [1, 2, 5, 10, 20, 50, 100].find((step) => step * room >= NAME_WIDTH) ?? plans.length;
  const named = (at) => at === last || (at % every === 0 && last - at >= every);
  return plans.map((plan, at) => (named(at) ? compact(plan.budget) : ''));
}

function nameColumns() {
  const strip = find('strip');
  const names = columnNames(strip.clientWidth);
  [...strip.children].forEach((column, at) => { column.lastChild.textContent = names[at]; });
}

/** Draws the columns above the slider, one for each plan, with all tokens of the pack. */
function drawStrip(go) {
  find('strip').replaceChildren(...plans.map((plan, at) => {
    const column = make('div', '', ...became(plan).reverse().map((row) => {
      const piece = decided('i', '', row.name);
      piece.style.height = `${(row.part * 100).toFixed(2)}px`;
      return piece;
    }), make('b'));
    column.title = `${plan.budget === null ? 'No budget' : plural(plan.budget, 'token')}: ${digits(plan.used)} used`;
    column.addEventListener('click', () => go(at));
    return column;
  }));
  nameColumns();
  const slider = find('slider');
  slider.max = plans.length - 1;
  // The thumb is below the middle of its column.
  slider.style.marginInline = `calc(${50 / plans.length}% - 8px)`;
  slider.style.width = `calc(${100 - 100 / plans.length}% + 16px)`;
}

function drawReplay(at) {
  const plan = plans[at];
  const said = plan.budget === null ? 'without a budget' : `a budget of ${plural(plan.budget, 'token')}`;
  const slider = find('slider');
  slider.value = at;
  slider.setAttribute('aria-valuetext', said);
  find('replaying').textContent = at === data.current ? `This run: ${said}` : `Replay: ${said}`;
  find('back').hidden = at === data.current;
  [...find('strip').children].forEach((column, i) => column.classList.toggle('now', i === at));
}
