// Everything on the page is drawn from the record: kernels → lines → instructions.
const us = (t) => (t < 1000 ? `${t.toFixed(1)} µs` : `${(t / 1000).toFixed(2)} ms`);
const SECTOR = 32, LINE = 128, BANKS = 32;
const laneColor = (lane) => `hsl(${(lane * 137.5) % 360} var(--lane-s) var(--lane-l))`;
const allModelled = record.kernels.every((k) => k.modelled_us);
const cost = (kernel) => (allModelled ? kernel.modelled_us * kernel.launches : kernel.time_cycles ?? 0);
const lanesOf = (mask) => [...Array(32).keys()].filter((lane) => (parseInt(mask, 16) >>> lane) & 1);
const size = (d) => (d[2] > 1 ? d.join('×') : d[1] > 1 ? `${d[0]}×${d[1]}` : `${d[0]}`);
const blocks = (d) => d[0] * d[1] * d[2];

// --- the kernel

const fact = (value, label, bad) => h('div', {class: bad ? 'fact bad' : 'fact'}, h('b', {}, value), h('span', {}, label));

function facts(k) {
  const c = k.counters, r = k.resources, list = [];
  list.push(fact(size(k.grid), `block${blocks(k.grid) === 1 ? '' : 's'} of ${size(k.block)} thread${blocks(k.block) === 1 ? '' : 's'}${k.launches > 1 ? `, ${count(k.launches)} launches` : ''}`));
  if (k.modelled_us) list.push(fact(us(k.modelled_us), k.modelled.replace(/: .*?\(/, ', not measured ('), false));
  list.push(fact(count(c.warps), 'warp instructions (PTX)'));
  const lanes = c.warps ? c.threads / c.warps : 0;
  list.push(fact(lanes.toFixed(1), 'of 32 lanes active', lanes < 28));
  if (c.branches) list.push(fact(count(c.divergent ?? 0), `of ${count(c.branches)} branches divergent`, (c.divergent ?? 0) > c.branches / 10));
  if (c.sectors) {
    const used = (c.bytes_used ?? 0) / (SECTOR * c.sectors);
    list.push(fact(percent(used), `of ${count(c.sectors)} sectors’ bytes used`, used < 0.5));
  }
  if (c.wavefronts) {
    const conflicts = c.conflicts ?? 0;
    list.push(fact(count(conflicts), `bank conflicts in ${count(c.wavefronts)} wavefronts`, conflicts > c.wavefronts / 10));
  }
  if (c.tensor_ops) list.push(fact(count(c.tensor_ops), 'operations of the tensor cores'));
  list.push(fact(percent(k.occupancy.fraction), `occupancy, limited by ${k.occupancy.limiter}`, k.occupancy.fraction < 0.5));
  list.push(fact(`${r.registers}`, r.from === 'ptxas' ? 'registers per thread (ptxas)' : 'registers per thread (an estimate)'));
  if (r.static_shared + r.dynamic_shared) list.push(fact(bytes(r.static_shared + r.dynamic_shared), 'shared memory per block'));
  if (r.spill_store_bytes + r.spill_load_bytes) list.push(fact(bytes(r.spill_store_bytes + r.spill_load_bytes), 'spilled', true));
  fill('facts', ...list);
}

function mix(k) {
  const units = Object.entries(k.units ?? {}).sort((a, b) => b[1] - a[1]), total = sum(units.map((u) => u[1])) || 1;
  const bar = h('div', {class: 'mix'}), names = h('p', {class: 'hint'});
  units.forEach(([name, warps], i) => {
    const color = `hsl(${215 + i * 47} 55% var(--lane-l))`;
    bar.append(h('div', {style: `width:${100 * warps / total}%;background:${color}`, title: `${name}: ${count(warps)}`}));
    if (warps / total >= 0.01) names.append(h('span', {class: 'key', style: `--key:${color}`}, `${name} ${percent(warps / total)}`));
  });
  return h('div', {}, bar, names);
}

function parts(k) {
  const entries = Object.entries(k.cycles ?? {}).sort((a, b) => b[1] - a[1]);
  const most = entries.length ? entries[0][1] : 1;
  fill('parts', ...entries.map(([name, cycles], i) => h('div', {class: i ? 'part' : 'part longest'},
    h('span', {}, name), h('div', {style: `width:${100 * cycles / most}%`}), h('span', {}, count(cycles)))),
    h('h3', {}, 'Instructions by unit'), mix(k));
}

// Two roofs: DRAM has to move every touched sector once, at least; the L2 moves what the SMs ask for. Each point stands
// on its own roof. What they mean stands below the picture, where it hides nothing.
function roofline(k) {
  const r = k.roofline, W = 460, H = 230, left = 52, bottom = 38, right = 14, top = 14;
  const points = [['dram', 'DRAM', r.dram_bytes, r.dram_bytes_per_second], ['l2', 'L2', r.l2_bytes, r.l2_bytes_per_second]]
    .filter(([, , moved]) => moved > 0).map(([kind, name, moved, rate]) => ({kind, name, moved, rate, each: r.flops / moved}));
  $('roofline-panel').hidden = !r.flops || !points.length;
  if ($('roofline-panel').hidden) return;
  const xs = [Math.log10(Math.min(0.1, ...points.map((p) => p.each / 3))), Math.log10(Math.max(300, ...points.map((p) => p.each * 3)))];
  const roof = (p, each) => Math.min(r.peak_flops, each * p.rate);
  const ys = [Math.log10(Math.min(...points.map((p) => roof(p, 10 ** xs[0])))), Math.log10(r.peak_flops * 2)];
  const x = (v) => left + (W - left - right) * (Math.log10(v) - xs[0]) / (xs[1] - xs[0]);
  const y = (v) => H - bottom - (H - bottom - top) * (Math.log10(v) - ys[0]) / (ys[1] - ys[0]);
  const svg = s('svg', {viewBox: `0 0 ${W} ${H}`, role: 'img', 'aria-label': 'roofline'});
  for (let e = Math.ceil(xs[0]); e <= xs[1]; ++e) {
    svg.append(s('line', {class: 'axis', x1: x(10 ** e), x2: x(10 ** e), y1: top, y2: H - bottom}));
    svg.append(s('text', {x: x(10 ** e), y: H - bottom + 14, 'text-anchor': 'middle'}, e >= 0 ? `${10 ** e}` : (10 ** e).toFixed(-e)));
  }
  for (let e = Math.ceil(ys[0]); e <= ys[1]; ++e) {
    svg.append(s('line', {class: 'axis', x1: left, x2: W - right, y1: y(10 ** e), y2: y(10 ** e)}));
    const [unit, scale] = e >= 12 ? ['TF', 12] : e >= 9 ? ['GF', 9] : ['MF', 6];
    svg.append(s('text', {x: left - 6, y: y(10 ** e) + 4, 'text-anchor': 'end'}, `${10 ** (e - scale)} ${unit}`));
  }
  svg.append(s('text', {x: (left + W) / 2, y: H - 4, 'text-anchor': 'middle'}, 'floating-point operations per byte'));
  for (const p of points) {
    const ridge = r.peak_flops / p.rate;
    svg.append(s('path', {class: `roof ${p.kind}-roof ${p.kind === 'l2' ? 'l2' : ''}`, d: `M${x(10 ** xs[0])},${y(roof(p, 10 ** xs[0]))}L${x(ridge)},${y(r.peak_flops)}L${x(10 ** xs[1])},${y(r.peak_flops)}`}));
  }
  for (const p of [...points].reverse()) {  // DRAM's is the smaller one, on top
    const point = s('circle', {class: p.kind, cx: x(p.each), cy: y(roof(p, p.each)), r: p.kind === 'dram' ? 5 : 8});
    point.append(s('title', {}, p.name));
    svg.append(point);
  }
  const rate = (f) => (f >= 1e12 ? `${(f / 1e12).toFixed(1)} TFLOP/s` : `${(f / 1e9).toFixed(0)} GFLOP/s`);
  const time = (seconds) => `${+(seconds * 1e6).toPrecision(2)} µs`;
  const least = Math.min(...points.map((p) => roof(p, p.each)));
  fill('roofline', svg,
    h('div', {}, ...points.map((p) => h('p', {class: 'hint'}, h('span', {class: `dot ${p.kind}`}, '● '),
      `${p.name}: ${bytes(p.moved)}, ${time(p.moved / p.rate)} at ${(p.rate / 1e12).toFixed(1)} TB/s; ${+p.each.toPrecision(3)} operations per byte allow ${rate(roof(p, p.each))}.`)),
    h('p', {class: 'hint'}, `${count(r.flops)} operations, at most ${rate(least)} (${r.format} peak ${(r.peak_flops / 1e12).toFixed(0)} TFLOP/s).`)));
}

function adviceCard(k, a, link = true) {
  return h('div', {class: 'advice'},
    h('p', {}, h('span', {class: 'kind'}, a.kind), ' ',
      link && a.line ? h('button', {onclick: () => choose(k, lineOf(k, a.file, a.line), true)}, `${a.file ? '' : 'PTX '}line ${a.line}`) : ''),
    h('p', {}, `${a.reason}.`), h('p', {class: 'fix'}, `${a.fix}.`),
    h('p', {class: 'moves'}, `${a.counter} ${count(a.now)} → ${count(a.then)}; saves about ${a.saves_us ? `${us(a.saves_us)}, ` : ''}${percent(a.saves)} of the kernel’s time`));
}

// --- the source

const lineOf = (k, file, line) => k.lines.find((l) => l.line === line && (l.file ?? '') === (file ?? ''));
const adviceOf = (k, l) => k.advice.filter((a) => a.line === l.line && (a.file ?? '') === (l.file ?? ''));
let rows = new Map();

const meaning = (name) => record.counters.find((one) => one.name === name)?.meaning;
// The counters beside the source: those that some line of the kernel has.
const kColumns = [
  {head: 'warp instr.', title: meaning('warps'), of: (c) => c.warps, wide: true},
  {head: 'lanes', title: 'Active lanes of a warp, on average.', of: (c) => (c.warps ? Math.round(c.threads / c.warps) : 0), wide: true},
  {head: 'sectors', title: meaning('sectors'), of: (c) => c.sectors, bad: (c) => (c.bytes_used ?? 0) < SECTOR * c.sectors / 2},
  {head: 'wavefronts', title: meaning('wavefronts'), of: (c) => c.wavefronts, bad: (c) => (c.conflicts ?? 0) > c.wavefronts / 10}];
let columns = kColumns;
const columnClass = (column, c) => ['counter', column.wide ? 'wide' : '', c && column.of(c) && column.bad?.(c) ? 'bad' : ''].join(' ').trim();

function row(k, number, text, l) {
  if (!l) return h('tr', {class: 'idle'}, h('td', {class: 'number'}, `${number}`), h('td'), ...columns.map((column) => h('td', {class: columnClass(column)})), h('td', {class: 'text'}, text));
  const c = l.counters, advised = adviceOf(k, l).length > 0;
  const tr = h('tr', {class: 'counted', tabindex: 0, onclick: () => choose(k, l), onkeydown: (e) => { if (e.key === 'Enter') choose(k, l); }},
    h('td', {class: 'number'}, `${number}`),
    h('td', {class: 'heat', style: `--share:${l.share}`}, l.share >= 0.005 ? percent(l.share) : ''),
    ...columns.map((column) => h('td', {class: columnClass(column, c)}, column.of(c) ? count(column.of(c)) : '')),
    h('td', {class: 'text'}, advised ? h('span', {class: 'dot'}, '● ') : '', text));
  rows.set(l, tr);
  return tr;
}

function source(k) {
  rows = new Map();
  columns = kColumns.filter((column) => k.lines.some((l) => column.of(l.counters)));
  const files = [...new Set(k.lines.map((l) => l.file ?? ''))];
  const weight = (f) => sum(k.lines.filter((l) => (l.file ?? '') === f).map((l) => l.share));
  files.sort((a, b) => weight(b) - weight(a));
  $('source-title').textContent = files[0] === '' ? 'PTX (build with -lineinfo for source lines)' : 'Source';
  const blocks = files.map((file) => {
    const counted = new Map(k.lines.filter((l) => (l.file ?? '') === file).map((l) => [l.line, l]));
    const text = file ? record.sources?.[file] ?? [] : k.ptx ? Object.assign([], Object.fromEntries(k.ptx.lines.map((t, i) => [k.ptx.first - 1 + i, t]))) : [];
    const numbers = [...counted.keys()].sort((a, b) => a - b);
    const body = h('tbody');
    const around = 4;
    let next = Math.max(1, numbers[0] - around);
    const last = Math.max(numbers[numbers.length - 1], Math.min(text.length, numbers[numbers.length - 1] + around));
    while (next <= last) {
      const upcoming = numbers.find((n) => n >= next) ?? last;
      if (upcoming - next > 2 * around + 2) {
        const from = next + around, to = upcoming - around - 1;
        for (; next < from; ++next) body.append(row(k, next, text[next - 1] ?? ''));
        const gap = h('tr', {class: 'gap'}, h('td', {colspan: columns.length + 3}, `… lines ${from} – ${to}`));
        gap.addEventListener('click', () => gap.replaceWith(...Array.from({length: to - from + 1}, (_, i) => row(k, from + i, text[from + i - 1] ?? ''))));
        body.append(gap);
        next = to + 1;
      }
      for (; next <= upcoming; ++next) body.append(row(k, next, text[next - 1] ?? counted.get(next)?.text ?? '', counted.get(next)));
      if (upcoming === last) for (; next <= last; ++next) body.append(row(k, next, text[next - 1] ?? ''));
    }
    const head = h('thead', {}, h('tr', {}, h('th'), h('th', {}, 'cost'), ...columns.map((column) => h('th', {class: columnClass(column), title: column.title}, column.head)), h('th')));
    return [file && h('div', {class: 'file', title: file}, file.split('/').slice(-2).join('/')), h('table', {class: 'lines'}, head, body)];
  });
  // In a long listing the costliest lines are far apart.
  const hottest = k.lines.filter((l) => l.share >= 0.05).slice(0, 5);
  const links = sum(blocks.map(([, table]) => table.rows.length)) > 40 && hottest.length
    ? h('div', {class: 'hottest'}, ...hottest.map((l) => h('button', {onclick: () => choose(k, l, true)}, `${percent(l.share)} line ${l.line} `, h('code', {}, (l.text ?? '').trim()))))
    : '';
  fill('source', links, ...blocks.flat());
}

// --- one line

// The first of a long list, and a button for the others.
function shortened(list, shown = 12, slack = 3) {
  if (list.length <= shown + slack) return list;
  const more = h('button', {class: 'more hint', onclick: () => more.replaceWith(...list.slice(shown))}, `${list.length - shown} more`);
  return [...list.slice(0, shown), more];
}

// Opens a line where it stands.
function choose(k, l, scroll) {
  if (!l) return;
  document.querySelector('tr.opened')?.remove();
  for (const tr of rows.values()) tr.classList.remove('chosen');
  const tr = rows.get(l);
  if (!tr) return;
  tr.classList.add('chosen');
  const detail = h('div', {id: 'detail', 'aria-live': 'polite'});
  tr.after(h('tr', {class: 'opened'}, h('td', {colspan: columns.length + 3}, detail)));
  if (scroll) tr.scrollIntoView({block: 'center'});
  const pictured = l.instructions.filter((i) => i.worst || i.split);
  const picture = h('div', {id: 'picture'});
  const buttons = new Map();
  const show = (i) => {
    for (const [one, b] of buttons) b.setAttribute('aria-pressed', one === i);
    picture.replaceChildren(...accessPicture(i));
  };
  const list = l.instructions.map((i) => {
    const note = i.split ? `${count(i.counters.divergent)} divergent` : i.worst ? `${i.reach} ${i.action}, ${count(i.counters.sectors || i.counters.wavefronts)} ${i.counters.sectors ? 'sectors' : 'wavefronts'}` : i.merged_into ? `merged into PTX line ${i.merged_into}` : count(i.counters.warps);
    const content = [`${i.ptx}`, h('em', {}, note)];
    if (!i.worst && !i.split) return h('span', {class: 'ptx'}, ...content);
    const button = h('button', {class: 'ptx', onclick: () => show(i)}, ...content);
    buttons.set(i, button);
    return button;
  });
  const c = l.counters;
  const words = h('div', {},
    h('p', {class: 'title'}, `${l.file ? 'Line' : 'PTX line'} ${l.line}`),
    h('p', {class: 'hint'}, `${percent(l.share)} of the kernel’s cost, ${c.warps ? (c.threads / c.warps).toFixed(1) : 0} of 32 lanes active${l.inside ? `; ${l.inside}` : ''}`),
    l.widths === 'model' && k.widths !== 'model' ? h('p', {class: 'hint'}, 'The machine code leaves open how wide its accesses are: they are counted as modelled.') : null,
    ...adviceOf(k, l).map((a) => adviceCard(k, a, false)),
    h('h3', {}, 'Counters'),
    h('div', {class: 'counts'}, ...record.counters.filter((one) => c[one.name]).flatMap((one) => [h('span', {title: one.meaning}, one.label), h('span', {}, count(c[one.name]))])));
  const pictures = h('div', {},
    pictured.length ? h('h3', {}, pictured.every((i) => i.split) ? 'How a warp parts' : 'The costliest access of a warp') : null,
    picture,
    h('h3', {}, `${l.instructions.length} PTX instruction${l.instructions.length === 1 ? '' : 's'}`), ...shortened(list));
  detail.append(words, pictures);
  const wasted = (i) => i.split ? 1.5 : i.worst.cost / Math.max(1, i.worst.least) + i.worst.cost / 1000;
  if (pictured.length) show(pictured.reduce((a, b) => (wasted(b) > wasted(a) ? b : a)));
}

// --- pictures of an access

function maskPicture(mask, label) {
  const svg = s('svg', {viewBox: '0 0 448 34', role: 'img', 'aria-label': 'active lanes'});
  const on = new Set(lanesOf(mask));
  for (let lane = 0; lane < 32; ++lane) {
    const cell = s('rect', {x: lane * 14, y: 14, width: 12.5, height: 18, rx: 2.5, class: on.has(lane) ? '' : 'off'});
    if (on.has(lane)) cell.style.fill = laneColor(lane);
    svg.append(cell);
    svg.append(s('text', {x: lane * 14 + 6, y: 27, 'text-anchor': 'middle', class: 'lane', opacity: on.has(lane) ? 1 : 0.35}, `${lane}`));
  }
  svg.append(s('text', {x: 0, y: 9}, label ?? `lanes: ${on.size} of 32 take part`));
  return svg;
}

// Each line of 128 bytes is a row of four sectors; a word has the colour of the lane that wants it.
function sectorPicture(a) {
  const owner = new Map();
  for (const lane of lanesOf(a.mask))
    for (let b = 0; b < a.bytes; ++b) {
      const at = a.base + a.addresses[lane] + b;
      if (!owner.has(at)) owner.set(at, []);
      owner.get(at).push(lane);
    }
  const lines = [...new Set([...owner.keys()].map((at) => Math.floor(at / LINE)))].sort((p, q) => p - q);
  const shown = lines.slice(0, 32), W = 448, left = 62, cell = (W - left) / LINE, height = shown.length > 12 ? 9 : 15, step = height + 4;
  const svg = s('svg', {viewBox: `0 0 ${W} ${shown.length * step + 18}`, role: 'img', 'aria-label': 'sectors of an access'});
  for (let sector = 0; sector < 4; ++sector) svg.append(s('text', {x: left + cell * (sector + 0.5) * SECTOR, y: 9, 'text-anchor': 'middle'}, `sector ${sector}`));
  shown.forEach((line, r) => {
    const y = 14 + r * step;
    svg.append(s('text', {x: left - 6, y: y + height - 1.5, 'text-anchor': 'end'}, `+${count((line - lines[0]) * LINE)}`));
    for (let sector = 0; sector < 4; ++sector) {
      const first = line * LINE + sector * SECTOR;
      const touched = Array.from({length: SECTOR}, (_, b) => owner.has(first + b)).some(Boolean);
      svg.append(s('rect', {class: touched ? 'empty' : 'frame', x: left + sector * SECTOR * cell + 0.5, y, width: SECTOR * cell - 2, height, rx: 1.5}));
      for (let b = 0; touched && b < SECTOR; ++b) {
        const lanes = owner.get(first + b);
        if (!lanes) continue;
        const rect = s('rect', {x: left + (sector * SECTOR + b) * cell + 0.5, y: y + 1, width: cell * 1.04, height: height - 2});
        rect.style.fill = laneColor(lanes[0]);
        rect.append(s('title', {}, `lane${lanes.length > 1 ? 's' : ''} ${lanes.join(', ')}`));
        svg.append(rect);
      }
    }
  });
  return [svg, lines.length > shown.length ? h('p', {class: 'hint'}, `and ${lines.length - shown.length} more lines of 128 bytes`) : null];
}

// Banks side by side; the words that one bank must give are stacked, one per turn.
function bankPicture(a) {
  const banks = Array.from({length: BANKS}, () => new Map());
  for (const lane of lanesOf(a.mask)) {
    const start = a.base + a.addresses[lane];
    for (let w = Math.floor(start / 4); w <= Math.floor((start + a.bytes - 1) / 4); ++w) {
      const words = banks[w % BANKS];
      if (!words.has(w)) words.set(w, []);
      words.get(w).push(lane);
    }
  }
  const turns = Math.max(...banks.map((b) => b.size)), height = turns > 16 ? 9 : 14, step = height + 2;
  const svg = s('svg', {viewBox: `0 0 448 ${turns * step + 30}`, role: 'img', 'aria-label': 'banks of an access'});
  svg.append(s('text', {x: 0, y: 9}, 'a column is a bank; each word it has to give takes a turn'));
  banks.forEach((words, bank) => {
    const x = bank * 14;
    for (let t = 0; t < turns; ++t) svg.append(s('rect', {class: 'empty', x, y: 14 + t * step, width: 12.5, height, rx: 2}));
    [...words.values()].forEach((lanes, t) => {
      const rect = s('rect', {x, y: 14 + t * step, width: 12.5, height, rx: 2});
      rect.style.fill = laneColor(lanes[0]);
      rect.append(s('title', {}, `bank ${bank}: lane${lanes.length > 1 ? 's' : ''} ${lanes.join(', ')}`));
      svg.append(rect);
      if (height > 10) svg.append(s('text', {x: x + 6, y: 14 + t * step + 10.5, 'text-anchor': 'middle', class: 'lane'}, lanes.length > 1 ? '∗' : `${lanes[0]}`));
    });
    if (bank % 4 === 0) svg.append(s('text', {x: x + 6, y: 14 + turns * step + 11, 'text-anchor': 'middle'}, `${bank}`));
  });
  return [svg];
}

function splitPicture(i) {
  const mask = parseInt(i.split.mask, 16), taken = parseInt(i.split.taken, 16);
  const hex = (m) => (m >>> 0).toString(16).padStart(8, '0');
  return [
    h('p', {class: 'hint'}, h('code', {}, i.ptx), `: the lanes of a warp part here ${count(i.counters.divergent)} of ${count(i.counters.branches)} times; this is the most even of them.`),
    maskPicture(hex(taken), 'these lanes branch, while the others wait'),
    maskPicture(hex(mask & ~taken), 'these lanes go on, while the others wait')];
}

function accessPicture(i) {
  if (i.split) return splitPicture(i);
  const a = i.worst, shared = i.reach === 'shared', unit = shared ? 'wavefront' : 'sector';
  const plural = (n) => `${count(n)} ${unit}${n === 1 ? '' : 's'}`;
  return [
    h('p', {class: 'hint'}, h('code', {}, i.ptx), i.library ? ` in ${i.library}` : '', `: ${plural(a.cost)}; ${plural(a.least)} would do. ${a.warps === 1 ? '1 access costs' : `${count(a.warps)} accesses cost`} as much.`),
    maskPicture(a.mask), ...(shared ? bankPicture(a) : sectorPicture(a))].filter(Boolean);
}

// --- all of it

// Template arguments of a long name are for those who ask: the tooltip has them.
const short = (k) => k.short_name;
const fullName = (k) => k.full_name || k.name;

function show(k) {
  for (const button of $('kernels').children) button.setAttribute('aria-pressed', button.dataset.index === `${record.kernels.indexOf(k)}`);
  fill('verdict', h('span', {title: fullName(k)}, short(k)), k.verdict.slice(short(k).length));
  if (decodeURIComponent(location.hash.slice(1)) !== k.name && k !== order[0]) history.replaceState(null, '', `#${encodeURIComponent(k.name)}`);
  facts(k);
  parts(k);
  roofline(k);
  fill('advice', ...(k.advice.length ? shortened(k.advice.map((a) => adviceCard(k, a)), narrow ? 1 : 2, narrow ? 0 : 1) : [h('p', {class: 'hint'}, 'Nothing that would save a twentieth of its time.')]));
  source(k);
  const first = k.advice.find((a) => a.line);
  choose(k, first ? lineOf(k, first.file, first.line) : k.lines[0]);
}

const narrow = matchMedia('(max-width: 600px)').matches;
const order = [...record.kernels].sort((a, b) => cost(b) - cost(a));
const all = sum(order.map(cost)) || 1;
const program = record.program.startsWith('/') ? record.program.split('/').pop() : record.program;
$('origin').textContent = `ridge profile ${program} · on ${record.device.name}, software GPU`;
document.title = `ridge profile ${program}`;
if (record.widths_note) $('widths').textContent = `${record.widths_note[0].toUpperCase()}${record.widths_note.slice(1)}.`;
const kShown = narrow ? 4 : 10;
const about = (k) => [k.launches > 1 ? `×${count(k.launches)}` : '', k.sampled ? `sampled ${count(k.blocks_run)} of ${count(k.blocks)} blocks` : '', k.faulted ? 'crashed' : '', percent(cost(k) / all)].filter(Boolean).join(' · ');
const kernelButton = (k) => h('button', {'data-index': record.kernels.indexOf(k), title: fullName(k), style: `--share:${cost(k) / all}`, onclick: () => show(k)},
  short(k), ' ', h('small', {}, about(k)));
fill('kernels', ...order.slice(0, kShown).map(kernelButton));
if (order.length > kShown) {
  const more = h('button', {class: 'more', onclick: () => more.replaceWith(...order.slice(kShown).map(kernelButton))}, `${order.length - kShown} more`);
  $('kernels').append(more);
}
show(order.find((k) => k.name === decodeURIComponent(location.hash.slice(1))) ?? order[0]);
