#pragma once

namespace buoy::report {

// The middle part of the script in explorer_script.h: one panel, from its data to the drawing.
inline constexpr char kExplorerPanelScript[] = R"js(
// ---- rows of attention, one byte per value (see src/buoy/report/quantised_rows.h)
class Rows {
  constructor(codes, scales, tokens) {
    this.codes = bytesOf(codes);
    this.scales = new Float32Array(bytesOf(scales).buffer);
    this.tokens = tokens;
  }
  at(index) {
    const low = this.scales[2 * index], high = this.scales[2 * index + 1], values = new Float32Array(256);
    for (let code = 1; code < 256; ++code)
      values[code] = low > 0 ? low * Math.pow(high / low, (code - 1) / 254) : 0;
    const out = new Float32Array(this.tokens), begin = index * this.tokens;
    for (let j = 0; j < this.tokens; ++j) out[j] = values[this.codes[begin + j]];
    return out;
  }
}

const nearest = (values, wanted) => {
  let best = 0;
  values.forEach((value, i) => { if (Math.abs(value - wanted) < Math.abs(values[best] - wanted)) best = i; });
  return best;
};

// ---- one panel: the sample of one trace
class Panel {
  constructor(details) {
    this.details = details;
    this.data = JSON.parse(details.querySelector('script').textContent);
    const data = this.data;
    this.depths = data.layers.map(layer => data.modelLayers > 1 ? layer / (data.modelLayers - 1) : 0);
    this.even = new Float64Array(data.tokens).fill(1 / data.tokens);
    if (data.causal) {
      let sum = 0;
      for (let j = data.tokens - 1; j >= 0; --j) this.even[j] = (sum += 1 / (j + 1)) / data.tokens;
    }
    this.scales = new Map();
    this.build();
  }

  load() {
    if (this.means) return;
    const data = this.data;
    this.means = new Rows(data.meanCodes, data.meanScales, data.tokens);
    this.heads = new Rows(data.headCodes, data.headScales, data.tokens);
    data.meanCodes = data.headCodes = '';
  }

  build() {
    const data = this.data, count = data.steps.length - (data.finalRow ? 1 : 0);
    this.details.querySelector('summary').append(make('span', {className: 'count', textContent:
      'sample ' + data.sample + ', ' + data.tokens + ' tokens, ' + data.layers.length + ' layers, ' + (data.diffusion ?
        count + ' steps' + (data.finalRow ? ' and the final row' : '') : 'one causal forward')}));
    this.title = make('b');
    this.legend = make('span', {className: 'explorer-legend'});
    this.canvas = make('canvas');
    this.canvas.setAttribute('role', 'img');
    this.cell = make('div', {className: 'explorer-cell'});
    this.plot = make('div', {className: 'explorer-plot'}, this.canvas, this.cell);
    this.top = make('p', {className: 'explorer-top'});
    this.top.setAttribute('aria-live', 'polite');
    const text = (label, spans) => {
      const box = make('div', {className: 'explorer-tokens'}, ...spans);
      box.setAttribute('aria-label', label + ', coloured by the chosen row');
      box.setAttribute('role', 'group');
      return box;
    };
    this.spans = Array.from({length: data.tokens}, (_, j) => {
      const text = data.texts[j];
      const span = make('span', {textContent: text ? text.replace(/\n/g, '\u21b5\n') : text === '' ? '\u2205' : j + ' '});
      span.dataset.position = j;
      return span;
    });
    this.words = make('div', {}, text('The prompt', this.spans.slice(0, data.promptLength)));
    if (data.promptLength < data.tokens)
      this.words.append(text('The answer', this.spans.slice(data.promptLength)));
    this.body = make('div', {className: 'explorer-body', tabIndex: 0},
      make('div', {className: 'explorer-head'}, this.title, this.legend), this.plot, this.top, this.words,
      make('p', {className: 'files', textContent: data.note}));
    this.body.setAttribute('role', 'group');
    this.body.setAttribute('aria-label', data.trace + ': attention map; left and right change the step, up and down the layer');
    this.details.append(this.body);
    this.canvas.addEventListener('mousemove', event => this.hover(event));
    this.canvas.addEventListener('mouseleave', () => this.unhover());
    this.canvas.addEventListener('click', event => this.choose(event));
    this.words.addEventListener('mouseover', event => {
      const position = event.target.dataset.position;
      if (position === undefined) return this.unhover();
      this.look(this.chosen, Number(position), event);
    });
    this.words.addEventListener('mouseleave', () => this.unhover());
    this.body.addEventListener('keydown', event => this.key(event));
    this.details.addEventListener('toggle', () => { if (this.details.open) this.draw(); });
  }

