// Everything on the page is drawn from the record: climbs → steps.
const KINDS = ['measured', 'modelled'];
const time = (us) => (us < 10 ? `${us.toFixed(2)} µs` : us < 1000 ? `${us.toFixed(1)} µs` : `${(us / 1000).toFixed(2)} ms`);
const rate = (r) => (r < 100 ? r.toFixed(1) : count(r));
// Small numbers keep a digit that tells them apart.
const times = (f) => (f < 0.095 ? f.toPrecision(1) : f.toFixed(2));
const share = (f) => `${f < 0.00995 ? (100 * f).toPrecision(1) : (100 * f).toFixed(0)} %`;
const halfWidth = (t) => (t.high_us - t.low_us) / 2 / t.us;
const plusMinus = (t) => `± ${(100 * halfWidth(t)).toFixed(halfWidth(t) < 0.0995 ? 1 : 0)} %`;
const timed = (c) => c.steps.some((step) => step.measured || step.modelled);
const best = (c) => c.steps.filter((step) => !step.rival && primary(step)).reduce((a, b) => (!a || primary(b).us < primary(a).us ? b : a), undefined);
// A measured time says more than a modelled one; without either, instructions are counted.
const primary = (step) => step.measured ?? step.modelled;
const readings = (c, step) => (timed(c) ? KINDS.filter((kind) => step[kind]).map((kind) => ({kind, ...step[kind]}))
  : step.warp_instructions ? [{kind: 'counted', us: step.warp_instructions}] : []);
const valueText = (r) => (r.kind === 'counted' ? count(r.us) : mode === 'speed' ? rate(r.rate) : time(r.us));
const caseText = (c) => [c.shape, c.dtype, c.settings].filter(Boolean).join(' ');
const slug = (c, i) => `${c.operator}-${caseText(c)}-${i}`.replace(/[^\w.-]+/g, '-');

let mode = 'time';  // what bars show: time, or speed

// --- numbers on demand

// [name, one value for each kind of time that the step has]
function numbersOf(c, step) {
  const kinds = KINDS.filter((kind) => step[kind]), row = (name, get) => [name, ...kinds.map((kind) => get(step[kind], kind) || '')];
  const rows = kinds.length ? [row('', (t, kind) => kind), row('time', (t) => time(t.us)), row('from', (t) => time(t.low_us)), row('to', (t) => time(t.high_us)), row(c.unit, (t) => rate(t.rate)),
    row('of roof', (t) => t.of_roof && share(t.of_roof)), row('× before', (t) => t.before && times(t.before)),
    row(`× ${c.rival}`, (t) => t.times_rival && times(t.times_rival)), row('samples', (t) => t.samples && count(t.samples))] : [];
  if (kinds.length > 1) rows.push(['error of the model', '', errorText(step)]);
  if (step.warp_instructions) rows.push(['warp instructions', ...kinds.slice(1).map(() => ''), count(step.warp_instructions)]);
  return rows.filter((one) => one.slice(1).some(Boolean));
}
const errorText = (step) => { const e = Math.round(100 * (step.modelled.us / step.measured.us - 1)); return `${e < 0 ? '−' : e > 0 ? '+' : ''}${Math.abs(e)} %`; };
const boundText = (step) => (!step.bound ? '' : step.why ? `by ${step.bound}: ${step.why}` : `bound by ${step.bound}`);

function showTip(c, step, at) {
  fill('tip', h('b', {}, step.name), step.idea && h('p', {}, step.idea), step.problem && h('p', {class: 'problem'}, step.problem),
    h('table', {}, ...numbersOf(c, step).map(([name, ...values]) => h('tr', {}, h('th', {}, name), ...values.map((value) => h('td', {}, value))))),
    boundText(step) && h('p', {}, boundText(step)));
  const tip = $('tip');
  tip.hidden = false;
  const box = at.getBoundingClientRect(), own = tip.getBoundingClientRect();
  const below = box.bottom + 6 + own.height < innerHeight;
  tip.style.left = `${Math.max(8, Math.min(box.left + box.width / 2 - own.width / 2, innerWidth - own.width - 8))}px`;
  tip.style.top = `${Math.max(8, below ? box.bottom + 6 : box.top - own.height - 6)}px`;
}
function mark(section, index) {
  for (const one of section.querySelectorAll('.on')) one.classList.remove('on');
  if (index !== undefined) for (const one of section.querySelectorAll(`[data-step="${index}"]`)) one.classList.add('on');
}
function hideTip() { $('tip').hidden = true; }

