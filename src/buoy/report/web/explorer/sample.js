// A sample of one trace: its data, and what the state chooses of it.
class Sample {
  use(data) {
    this.data = data;
    this.means = this.heads = null;
    this.depths = data.layers.map(layer => data.modelLayers > 1 ? layer / (data.modelLayers - 1) : 0);
    this.even = new Float64Array(data.tokens).fill(1 / data.tokens);
    if (data.causal) {
      let sum = 0;
      for (let j = data.tokens - 1; j >= 0; --j)
        this.even[j] = (sum += 1 / Math.max(j + 1, data.prefix)) / data.tokens;
      this.even.fill(sum / data.tokens, 0, data.prefix); // every query sees these
    }
    this.scales = new Map();
  }

  load() {
    if (this.means) return;
    const data = this.data;
    this.means = new Rows(data.meanCodes, data.meanScales, data.tokens);
    this.heads = new Rows(data.headCodes, data.headScales, data.tokens);
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
}