  // Indices into what the panel has, for the relative ones of the state.
  step() { return Math.round(state.step * (this.data.steps.length - 1)); }
  layer() { return nearest(this.depths, state.layer); }
  head() { return state.head < this.data.heads && this.data.headSteps.length ? state.head : -1; }
  stepShare(step) { return this.data.steps.length > 1 ? step / (this.data.steps.length - 1) : state.step; }
  stepName(step) {
    const data = this.data;
    if (!data.diffusion) return 'one forward';
    return data.finalRow && step === data.steps.length - 1 ? 'final row' : 'step ' + data.steps[step];
  }
  stepLabel(step) {
    const data = this.data;
    return !data.diffusion ? '' : data.finalRow && step === data.steps.length - 1 ? 'final' : String(data.steps[step]);
  }
  headStep(step) { return this.data.headSteps[nearest(this.data.headSteps, step)]; }

  values(step, layer, head) {
    const data = this.data;
    if (head < 0) return this.means.at(step * data.layers.length + layer);
    const s = data.headSteps.indexOf(step), l = data.headLayers.indexOf(layer);
    return s < 0 || l < 0 ? null : this.heads.at((s * data.headLayers.length + l) * data.heads + head);
  }
  quoted(position) { return '\u201c' + visible(this.data.texts[position] ?? '') + '\u201d'; }
  shown(value, position) { return state.even ? value / this.even[position] : value; }

  // The rows of the view, from top to bottom.
  listRows() {
    const data = this.data, head = this.head(), layer = this.layer();
    const step = head < 0 && state.view !== 'heads' || !data.headSteps.length ? this.step() : this.headStep(this.step());
    const rows = [];
    const add = (label, s, l, h, chosen) => {
      if (chosen) this.chosen = rows.length;
      rows.push({label, step: s, layer: l, head: h, values: this.values(s, l, h)});
    };
    this.chosen = 0;
    if (state.view === 'layers') {
      data.layers.forEach((number, l) => add(String(number), step, l, head, l === layer));
    } else if (state.view === 'steps') {
      const kept = head < 0 ? data.steps.map((_, s) => s) : data.headSteps;
      for (const s of kept) add(this.stepLabel(s), s, layer, head, s === step);
    } else {
      add('mean', step, layer, -1, head < 0);
      if (data.headLayers.includes(layer))
        for (let h = 0; h < data.heads; ++h) add(String(h), step, layer, h, h === head);
    }
    return rows;
  }

  // Ends of the colour scale: over all steps of what is shown, so that colours stay while steps change.
  scale() {
    const data = this.data, head = this.head(), layer = state.view === 'layers' ? -1 : this.layer();
    const key = [state.view, layer, state.view === 'heads' ? '' : head, state.log, state.first, state.even].join();
    if (this.scales.has(key)) return this.scales.get(key);
    const single = head >= 0 || state.view === 'heads' && data.headSteps.length > 0;
    const steps = single ? data.headSteps : data.steps.map((_, s) => s);
    const layers = layer >= 0 ? [layer] : data.layers.map((_, l) => l);
    const heads = state.view === 'heads' && single ? Array.from({length: data.heads}, (_, h) => h) : [head];
    const rows = steps.length * layers.length * heads.length, some = [];
    const every = Math.max(1, Math.floor(rows * data.tokens / 100000));
    let count = 0, largest = 0;
    for (const s of steps) for (const l of layers) for (const h of heads) {
      const values = this.values(s, l, h);
      for (let j = state.first ? 1 : 0; values && j < data.tokens; ++j) {
        const value = this.shown(values[j], j);
        largest = Math.max(largest, value);
        if (value > 0 && count++ % every === 0) some.push(value);
      }
    }
    const sorted = Float64Array.from(some).sort();
    const quantile = share => sorted.length ? sorted[Math.floor(share * (sorted.length - 1))] : 0;
    const high = (state.log ? largest : quantile(0.995)) || 1;
    const scale = {low: state.log ? Math.min(quantile(0.02) || high / 10, high / 10) : 0, high};
    this.scales.set(key, scale);
    return scale;
  }
  shade(value, scale) {
    const place = state.log ? Math.log(value / scale.low) / Math.log(scale.high / scale.low) : value / scale.high;
    return value > 0 ? Math.round(255 * clamp(place, 0, 1)) : 0;
  }