// The numbers of a step appear where the pointer, a finger or the keyboard is; its marks light up everywhere.
function listen(section, c) {
  const over = (e) => {
    const at = e.target.closest('[data-step]');
    mark(section, at?.dataset.step);
    if (at && !at.matches('tbody')) showTip(c, c.steps[at.dataset.step], at);
    else hideTip();
  };
  section.addEventListener('pointerover', over);
  section.addEventListener('click', over);
  section.addEventListener('focusin', over);
  section.addEventListener('pointerleave', () => { mark(section); hideTip(); });
  section.addEventListener('focusout', () => { mark(section); hideTip(); });
  section.addEventListener('keydown', (e) => {
    if (e.key === 'Escape') hideTip();
    const by = {ArrowDown: 1, ArrowUp: -1}[e.key], rungs = [...section.querySelectorAll('.rung')], at = rungs.indexOf(e.target);
    if (!by || at < 0 || !rungs[at + by]) return;
    e.preventDefault();
    rungs[at + by].focus();
  });
}

// --- the ladder

// Where a value lies between 0 and 1, and the ticks of the axis. Times that differ a lot need a logarithmic axis.
function scaleOf(c, mode) {
  const all = c.steps.flatMap((step) => readings(c, step));
  if (!all.length) return {of: () => 0, ticks: []};
  const marks = [c.roof.floor_us, rivalTime(c)].filter(Boolean);
  const values = [...all.flatMap((r) => [r.us, r.high_us ?? r.us]), ...marks];
  const least = Math.min(...all.map((r) => r.low_us ?? r.us), ...marks), most = Math.max(...values) * 1.02;
  if (mode === 'speed') {  // the least time is the highest speed
    const perTime = (us) => rateAt(c, us), top = perTime(least) * 1.02;
    return {of: (us) => perTime(us) / top, ticks: linearTicks(top).map((v) => [v / top, `${count(v)}`]), name: c.unit, grows: false};
  }
  const unit = timed(c) ? (v) => (v >= 1000 ? `${+(v / 1000).toPrecision(3)} ms` : `${+v.toPrecision(3)} µs`) : count;
  if (most / least <= 40) return {of: (us) => us / most, ticks: linearTicks(most).map((v) => [v / most, v ? unit(v) : '0']), name: 'time', grows: true};
  const from = Math.log10(least) - 0.35, to = Math.log10(most), of = (us) => (Math.log10(us) - from) / (to - from), ticks = [];
  for (let e = Math.ceil(from); e <= to; ++e) ticks.push([of(10 ** e), unit(10 ** e)]);
  return {of, ticks, name: 'time', log: true, grows: true};
}
function linearTicks(most) {
  const rough = most / 4, ten = 10 ** Math.floor(Math.log10(rough)), step = [1, 2, 5, 10].find((m) => m * ten >= rough) * ten;
  return Array.from({length: Math.floor(most / step) + 1}, (_, i) => i * step);
}
const rival = (c) => c.steps.find((step) => step.rival && step.name === c.rival)?.measured;
const rivalTime = (c) => rival(c)?.us;

function barOf(r, scale) {
  const at = (us) => `${100 * Math.max(0, Math.min(1, scale.of(us)))}%`;
  const ends = r.low_us === undefined ? [] : [scale.of(r.low_us), scale.of(r.high_us)].sort((a, b) => a - b);
  const wide = ends.length && 100 * (ends[1] - ends[0]) > 0.4;
  return h('div', {class: `bar ${r.kind}`}, h('b', {style: `width:${at(r.us)}`}),
    wide ? h('i', {style: `left:${100 * ends[0]}%;width:${100 * (ends[1] - ends[0])}%`}) : null);
}

function rungRow(c, step, index, scale) {
  const all = readings(c, step), label = [step.name, ...numbersOf(c, step).map((row) => row.filter(Boolean).join(' ')), boundText(step), step.problem].filter(Boolean).join(', ');
  const ofRoof = primary(step)?.of_roof;
  return h('div', {class: `rung${step.rival ? ' rival' : ''}${all.length > 1 ? ' two' : ''}`, role: 'listitem', tabindex: 0, 'data-step': index, 'aria-label': label},
    h('span', {class: 'name'}, step.name),
    h('div', {class: 'track'}, ...(all.length ? all.map((r) => barOf(r, scale)) : [h('span', {class: step.result === 'not here' ? 'problem soft' : 'problem'}, step.result || step.problem)])),
    h('span', {class: 'value'}, all.length ? valueText(all[0]) : '',
      all.length > 1 ? h('small', {}, valueText(all[1])) : ofRoof ? h('small', {}, share(ofRoof)) : null));
}

