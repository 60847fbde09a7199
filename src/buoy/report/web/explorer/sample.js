// How many keys a row sees. `reach`: the first row that ran, where rows and keys end, length and origin of blocks.
function keysOf([, end, length, origin], row) {
  return Math.min(end, origin + (Math.floor((row - origin) / length) + 1) * length);
}

// A sample of one trace: its data, and what the state chooses of it.
class Sample {
  use(data) {
    this.data = data;
    this.means = this.heads = this.queries = null;
    this.depths = data.layers.map(layer => data.modelLayers > 1 ? layer / (data.modelLayers - 1) : 0);
    this.even = new Float64Array(data.tokens).fill(1 / data.tokens);
    if (data.causal) {
      let sum = 0;
      for (let j = data.tokens - 1; j >= 0; --j)
        this.even[j] = (sum += 1 / Math.max(j + 1, data.prefix)) / data.tokens;
      this.even.fill(sum / data.tokens, 0, data.prefix); // every query sees these
    }
    this.scales = new Map();
    this.evens = new Map();
  }

  load() {
    if (this.means) return;
    const data = this.data;
    this.means = new Rows(data.meanCodes, data.meanScales, data.tokens);
    this.heads = new Rows(data.headCodes, data.headScales, data.tokens);
    this.queries = new Rows(data.rowCodes, data.rowScales, data.tokens);
  }

  // Indices into what the panel has, for the relative ones of the state.
  step() { return this.stepAt(state.step); }
  stepAt(share) { return Math.round(share * (this.data.steps.length - 1)); }
  layer() { return nearest(this.depths, state.layer); }
  head() { return state.head < this.data.heads && this.data.headSteps.length ? state.head : -1; }
  // The query that writes the answer token at a position; -1: all queries together.
  queryOf(position) { return position < 0 ? -1 : this.data.rowPositions.indexOf(position - this.data.rowOffset); }
  query() { return this.queryOf(state.from); }
  writtenBy(query) { return this.data.rowPositions[query] + this.data.rowOffset; }
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
  // The steps at which rows of a kind are kept, and the one of them that is nearest to a step.
  stepsOf(head, query) {
    const data = this.data;
    return query >= 0 ? data.rowSteps : head >= 0 ? data.headSteps : data.steps.map((_, s) => s);
  }
  keptStep(step, head, query) {
    const kept = this.stepsOf(head, query);
    return kept.length ? kept[nearest(kept, step)] : step;
  }

  // Attention on every position: of one query, or received from all in a head or on average; null: not on this page.
  values(step, layer, head, query = -1) {
    const data = this.data;
    const at = (rows, steps, layers, count, one) => {
      const s = steps.indexOf(step), l = layers.indexOf(layer);
      return s < 0 || l < 0 ? null : rows.at((s * layers.length + l) * count + one);
    };
    if (query >= 0) return at(this.queries, data.rowSteps, data.rowLayers, data.rowPositions.length, query);
    if (head >= 0) return at(this.heads, data.headSteps, data.headLayers, data.heads, head);
    return this.means.at(step * data.layers.length + layer);
  }
  quoted(position) { return '\u201c' + visible(this.data.texts[position] ?? '') + '\u201d'; }
  // What even attention gives to a position: of all queries, or of one, over the keys it sees.
  evenly(position, query, step) {
    const data = this.data, own = query < 0 ? -1 : data.rowPositions[query];
    if (data.reach.length) return query < 0 ? this.evenAt(step)[position] : 1 / keysOf(data.reach[step], own);
    if (query < 0) return this.even[position];
    return 1 / (data.causal ? Math.max(own + 1, data.prefix) : data.tokens);
  }
  // Keys behind the block that is denoised do not.
  exists(position, step) { return !this.data.reach.length || position < this.data.reach[step][1]; }
  // Where blocks are decoded: of the rows that ran at a step.
  evenAt(step) {
    if (this.evens.has(step)) return this.evens.get(step);
    const data = this.data, reach = data.reach[step], even = new Float64Array(data.tokens);
    for (let i = reach[0]; i < reach[1]; ++i) {
      const keys = keysOf(reach, i);
      for (let j = 0; j < keys; ++j) even[j] += 1 / keys / (reach[1] - reach[0]);
    }
    this.evens.set(step, even);
    return even;
  }
  shown(value, position, query, step) { return state.even ? value / this.evenly(position, query, step) : value; }