  draw() {
    if (!this.details.open) return;
    this.load();
    this.rows = this.listRows();
    const scale = this.colorScale = this.scale();
    this.drawTitle(scale);
    this.drawMap(scale);
    this.drawText(scale);
    this.unhover();
  }

  drawTitle(scale) {
    const data = this.data, row = this.rows[this.chosen], wanted = this.step();
    const parts = ['layer ' + data.layers[row.layer] + ' of 0\u2013' + (data.modelLayers - 1), this.stepName(row.step),
      row.head < 0 ? 'mean over heads' : 'head ' + row.head];
    if (row.step !== wanted) parts[1] += ' (single heads are kept at fewer; nearest to ' + this.stepName(wanted) + ')';
    if (state.head >= 0 && this.head() < 0) parts[2] += ' (head ' + state.head + ' is not on this page)';
    if (state.view === 'heads' && this.rows.length === 1 && data.heads > 1)
      parts[2] += ' (no single heads of this layer on this page)';
    this.title.textContent = parts.join(', ');
    const name = state.even ? times : percent;
    const gradient = make('i');
    gradient.style.background = 'linear-gradient(90deg,' + ramp.map(css).join(',') + ')';
    const dots = data.diffusion && state.view === 'steps' ? 'orange dots: still masked' : '';
    this.legend.replaceChildren(...[dots, name(scale.low)].map(textContent => make('span', {textContent})), gradient,
      name(scale.high) + (state.log ? '' : ' and more'));
    this.canvas.setAttribute('aria-label', views[state.view] + ' of ' + data.trace + ': ' + parts.join(', '));
  }

  measure() {
    const data = this.data, rows = this.rows.length, width = Math.max(200, this.plot.clientWidth);
    const band = data.diffusion && state.view !== 'steps' ? 12 : 0;
    const height = clamp(Math.floor(330 / rows), 3, 22);
    const left = 60, top = 6 + band, right = 6;
    return {width, left, top, band, rowHeight: height, bottom: top + rows * height,
      cell: (width - left - right) / data.tokens, right: width - right,
      height: top + rows * height + 24 + (data.regionNames.length ? 20 : 0)};
  }

  drawMap(scale) {
    const data = this.data, size = this.size = this.measure(), ratio = window.devicePixelRatio || 1;
    const canvas = this.canvas, pen = canvas.getContext('2d');
    canvas.width = Math.round(size.width * ratio);
    canvas.height = Math.round(size.height * ratio);
    canvas.style.height = size.height + 'px';
    pen.scale(ratio, ratio);
    // More positions than pixels: each pixel shows the largest of its positions, so that no anchor is lost.
    const columns = Math.min(data.tokens, Math.floor((size.right - size.left) * ratio));
    const picture = new ImageData(columns, this.rows.length), pixels = new Uint32Array(picture.data.buffer);
    const absent = ramp === ramps.light ? pixel([225, 225, 225]) : pixel([60, 60, 60]);
    this.rows.forEach((row, r) => {
      const shades = new Int16Array(columns).fill(-1);
      for (let j = state.first ? 1 : 0; row.values && j < data.tokens; ++j) {
        const column = Math.floor(j * columns / data.tokens);
        shades[column] = Math.max(shades[column], this.shade(this.shown(row.values[j], j), scale));
      }
      shades.forEach((shade, column) => { pixels[r * columns + column] = shade < 0 ? absent : colorPixels[shade]; });
    });
    const sheet = make('canvas', {width: columns, height: this.rows.length});
    sheet.getContext('2d').putImageData(picture, 0, 0);
    pen.imageSmoothingEnabled = false;
    pen.drawImage(sheet, size.left, size.top, size.right - size.left, size.bottom - size.top);
    this.drawMasks(pen, size);
    this.drawAxes(pen, size);
    pen.strokeStyle = '#e66100';
    pen.lineWidth = 2;
    pen.strokeRect(size.left - 1, size.top + this.chosen * size.rowHeight - 0.5,
      size.right - size.left + 2, size.rowHeight + 1);
  }