function plot(c) {
  const scale = scaleOf(c, timed(c) ? mode : 'time'), under = h('div', {class: 'under', 'aria-hidden': 'true'});
  let last = -1;
  for (const [at, text] of scale.ticks) {
    under.append(h('i', {class: 'grid', style: `left:${100 * at}%`}));
    if (at - last < 0.13 || at > 1) continue;  // there is no room for the text
    under.append(h('span', {class: at < 0.04 ? 'first' : at > 0.93 ? 'last' : '', style: `left:${100 * at}%`}, text));
    last = at;
  }
  if (c.roof.floor_us && timed(c)) {
    const at = 100 * scale.of(c.roof.floor_us);
    under.append(h('i', {class: scale.grows ? 'roof' : 'roof beyond', style: `width:${scale.grows ? at : 100 - at}%`}));
  }
  if (rivalTime(c)) under.append(h('i', {class: 'rival', style: `left:${100 * scale.of(rivalTime(c))}%`}));
  const names = Math.min(26, Math.max(...c.steps.map((step) => step.name.length)));
  return h('div', {class: 'plot', role: 'list', style: `--names:${names * 7.6}px`}, under, ...c.steps.map((step, i) => rungRow(c, step, i, scale)));
}

// In the unit of the climb.
function rateAt(c, us) {
  const any = c.steps.map(primary).find(Boolean);
  return any.rate * any.us / us;
}

function legend(c) {
  const list = h('ul', {class: 'legend'}), has = (kind) => c.steps.some((step) => step[kind]);
  if (has('measured')) list.append(h('li', {class: 'kind measured'}, 'measured'));
  if (has('modelled')) list.append(h('li', {class: 'kind modelled'}, 'modelled, with its band'));
  if (!timed(c)) list.append(h('li', {class: 'kind counted'}, 'warp instructions, which are no time'));
  if (timed(c) && c.roof.floor_us) list.append(h('li', {class: 'line roof'}, mode === 'speed' ? `the roof, ${rate(rateAt(c, c.roof.floor_us))} ${c.unit}` : `the roof${c.roof.by && c.roof.by !== 'memory' ? ` (${c.roof.by})` : ''}: not under ${time(c.roof.floor_us)}`));
  if (rivalTime(c)) list.append(h('li', {class: 'line rival'}, `${c.rival}, ${mode === 'speed' ? `${rate(rival(c).rate)} ${c.unit}` : time(rivalTime(c))}`));
  if (timed(c) && mode === 'time' && scaleOf(c, mode).log) list.append(h('li', {}, 'logarithmic axis'));
  return list;
}

function bars(c) {
  const panel = h('section', {class: 'panel bars', 'aria-label': 'the ladder'});
  const draw = () => {
    const buttons = ['time', 'speed'].map((one) => h('button', {'aria-pressed': one === mode, 'data-mode': one, onclick: () => { mode = one; drawAll(); }}, one));
    panel.replaceChildren(h('div', {class: 'panel-head'}, h('h3', {}, timed(c) && c.roof.floor_us ? 'The ladder against the roof' : 'The ladder'), timed(c) ? h('span', {class: 'switch', role: 'group', 'aria-label': 'what bars show'}, ...buttons) : ''),
      legend(c), plot(c));
  };
  drawings.push(draw);
  draw();
  return panel;
}
const drawings = [];
function drawAll() {
  const at = document.activeElement?.closest('.climb')?.id;
  for (const draw of drawings) draw();
  if (at) $(at).querySelector(`[data-mode=${mode}]`)?.focus();  // the button was drawn anew
}

// --- the roofline

function siBytes(n) {
  const step = Math.max(0, Math.min(4, Math.floor(Math.log10(n) / 3)));
  return `${+(n / 1000 ** step).toPrecision(3)} ${['B', 'kB', 'MB', 'GB', 'TB'][step]}`;
}