  // The rows of the view, from top to bottom, each in a block; only the grid has several blocks.
  listRows() {
    const data = this.data, head = this.head(), layer = this.layer(), rows = [];
    const query = state.view === 'heads' || state.view === 'grid' ? -1 : this.query();
    const step = this.keptStep(this.step(), query >= 0 ? -1 : state.view === 'heads' && data.headSteps.length ? 0 : head,
      state.view === 'rows' && data.rowSteps.length ? 0 : query);
    const add = (row, chosen) => {
      if (chosen) this.chosen = rows.length;
      rows.push({block: 0, step, layer, head: query >= 0 ? -1 : head, query, ...row});
    };
    this.chosen = 0;
    if (state.view === 'layers') {
      data.layers.forEach((number, l) => add({label: String(number), layer: l}, l === layer));
    } else if (state.view === 'steps') {
      for (const s of this.stepsOf(query >= 0 ? -1 : head, query)) add({label: this.stepLabel(s), step: s}, s === step);
    } else if (state.view === 'rows' && data.rowLayers.includes(layer)) {
      data.rowPositions.forEach((_, q) => add({label: visible(data.texts[this.writtenBy(q)] ?? String(this.writtenBy(q))).slice(0, 8),
        head: -1, query: q}, q === query));
    } else if (state.view === 'grid') {
      this.listGrid(add);
    } else {
      add({label: 'mean', head: -1, query: -1}, head < 0);
      if (state.view === 'heads' && data.headLayers.includes(layer))
        for (let h = 0; h < data.heads; ++h) add({label: String(h), head: h}, h === head);
    }
    for (const row of rows) {
      row.values = this.values(row.step, row.layer, row.head, row.query);
      row.others = this.other ? this.valuesOfOther(row) : null;
    }
    return rows;
  }
  // Small maps of steps, one for the mean and one for every head of the chosen layer.
  listGrid(add) {
    const data = this.data, layer = this.layer(), single = data.headLayers.includes(layer);
    const steps = single ? data.headSteps : data.steps.map((_, s) => s), step = steps[nearest(steps, this.step())];
    for (let h = -1; h < (single ? data.heads : 0); ++h)
      for (const s of steps) add({block: h + 1, label: this.stepLabel(s), step: s, head: h}, h === this.head() && s === step);
  }

  // The same row of another trace of the same sample: at the same relative step and depth, in the same head.
  stepOfOther(row, query) {
    return this.other.keptStep(this.other.stepAt(this.stepShare(row.step)), row.head, query);
  }
  valuesOfOther(row) {
    const other = this.other, layer = nearest(other.depths, this.depths[row.layer]);
    const query = row.query < 0 ? -1 : other.queryOf(this.writtenBy(row.query));
    if (row.query >= 0 && query < 0 || row.head >= other.data.heads) return null;
    other.load();
    return other.values(this.stepOfOther(row, query), layer, row.head, query);
  }
  // A number of a row as it is drawn: attention, or how much more it is than in the other trace; NaN: nothing to draw.
  cell(row, j) {
    if (!row.values || state.first && j === 0 || !this.exists(j, row.step)) return NaN;
    const own = this.shown(row.values[j], j, row.query, row.step);
    if (!this.other) return own;
    if (!row.others || j >= row.others.length) return NaN;
    const query = row.query < 0 ? -1 : this.other.queryOf(this.writtenBy(row.query));
    return own - this.other.shown(row.others[j], j, query, this.stepOfOther(row, query));
  }

  // Ends of the colour scale: over all steps of what is shown, so that colours stay while steps change.
  scale() {
    const data = this.data, rows = this.rows, some = [];
    const key = [state.view, state.view === 'layers' ? -1 : this.layer(), rows[this.chosen].head, rows[this.chosen].query,
      state.minus, state.log, state.first, state.even].join();
    if (this.scales.has(key)) return this.scales.get(key);
    const wanted = this.stepsOf(rows[this.chosen].head, rows[this.chosen].query);
    const steps = state.view === 'steps' || state.view === 'grid' || this.other ? [null] : wanted;
    const every = Math.max(1, Math.floor(steps.length * rows.length * data.tokens / 100000));
    let count = 0, largest = 0;
    for (const step of steps) for (const row of rows) {
      const values = step === null || step === row.step ? row.values : this.values(step, row.layer, row.head, row.query);
      const scaled = {...row, values};
      for (let j = 0; values && j < data.tokens; ++j) {
        const value = Math.abs(this.cell(scaled, j));
        if (!(value > 0)) continue;
        largest = Math.max(largest, value);
        if (count++ % every === 0) some.push(value);
      }
    }
    const sorted = Float64Array.from(some).sort();
    const quantile = share => sorted.length ? sorted[Math.floor(share * (sorted.length - 1))] : 0;
    const high = (state.log && !this.other ? largest : quantile(0.995)) || 1;
    const scale = {low: this.other ? -high : state.log ? Math.min(quantile(0.02) || high / 10, high / 10) : 0, high};
    this.scales.set(key, scale);
    return scale;
  }
  // From 0 to 255; -1: nothing to draw.
  shade(value, scale) {
    if (Number.isNaN(value)) return -1;
    if (this.other) return Math.round(255 * clamp((value / scale.high + 1) / 2, 0, 1));
    const place = state.log ? Math.log(value / scale.low) / Math.log(scale.high / scale.low) : value / scale.high;
    return value > 0 ? Math.round(255 * clamp(place, 0, 1)) : 0;
  }
}