  // What the forwards saw masked: a band above the map, or in the map of steps dots.
  drawMasks(pen, size) {
    const data = this.data, x = j => size.left + j * size.cell;
    if (!data.diffusion) return;
    if (state.view === 'steps') {
      pen.fillStyle = '#e66100';
      const dot = clamp(Math.min(size.cell, size.rowHeight) * 0.4, 1.5, 4);
      this.rows.forEach((row, r) => data.maskedSteps.forEach((count, j) => {
        if (row.step < count) pen.fillRect(x(j + 0.5) - dot / 2, size.top + (r + 0.5) * size.rowHeight - dot / 2, dot, dot);
      }));
      return;
    }
    const step = this.rows[this.chosen].step;
    pen.fillStyle = soft;
    pen.font = '10px system-ui, sans-serif';
    pen.textAlign = 'right';
    pen.textBaseline = 'middle';
    pen.fillText('masked', size.left - 6, 8);
    pen.strokeStyle = line;
    pen.lineWidth = 1;
    pen.strokeRect(size.left + 0.5, 4.5, size.right - size.left - 1, 7);
    data.maskedSteps.forEach((count, j) => { if (step < count) pen.fillRect(x(j), 4, Math.max(1, size.cell - 0.5), 8); });
  }

  drawAxes(pen, size) {
    const data = this.data, x = j => size.left + j * size.cell;
    pen.fillStyle = soft;
    pen.font = '11px system-ui, sans-serif';
    pen.textBaseline = 'middle';
    pen.textAlign = 'right';
    const every = Math.ceil(13 / size.rowHeight);
    this.rows.forEach((row, r) => {
      if (r % every && r !== this.chosen || r !== this.chosen && Math.abs(r - this.chosen) < every && every > 1) return;
      pen.fillStyle = r === this.chosen ? ink : soft;
      pen.fillText((r === this.chosen ? '\u25b8 ' : '') + row.label, size.left - 6, size.top + (r + 0.5) * size.rowHeight);
    });
    pen.fillStyle = soft;
    pen.save();
    pen.translate(8, (size.top + size.bottom) / 2);
    pen.rotate(-Math.PI / 2);
    pen.textAlign = 'center';
    pen.fillText({layers: 'layer', steps: 'step', heads: 'head'}[state.view], 0, 0);
    pen.restore();
    pen.textAlign = 'center';
    const wanted = Math.max(1, data.tokens / 12), base = Math.pow(10, Math.floor(Math.log10(wanted)));
    const tick = [1, 2, 5, 10].map(factor => factor * base).find(value => value >= wanted);
    for (let j = 0; j < data.tokens; j += Math.max(1, tick)) pen.fillText(String(j), x(j + 0.5), size.bottom + 11);
    if (data.promptLength > 0 && data.promptLength < data.tokens) {
      pen.strokeStyle = soft;
      pen.lineWidth = 1;
      pen.setLineDash([4, 3]);
      pen.beginPath();
      pen.moveTo(x(data.promptLength), size.top - size.band);
      pen.lineTo(x(data.promptLength), size.bottom + 4);
      pen.stroke();
      pen.setLineDash([]);
    }
    this.drawRegions(pen, size);
  }

  drawRegions(pen, size) {
    const regions = this.data.regionOfToken, y = size.bottom + 22;
    for (let begin = 0, end; begin < regions.length; begin = end) {
      for (end = begin + 1; end < regions.length && regions[end] === regions[begin];) ++end;
      if (regions[begin] < 0) continue;
      const left = size.left + begin * size.cell, width = (end - begin) * size.cell;
      pen.fillStyle = line;
      pen.fillRect(left + 0.5, y, Math.max(1, width - 1), 16);
      let name = this.data.regionNames[regions[begin]];
      pen.fillStyle = ink;
      pen.font = '10px system-ui, sans-serif';
      // "document 12" becomes "12" before it becomes nothing.
      const fits = text => pen.measureText(text).width <= width - 2;
      if (!fits(name)) name = name.split(' ').pop();
      if (fits(name)) pen.fillText(name, left + width / 2, y + 8);
    }
  }