// Operations per byte where the case has operations, else the bytes themselves, under a flat roof.
function roofline(c) {
  const byBytes = c.unit === 'GB/s', xOf = (one) => (c.flops ? one.flops / one.bytes : one.bytes), x0 = xOf(c);
  if (!timed(c) || !(x0 > 0)) return null;
  const scaleUnit = c.unit.startsWith('T') ? 1e12 : 1e9, opUnit = byBytes ? 'GB/s' : c.unit;
  const roofs = {bytes: c.roof.bytes_per_second, peak: c.roof.ops_per_second};
  const roofAt = (x) => {  // in the unit of the axis
    if (!c.flops) return roofs.bytes / 1e9;
    const ops = Math.min(roofs.bytes > 0 ? roofs.bytes * x : Infinity, roofs.peak > 0 ? roofs.peak : Infinity);
    return byBytes ? ops / x / 1e9 : ops / scaleUnit;
  };
  const others = record.climbs.filter((one) => one !== c && one.operator === c.operator && one.dtype === c.dtype && one.unit === c.unit && best(one) && xOf(one) > 0);
  const panel = h('section', {class: 'panel roofline', 'aria-label': 'roofline'}, h('div', {class: 'panel-head'}, h('h3', {}, 'Roofline')));
  const holder = h('div');
  panel.append(holder);
  const draw = () => holder.replaceChildren(rooflinePicture(c, {x0, xOf, roofAt, others, opUnit, ridge: c.flops && roofs.peak > 0 && roofs.bytes > 0 ? roofs.peak / roofs.bytes : 0}, Math.max(280, Math.min(560, holder.clientWidth || 420))));
  new ResizeObserver(() => { if (holder.clientWidth !== holder.drawn) { holder.drawn = holder.clientWidth; draw(); } }).observe(holder);
  draw();
  const unknown = !(roofs.bytes > 0) ? ' The record has no roofs.' : c.flops && !roofs.peak ? ' The record does not have the peak of the card’s units: the roof is that of its memory.' : '';
  panel.append(h('p', {class: 'hint'}, c.flops
    ? `The case takes ${+x0.toPrecision(3)} operations per byte at least, so all its rungs stand above one another.`
    : `The case moves ${siBytes(x0)} and counts no operations, so its roof is flat: what memory moves.`,
    unknown, others.length ? ' Circles: the fastest rung at other sizes.' : ''));
  return panel;
}

