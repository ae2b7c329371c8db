// The treemap: squarified areas, with a part for each category, a cell for each
// block that is large enough to see, and one hatched cell per decision for the
// others.

const CELL_AREA_MIN = 190;
const NAME_HEIGHT = 22;
const PARTS_MAX = 40;

/** Returns rectangles for values that are sorted, largest first, in the same order. */
function squarify(values, x, y, width, height) {
  const total = values.reduce((sum, value) => sum + value, 0);
  const areas = values.map((value) => (value * width * height) / total);
  const rects = [];
  let at = 0;
  while (at < areas.length) {
    const side = Math.min(width, height);
    let end = at;
    let sum = 0;
    let worst = Infinity;
    // A row takes areas while its worst aspect ratio improves.
    while (end < areas.length) {
      const grown = sum + areas[end];
      const next = Math.max(
        (side * side * areas[at]) / (grown * grown),
        (grown * grown) / (side * side * areas[end]),
      );
      if (next > worst) break;
      worst = next;
      sum = grown;
      end += 1;
    }
    const deep = side > 0 ? sum / side : 0;
    let along = 0;
    for (; at < end; at += 1) {
      const long = deep > 0 ? areas[at] / deep : 0;
      rects.push(
        width >= height
          ? { x, y: y + along, width: deep, height: long }
          : { x: x + along, y, width: long, height: deep },
      );
      along += long;
    }
    if (width >= height) {
      x += deep;
      width -= deep;
    } else {
      y += deep;
      height -= deep;
    }
  }
  return rects;
}

function place(element, rect) {
  element.style.left = `${rect.x.toFixed(2)}px`;
  element.style.top = `${rect.y.toFixed(2)}px`;
  element.style.width = `${Math.max(rect.width, 0).toFixed(2)}px`;
  element.style.height = `${Math.max(rect.height, 0).toFixed(2)}px`;
}

/** Returns the blocks that have a size, by category, the largest first. */
function parts(plan, size) {
  const found = new Map();
  for (let i = 0; i < count; i += 1) {
    const decision = decisionOf(plan, i);
    const tokens = size === 'full' && decision !== 'metadata' ? blocks.full[i] : plan.t[i];
    if (tokens === 0) continue;
    const name = categoryOf(i);
    const part = found.get(name) ?? { name, tokens: 0, cells: [] };
    part.tokens += tokens;
    part.cells.push({ i, decision, tokens, blocks: 1 });
    found.set(name, part);
  }
  if (plan.overhead > 0) {
    const cell = { i: null, decision: 'overhead', tokens: plan.overhead, blocks: 0 };
    found.set(null, { name: null, tokens: plan.overhead, cells: [cell] });
  }
  const all = [...found.values()].sort((a, b) => b.tokens - a.tokens);
  if (all.length <= PARTS_MAX) return all;
  const rest = all.splice(PARTS_MAX - 1);
  const cells = rest.flatMap((part) => part.cells);
  const tokens = cells.reduce((sum, cell) => sum + cell.tokens, 0);
  all.push({ name: null, title: `${digits(rest.length)} more`, tokens, cells });
  return all.sort((a, b) => b.tokens - a.tokens);
}

/** Merges the cells that are too small to see, by decision. */
function gather(cells, tokensMin) {
  const large = [];
  const rest = new Map();
  for (const cell of cells) {
    if (cell.tokens >= tokensMin) {
      large.push(cell);
      continue;
    }
    const sum = rest.get(cell.decision);
    if (sum) {
      sum.i = null;
      sum.tokens += cell.tokens;
      sum.blocks += 1;
    } else {
      rest.set(cell.decision, { ...cell });
    }
  }
  return [...large, ...rest.values()].sort((a, b) => b.tokens - a.tokens || (a.i ?? 0) - (b.i ?? 0));
}

const partName = (part) => part.title ?? (part.name === null ? 'Envelope' : title(part.name));

