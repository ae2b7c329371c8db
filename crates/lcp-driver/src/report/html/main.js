// The state of the page, stored in the fragment of its address:
// `#budget=2000&sort=tokens&dir=asc&size=full&text=main&cover=covered&theme=dark`.

const START = { plan: data.current, sort: 'tokens', dir: 'desc', size: 'shown', theme: '', text: '', decision: '', group: null, priority: '', cover: '', metadata: false, rows: ROWS };
const state = { ...START };

/** Returns the index of the plan with the nearest budget; null means no budget. */
function nearest(budget) {
  const distance = (plan) => (plan.budget === null ? (budget === null ? 0 : Infinity) : budget === null ? plan.used + 1 : Math.abs(plan.budget - budget));
  return plans.reduce((best, plan, at) => (distance(plan) < distance(plans[best]) ? at : best), 0);
}

function readAddress() {
  const said = new URLSearchParams(location.hash.slice(1));
  const among = (key, allowed) => (allowed.includes(said.get(key)) ? said.get(key) : START[key]);
  Object.assign(state, START, {
    sort: among('sort', COLUMNS.map((column) => column.key)),
    size: among('size', ['shown', 'full']),
    theme: among('theme', ['light', 'dark']),
    decision: among('decision', data.decisions),
    priority: among('priority', data.priorities),
    cover: among('cover', COVER),
    group: among('group', data.categories),
    text: said.get('text') ?? '',
    metadata: said.get('metadata') === 'true',
  });
  state.dir = NUMERIC.has(state.sort) ? 'desc' : 'asc';
  if (['asc', 'desc'].includes(said.get('dir'))) state.dir = said.get('dir');
  if (/^\d+$/.test(said.get('budget') ?? '')) state.plan = nearest(Number(said.get('budget')));
  else if (said.get('budget') === 'none') state.plan = nearest(null);
}

function writeAddress() {
  const said = new URLSearchParams();
  if (state.plan !== START.plan) said.set('budget', plans[state.plan].budget ?? 'none');
  for (const key of ['sort', 'dir', 'size', 'theme', 'text', 'decision', 'group', 'priority', 'cover', 'metadata']) {
    if (state[key] !== START[key]) said.set(key, state[key]);
  }
  const text = said.toString();
  // Some browsers do not allow this for files; the page works without it.
  try { history.replaceState(null, '', text ? `#${text}` : location.pathname); } catch { /* as it was */ }
}

const drawTheMap = () => drawMap(plans[state.plan], state.size, pick);

function drawPlan() {
  const plan = plans[state.plan];
  drawHero(plan);
  drawFigures(plan);
  drawNotices(plan);
  drawReplay(state.plan);
  drawSums(plan);
  drawTheMap();
  drawList(state, plan);
}

function drawControls() {
  find('text').value = state.text;
  find('metadata').checked = state.metadata;
  find('decision').value = state.decision === '' ? '' : String(data.decisions.indexOf(state.decision));
  find('group').value = state.group === null ? '' : String(data.categories.indexOf(state.group));
  find('priority').value = state.priority === '' ? '' : String(data.priorities.indexOf(state.priority));
  find('cover').value = state.cover === '' ? '' : String(COVER.indexOf(state.cover));
  for (const button of document.querySelectorAll('[data-size]')) {
    button.setAttribute('aria-pressed', String(button.dataset.size === state.size));
  }
  if (state.theme) document.documentElement.dataset.theme = state.theme;
  else delete document.documentElement.dataset.theme;
  const theme = { '': 'Auto', light: 'Light', dark: 'Dark' }[state.theme];
  find('theme').textContent = `◐ ${theme}`;
  find('theme').setAttribute('aria-label', `Colours: ${theme}`);
}

function change(changes, draw) {
  Object.assign(state, changes);
  drawControls();
  draw();
  writeAddress();
}

const drawTheList = () => drawList(state, plans[state.plan]);
const filter = (changes) => change({ ...changes, rows: ROWS }, drawTheList);
const replay = (at) => change({ plan: at }, drawPlan);

/** Shows one block in the list. */
const only = (i) => filter({ text: `#${i}`, decision: '', group: null, priority: '', cover: '' });

/** Shows the clicked block, or the merged blocks, in the list. */
function pick(cell, part) {
  hideTip();
  if (cell.i === null) filter({ text: '', decision: cell.decision, group: part.name, priority: '', cover: '' });
  else only(cell.i);
  find('blocks').scrollIntoView();
  find('blocks').focus({ preventScroll: true });
}

function listen() {
  find('slider').addEventListener('input', (event) => replay(Number(event.target.value)));
  find('back').addEventListener('click', () => replay(data.current));
  find('theme').addEventListener('click', () => change({ theme: { '': 'light', light: 'dark', dark: '' }[state.theme] }, () => {}));
  find('more').addEventListener('click', () => { state.rows += ROWS * 5; drawTheList(); });
  find('metadata').addEventListener('change', (event) => filter({ metadata: event.target.checked }));
  find('text').addEventListener('input', (event) => filter({ text: event.target.value }));
  for (const [id, key, names, none] of [['decision', 'decision', data.decisions, ''], ['group', 'group', data.categories, null], ['priority', 'priority', data.priorities, ''], ['cover', 'cover', COVER, '']]) {
    find(id).addEventListener('change', (event) => filter({ [key]: event.target.value === '' ? none : names[Number(event.target.value)] }));
  }
  find('rows').addEventListener('click', (event) => {
    const to = event.target.closest('[data-to]');
    if (to) only(Number(to.dataset.to));
  });
  for (const button of document.querySelectorAll('[data-size]')) {
    button.addEventListener('click', () => change({ size: button.dataset.size }, drawTheMap));
  }
  window.addEventListener('hashchange', () => {
    // A link within the page, not a state.
    if (location.hash === '#blocks') return;
    readAddress();
    drawControls();
    drawPlan();
  });
  let width = find('map').clientWidth;
  new ResizeObserver(() => {
    if (find('map').clientWidth === width) return;
    width = find('map').clientWidth;
    drawTheMap();
    nameColumns();
  }).observe(find('map'));
}

drawChips();
drawChoice('decision', 'All', data.decisions);
drawChoice('group', 'All', data.categories);
drawChoice('priority', 'All', data.priorities);
drawChoice('cover', 'All', COVER);
drawDuplicates();
drawColumns((key, first) => filter(state.sort === key
  ? { dir: state.dir === 'asc' ? 'desc' : 'asc' }
  : { sort: key, dir: first }));
readAddress();
find('replay').hidden = plans.length < 2;
drawStrip(replay);
drawControls();
drawPlan();
listen();
document.documentElement.dataset.ready = 'true';