function rooflinePicture(c, {x0, xOf, roofAt, others, opUnit, ridge}, W) {
  const H = Math.round(Math.max(250, Math.min(420, Math.max(W * 0.6, 32 * c.steps.length)))), left = 54, right = 10, top = 22, bottom = 40;
  const xs = [x0, ...others.map(xOf), ...(ridge ? [ridge] : [])];
  const xr = [Math.log10(Math.min(...xs)) - 0.7, Math.log10(Math.max(...xs)) + (ridge ? 0.7 : 1.6)];
  const points = c.steps.flatMap((step, index) => KINDS.filter((kind) => step[kind]).map((kind) => ({step, index, kind, ...step[kind]})));
  const roof = roofAt(x0), rates = [...points.flatMap((p) => [p.low_us, p.high_us].map((us) => p.rate * p.us / us)), ...others.map((one) => primary(best(one)).rate)];
  const known = roof > 0 && isFinite(roof), highest = Math.max(...rates);
  // A roof that is far above everything is left out of the picture.
  const roofs = known ? [roof, roofAt(ridge || x0)].filter((v) => v < 10 * highest) : [];
  const yr = [Math.log10(Math.min(...rates)) - 0.2, Math.log10(Math.max(highest, ...roofs)) + 0.2];
  const x = (v) => left + (W - left - right) * (Math.log10(v) - xr[0]) / (xr[1] - xr[0]);
  const y = (v) => H - bottom - (H - bottom - top) * (Math.log10(v) - yr[0]) / (yr[1] - yr[0]);
  const svg = s('svg', {viewBox: `0 0 ${W} ${H}`, style: `max-width:${W}px`, role: 'img', 'aria-label': `roofline: ${points.map((p) => `${p.step.name} ${p.kind} ${rate(p.rate)} ${c.unit}`).join(', ')}`});
  const decades = (range) => Array.from({length: Math.floor(range[1]) - Math.ceil(range[0]) + 1}, (_, i) => Math.ceil(range[0]) + i);
  const plain = (e) => (e < 0 ? (10 ** e).toFixed(-e) : count(10 ** e));
  const xText = (e) => (c.flops ? plain(e) : siBytes(10 ** e));
  const each = Math.ceil(decades(xr).length * 52 / (W - left - right));
  decades(xr).forEach((e, i) => {
    svg.append(s('line', {class: 'axis', x1: x(10 ** e), x2: x(10 ** e), y1: top, y2: H - bottom}));
    if (i % each === 0) svg.append(s('text', {x: x(10 ** e), y: H - bottom + 14, 'text-anchor': 'middle'}, xText(e)));
  });
  const ticks = decades(yr).length > 1 ? decades(yr).map((e) => 10 ** e) : [1, 2, 5, 10, 20, 50].map((m) => m * 10 ** Math.floor(yr[0])).filter((v) => Math.log10(v) >= yr[0] && Math.log10(v) <= yr[1]);
  for (const v of ticks) {
    svg.append(s('line', {class: 'axis', x1: left, x2: W - right, y1: y(v), y2: y(v)}));
    svg.append(s('text', {x: left - 5, y: y(v) + 4, 'text-anchor': 'end'}, v < 1 ? `${+v.toPrecision(1)}` : count(v)));
  }
  svg.append(s('text', {class: 'axis-name', x: (left + W - right) / 2, y: H - 6, 'text-anchor': 'middle'}, c.flops ? `${c.unit === 'GOP/s' ? 'operations' : 'floating-point operations'} per byte` : 'bytes moved'));
  svg.append(s('text', {class: 'axis-name', x: left, y: top - 9, 'text-anchor': 'middle'}, opUnit));
  if (roofs.length) {
    // The axes are logarithmic, so the roof is made of straight lines; where it leaves the picture it is cut off.
    const turn = ridge ? [ridge] : [], along = [10 ** xr[0], ...turn, 10 ** xr[1]].map((v) => `${x(v).toFixed(1)},${y(roofAt(v)).toFixed(1)}`);
    const inside = s('svg', {x: left, y: top, width: W - left - right, height: H - top - bottom, viewBox: `${left} ${top} ${W - left - right} ${H - top - bottom}`});
    inside.append(s('path', {class: 'roof-area', d: `M${along.join('L')}L${W - right},${top - 9999}L${left},${top - 9999}Z`}));
    inside.append(s('path', {class: 'roof-line', d: `M${along.join('L')}`}));
    svg.append(inside);
  }
  for (const one of others) svg.append(s('circle', {class: 'other', cx: x(xOf(one)), cy: y(primary(best(one)).rate), r: 3.5}));
  drawPoints(svg, c, points, x(x0), y, {left, right: W - right, top: roofs.length && roof < 10 ** yr[1] ? y(roof) + 11 : top + 6, bottom: H - bottom});
  return svg;
}

// Modelled points stand a little to the right of measured ones, so that both are seen; names stand apart from each other.
function drawPoints(svg, c, points, x, y, room) {
  const both = KINDS.every((kind) => points.some((p) => p.kind === kind));
  const at = (p) => x + (both ? (p.kind === 'measured' ? -6 : 6) : 0);
  const climbed = points.filter((p) => !p.step.rival && p.kind === (points.some((q) => q.kind === 'measured') ? 'measured' : 'modelled'));
  svg.append(s('path', {class: 'path', d: climbed.map((p, i) => `${i ? 'L' : 'M'}${at(p)},${y(p.rate)}`).join('')}));
  const step = 13, named = c.steps.map((one, index) => ({one, index, y: primary(one) && y(primary(one).rate)})).filter((n) => n.y !== undefined).sort((a, b) => a.y - b.y);
  named.forEach((n, i) => { n.place = Math.max(n.y, i ? named[i - 1].place + step : room.top); });
  for (let i = named.length - 1, limit = room.bottom - 3; i >= 0; --i) { named[i].place = Math.min(named[i].place, limit); limit = named[i].place - step; }
  const toRight = room.right - x > 150 || x - room.left < room.right - x;
  for (const n of named) {
    const from = x + (toRight ? 12 : -12), to = x + (toRight ? 26 : -26);
    svg.append(s('path', {class: 'leader', d: `M${from},${n.y}L${to},${n.place}`}));
    svg.append(s('text', {class: `label${n.one.rival ? ' rival' : ''}`, 'data-step': n.index, x: to + (toRight ? 3 : -3), y: n.place + 4, 'text-anchor': toRight ? 'start' : 'end'}, n.one.name));
  }
  for (const p of points) {
    const group = s('g', {'data-step': p.index});
    const cx = at(p), cy = y(p.rate);
    if (p.kind === 'modelled') {
      const ends = [p.high_us, p.low_us].map((us) => y(p.rate * p.us / us));
      group.append(s('path', {class: 'whisker', d: `M${cx},${ends[0]}V${ends[1]}M${cx - 3},${ends[0]}h6M${cx - 3},${ends[1]}h6`}));
      group.append(s('path', {class: 'point modelled', d: `M${cx},${cy - 5}l5,5l-5,5l-5,-5Z`}));
    } else if (p.step.rival) group.append(s('rect', {class: 'point rival', x: cx - 4.5, y: cy - 4.5, width: 9, height: 9}));
    else group.append(s('circle', {class: 'point measured', cx, cy, r: 5}));
    svg.append(group);
  }
}