  drawText(scale) {
    const data = this.data, row = this.rows[this.chosen];
    this.spans.forEach((span, j) => {
      const hidden = !row.values || state.first && j === 0;
      const color = hidden ? null : colors[this.shade(this.shown(row.values[j], j), scale)];
      if (span.shownColor !== color) {
        span.shownColor = color;
        span.style.background = color ? css(color) : '';
        span.style.color = color ? inkOn(color) : '';
      }
      span.className = row.step < data.maskedSteps[j] ? 'masked' : '';
    });
    if (!row.values) {
      this.top.textContent = 'This head is not on this page for layer ' + data.layers[row.layer] + '.';
      return;
    }
    const order = Array.from(row.values.keys()).filter(j => !(state.first && j === 0))
      .sort((a, b) => this.shown(row.values[b], b) - this.shown(row.values[a], a)).slice(0, 5);
    this.top.textContent = 'Most: ' + order.map(j => this.quoted(j) + ' at ' + j + ': ' +
      percent(row.values[j]) + ' (' + times(row.values[j] / this.even[j]) + ')').join('; ') + '.';
  }

  // ---- pointing at cells
  find(event) {
    const box = this.canvas.getBoundingClientRect(), size = this.size;
    const x = event.clientX - box.left, y = event.clientY - box.top;
    const r = Math.floor((y - size.top) / size.rowHeight), j = Math.floor((x - size.left) / size.cell);
    const inRow = r >= 0 && r < this.rows.length;
    return {r, j, inRow, inside: inRow && j >= 0 && j < this.data.tokens};
  }
  hover(event) {
    if (!this.rows) return;
    const at = this.find(event);
    if (at.inside) this.look(at.r, at.j, event); else this.unhover();
  }
  look(r, j, event) {
    const data = this.data, size = this.size, row = this.rows[r];
    Object.assign(this.cell.style, {display: 'block',
      left: size.left + j * size.cell - 1 + 'px', top: size.top + r * size.rowHeight - 1 + 'px',
      width: Math.max(3, size.cell) + 2 + 'px', height: size.rowHeight + 2 + 'px'});
    const masked = row.step < data.maskedSteps[j], written = data.revealedAt[j];
    const lines = [this.quoted(j) + ', position ' + j + (j >= data.promptLength ? ' (answer)' : '')];
    const region = data.regionOfToken[j];
    if (region >= 0) lines.push('region: ' + data.regionNames[region] + (data.evidence[j] ? ', holds the answer' : ''));
    lines.push('layer ' + data.layers[row.layer] + ', ' + this.stepName(row.step) + ', ' +
      (row.head < 0 ? 'mean over heads' : 'head ' + row.head));
    if (data.diffusion && j >= data.promptLength) {
      const when = written < 0 ? '' : ' by step ' + written;
      lines.push(masked ? 'still masked' + (when && ', revealed' + when) : 'revealed' + when);
    }
    lines.push(!row.values ? 'not on this page' :
      percent(row.values[j]) + ' of received attention, ' + times(row.values[j] / this.even[j]));
    this.looked?.classList.remove('looked');
    this.looked = this.spans[j];
    this.looked.classList.add('looked');
    tip.textContent = lines.join('\n');
    tip.style.display = 'block';
    tip.style.left = clamp(event.clientX + 14, 4, window.innerWidth - tip.offsetWidth - 8) + 'px';
    const below = event.clientY + 18;
    tip.style.top = (below + tip.offsetHeight > window.innerHeight - 4 ? event.clientY - tip.offsetHeight - 12 : below) + 'px';
  }
  unhover() {
    this.cell.style.display = tip.style.display = 'none';
    this.looked?.classList.remove('looked');
  }
  choose(event) {
    const at = this.find(event);
    if (!at.inRow) return;
    const row = this.rows[at.r];
    if (state.view === 'layers') change({layer: this.depths[row.layer]});
    else if (state.view === 'steps') change({step: this.stepShare(row.step)});
    else change({head: row.head});
  }
  key(event) {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    const step = {ArrowLeft: -1, ArrowRight: 1}[event.key], layer = {ArrowUp: -1, ArrowDown: 1}[event.key];
    if (step === undefined && layer === undefined) return;
    event.preventDefault();
    if (step) change({step: this.stepShare(clamp(this.step() + step, 0, this.data.steps.length - 1))});
    if (layer) change({layer: this.depths[clamp(this.layer() + layer, 0, this.depths.length - 1)]});
  }
}

)js";

}  // namespace buoy::report