function cellName(cell) {
  if (cell.decision === 'overhead') return 'Envelope';
  if (cell.i === null) return `${digits(cell.blocks)} small`;
  const label = blocks.label[cell.i];
  // The last part of a path is the most useful one if there is little space.
  return label.slice(label.lastIndexOf('/') + 1) || label || typeOf(cell.i);
}

function drawMap(plan, size, pick) {
  const map = find('map');
  const all = parts(plan, size);
  const total = all.reduce((sum, part) => sum + part.tokens, 0);
  map.classList.toggle('bare', total === 0);
  const { width, height } = map.getBoundingClientRect();
  map.replaceChildren();
  const what = size === 'full' ? 'tokens in full' : 'tokens in the text';
  map.setAttribute(
    'aria-label',
    `Areas by ${what}: ${all.map((part) => `${partName(part)} ${percent(part.tokens, total)}`).join(', ') || 'none'}. The list of blocks has every figure.`,
  );
  if (total === 0 || width < 1) {
    map.append(make('p', 'none', 'The text is empty.'));
    return;
  }
  const areas = squarify(all.map((part) => part.tokens), 0, 0, width, height);
  all.forEach((part, at) => {
    const area = areas[at];
    const box = make('div', 'part');
    place(box, area);
    const named = partName(part) !== 'Envelope' && area.height > 48 && area.width > 56;
    const top = named ? NAME_HEIGHT : 0;
    if (named) {
      const name = make('div', 'name', own(partName(part)), ` · ${digits(part.tokens)}`);
      box.append(name);
    }
    const room = area.width * (area.height - top);
    const cells = gather(part.cells, (CELL_AREA_MIN * part.tokens) / Math.max(room, 1));
    const rects = squarify(cells.map((cell) => cell.tokens), 0, top, area.width, area.height - top);
    cells.forEach((cell, j) => box.append(drawCell(cell, rects[j], part, plan, pick)));
    map.append(box);
  });
}

function drawCell(cell, rect, part, plan, pick) {
  const element = decided('div', cell.i === null && cell.blocks > 0 ? 'cell rest' : 'cell', cell.decision);
  place(element, rect);
  if (rect.width > 46 && rect.height > 22) {
    element.append(own(cellName(cell), 'label'));
    if (rect.height > 40) element.append(make('span', '', digits(cell.tokens)));
  } else {
    element.style.padding = '0';
  }
  element.addEventListener('pointermove', (event) => showTip(event, tipOf(cell, part, plan)));
  element.addEventListener('pointerleave', hideTip);
  if (cell.decision !== 'overhead') element.addEventListener('click', () => pick(cell, part));
  return element;
}

function tipOf(cell, part, plan) {
  if (cell.decision === 'overhead') {
    return ['Envelope and roll-up line', `${plural(cell.tokens, 'token')} outside of all blocks`];
  }
  if (cell.i === null) {
    return [`${plural(cell.blocks, 'block')} too small to draw`, `${title(cell.decision)} · ${plural(cell.tokens, 'token')}`, partName(part)];
  }
  const lines = [blocks.label[cell.i] || typeOf(cell.i), `${title(cell.decision)} · ${digits(plan.t[cell.i])} of ${plural(blocks.full[cell.i], 'token')}`];
  lines.push(data.sentences[reasonOf(plan, cell.i)]);
  if (covers.has(cell.i)) lines.push(`It covers ${plural(covers.get(cell.i).length, 'block')}.`);
  return lines;
}

function showTip(event, lines) {
  const tip = find('tip');
  tip.replaceChildren(...lines.map((line, at) => make(at === 0 ? 'b' : 'div', '', own(line))));
  tip.hidden = false;
  const { width, height } = tip.getBoundingClientRect();
  const left = Math.min(event.clientX + 14, window.innerWidth - width - 8);
  const below = event.clientY + 18;
  tip.style.left = `${Math.max(left, 8)}px`;
  tip.style.top = `${below + height > window.innerHeight ? event.clientY - height - 10 : below}px`;
}

function hideTip() {
  find('tip').hidden = true;
}