// --- the numbers

function columnsOf(c) {
  const any = (get) => c.steps.some((step) => get(step) !== undefined && get(step) !== '');
  const n = (head, get) => ({head, get, number: true});
  return [
    {head: 'rung', get: (step) => step.name, class: 'rung-name'},
    {head: 'result', get: (step) => (step.rival && !step.problem ? '' : step.result), result: true},
    n('measured', (step) => step.measured && `${time(step.measured.us)}${step.by_graph ? '*' : ''}`),
    n('±', (step) => step.measured && `${(100 * halfWidth(step.measured)).toFixed(1)} %`),
    n('modelled', (step) => step.modelled && `${time(step.modelled.us)}${step.by_graph ? '*' : ''}`),
    n('band', (step) => step.modelled && plusMinus(step.modelled)),
    n('error', (step) => (step.measured && step.modelled ? errorText(step) : undefined)),
    n(c.unit, (step) => primary(step) && rate(primary(step).rate)),
    n('of roof', (step) => primary(step)?.of_roof && share(primary(step).of_roof)),
    n('× before', (step) => primary(step)?.before && times(primary(step).before)),
    n(`× ${c.rival}`, (step) => step.measured?.times_rival && times(step.measured.times_rival)),
    {...n('warp instructions', (step) => (timed(c) ? undefined : step.warp_instructions && count(step.warp_instructions))), short: 'instr.'},
    {head: 'bound by', get: (step) => step.bound, small: (step) => step.why, class: 'words'},
    {head: 'the idea', get: (step) => step.idea, small: (step) => step.problem, class: 'words'},
  ].filter((column) => any(column.get) || (column.small && any(column.small)));
}

// Where the screen is too narrow for columns of text, they stand below the numbers.
function wordsRow(step) {
  const texts = [step.problem, step.idea, boundText(step)].filter(Boolean);
  return texts.length ? h('tr', {class: 'below'}, h('td', {colspan: 99}, ...texts.map((text) => h('span', {}, text)))) : '';
}

function numbers(c) {
  const columns = columnsOf(c);
  const cell = (column, step) => {
    const value = column.get(step), classes = [column.class, column.number && 'n', column.result && value && ({right: 'right', 'not here': 'soft'}[value] ?? 'bad')].filter(Boolean).join(' ');
    const small = column.small?.(step);
    if (!value && !small) return h('td', {class: classes || undefined});
    return h('td', {class: classes || undefined, 'data-label': column.short ?? column.head}, small ? h('span', {}, value ?? '', h('small', {}, small)) : value);
  };
  const graph = c.steps.some((step) => step.by_graph);
  return h('section', {class: 'panel numbers'}, h('table', {class: 'steps'}, h('caption', {}, 'All numbers'),
    h('thead', {}, h('tr', {}, ...columns.map((column) => h('th', {scope: 'col', class: column.number ? 'n' : column.class}, column.head)))),
    ...c.steps.map((step, i) => h('tbody', {class: step.rival ? 'rival' : undefined, 'data-step': i},
      h('tr', {}, ...columns.map((column) => cell(column, step))), wordsRow(step)))),
    graph ? h('p', {class: 'hint'}, '* too short for events: one of 32 launches in a graph') : null);
}

// --- all of it

function verdict(c) {
  const rungs = c.steps.filter((step) => !step.rival), first = rungs.find(primary), top = best(c), parts = [];
  if (top) {
    const ofRoof = primary(top).of_roof;
    parts.push(first === top ? `${top.name}: ${time(primary(top).us)}` : `${time(primary(first).us)} → ${time(primary(top).us)} with ${top.name}: × ${times(primary(first).us / primary(top).us)}`);
    if (ofRoof) parts.push(`${share(ofRoof)} of the roof`);
    if (top.measured?.times_rival) parts.push(`× ${times(top.measured.times_rival)} of ${c.rival}`);
  }
  if (c.origin && mixed) parts.push(c.origin);
  if (c.verified_at) parts.push(`verified at ${c.verified_at}`);
  return parts.join('; ');
}

function climbSection(c, i) {
  const section = h('section', {class: 'climb', id: slug(c, i)},
    record.climbs.length > 1 ? h('h2', {}, c.operator, ' ', h('code', {}, caseText(c))) : null, h('p', {class: 'verdict hint'}, verdict(c)),
    h('div', {class: 'cards'}, bars(c), roofline(c) ?? ''), numbers(c));
  listen(section, c);
  return section;
}

// One link for each climb; where there are many, one for each operator.
function chips() {
  const perOperator = record.climbs.length > 40;
  return record.climbs.map((c, i) => {
    const ofRoof = best(c) && primary(best(c)).of_roof, same = record.climbs.filter((one) => one.operator === c.operator);
    if (perOperator && same[0] !== c) return null;
    const words = perOperator ? [same.length > 1 ? `${same.length} climbs` : caseText(c)] : [caseText(c), ofRoof && share(ofRoof)];
    return h('a', {href: `#${slug(c, i)}`, style: `--share:${Math.min(1, ofRoof ?? 0)}`}, c.operator, h('small', {}, words.filter(Boolean).join(' · ')));
  }).filter(Boolean);
}

// Records of one card and one kind are one source, of several days perhaps.
function sources() {
  const all = new Map();
  for (const one of record.sources) {
    const key = `${one.kind} ${one.device} ${one.hot}`;
    if (!all.has(key)) all.set(key, {...one, dates: []});
    if (one.date) all.get(key).dates.push(one.date);
  }
  return [...all.values()];
}
function sourceLine(source) {
  const dates = [...new Set(source.dates)].sort(), words = [dates.length > 1 ? `${dates[0]} to ${dates.at(-1)}` : dates[0], source.hot && 'inputs in the L2'].filter(Boolean).join(', ');
  const widths = record.climbs.flatMap((c) => c.steps).filter((step) => step.modelled).map((step) => Math.round(100 * halfWidth(step.modelled)));
  const range = [...new Set([Math.min(...widths), Math.max(...widths)])].join(' – ');
  const text = source.kind === 'modelled' ? `modelled for ${source.device}, ± ${range} %${source.unchecked ? `, ${source.unchecked}` : ''}` : `measured on ${source.device}`;
  return h('li', {class: source.kind}, h('b', {}, text), words ? ` · ${words}` : '');
}
const known = sources();
// Said once at the top, unless climbs have different sources.
const mixed = new Set(known.map((source) => source.kind)).size < known.length;

const operators = [...new Set(record.climbs.map((c) => c.operator))];
const title = record.climbs.length === 1 ? `${operators[0]} ${caseText(record.climbs[0])}` : operators.length === 1 ? `${operators[0]}: ${record.climbs.length} climbs` : `${record.climbs.length} climbs of ${operators.length} operators`;
document.title = `ridge climb: ${title}`;
$('origin').textContent = `ridge climb · ridge ${record.ridge}`;
$('title').textContent = title;
fill('sources', ...known.map(sourceLine));
if (record.sources.some((source) => source.kind === 'modelled')) $('about-model').textContent = 'Modelled times come from counters of the software GPU and a model of the card; the band says how far off they may be.';
if (record.climbs.length > 1) {
  const shown = matchMedia('(max-width: 600px)').matches ? 8 : 60, all = chips();
  fill('index', ...all.slice(0, shown));
  if (all.length > shown) {
    const more = h('button', {class: 'more', onclick: () => more.replaceWith(...all.slice(shown))}, `${all.length - shown} more`);
    $('index').append(more);
  }
} else $('index').hidden = true;
$('climbs').classList.toggle('many', record.climbs.length > 20);
fill('climbs', ...record.climbs.map(climbSection));
addEventListener('scroll', hideTip, {passive: true});
if (location.hash) document.getElementById(decodeURIComponent(location.hash.slice(1)))?.scrollIntoView();
