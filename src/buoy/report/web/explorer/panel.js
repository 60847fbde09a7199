// One panel of the page: its elements, and pointing at cells.
class Panel extends Drawing {
  constructor(details) {
    super();
    this.details = details;
    this.samples = [...details.querySelectorAll('script')].map(script => JSON.parse(script.textContent));
    this.count = make('span', {className: 'count'});
    details.querySelector('summary').append(this.count);
    details.addEventListener('toggle', () => { if (details.open) this.draw(); });
    this.take(0);
  }

  // Shows another of its samples; the last one where it has fewer.
  take(number) {
    const data = this.samples[Math.min(number, this.samples.length - 1)];
    if (data === this.data) return;
    this.use(data);
    this.body?.remove();
    this.build();
  }

  build() {
    const data = this.data, count = data.steps.length - (data.finalRow ? 1 : 0);
    this.count.textContent =
      'sample ' + data.sample + ', ' + data.tokens + ' tokens, ' + data.layers.length + ' layers, ' + (data.diffusion ?
        count + ' steps' + (data.finalRow ? ' and the final row' : '') : 'one forward');
    this.title = make('b');
    this.legend = make('span', {className: 'explorer-legend'});
    this.canvas = make('canvas');
    this.canvas.setAttribute('role', 'img');
    this.frame = make('div', {className: 'explorer-cell'});
    this.plot = make('div', {className: 'explorer-plot'}, this.canvas, this.frame);
    this.top = make('p', {className: 'explorer-top'});
    this.top.setAttribute('aria-live', 'polite');
    this.toToken = make('p', {className: 'explorer-to', hidden: true});
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
      make('div', {className: 'explorer-head'}, this.title, this.legend), this.plot, this.top, this.toToken, this.words,
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
    this.words.addEventListener('click', event => {
      const position = Number(event.target.dataset.position ?? -1);
      if (position >= 0) change({token: position === state.token ? -1 : position});
    });
    this.body.addEventListener('keydown', event => this.key(event));
  }

  // Pointing at cells
  find(event) {
    const box = this.canvas.getBoundingClientRect(), {blocks, rowHeight} = this.size, count = this.rows.length / blocks.length;
    const x = event.clientX - box.left, y = event.clientY - box.top;
    // Left of the only block are the names of its rows.
    const b = blocks.findIndex(block => y >= block.top && y < block.bottom && x < block.right && (x >= block.left || blocks.length === 1));
    if (b < 0) return {inRow: false, inside: false};
    const j = Math.floor((x - blocks[b].left) / blocks[b].cell);
    return {r: b * count + Math.floor((y - blocks[b].top) / rowHeight), j, inRow: true, inside: j >= 0 && j < this.data.tokens};
  }
  hover(event) {
    if (!this.rows) return;
    const at = this.find(event);
    if (at.inside) this.look(at.r, at.j, event); else this.unhover();
  }
  look(r, j, event) {
    const data = this.data, row = this.rows[r], {block, top} = this.placeOf(r);
    Object.assign(this.frame.style, {display: 'block', left: block.left + j * block.cell - 1 + 'px', top: top - 1 + 'px',
      width: Math.max(3, block.cell) + 2 + 'px', height: this.size.rowHeight + 2 + 'px'});
    const masked = row.step < data.maskedSteps[j], written = data.revealedAt[j];
    const lines = [this.quoted(j) + ', position ' + j + (j >= data.promptLength ? ' (answer)' : '')];
    const region = data.regionOfToken[j];
    if (region >= 0) lines.push('region: ' + data.regionNames[region] + (data.evidence[j] ? ', holds the answer' : ''));
    lines.push('layer ' + data.layers[row.layer] + ', ' + this.stepName(row.step) + ', ' +
      (row.head < 0 ? 'mean over heads' : 'head ' + row.head));
    if (row.query >= 0) lines.push('from the query that writes ' + this.quoted(this.writtenBy(row.query)));
    if (data.diffusion && j >= data.promptLength) {
      const when = written < 0 ? '' : ' by step ' + written;
      lines.push(masked ? 'still masked' + (when && ', revealed' + when) : 'revealed' + when);
    }
    lines.push(!row.values ? 'not on this page' : !this.exists(j, row.step) ? 'not there yet' : percent(row.values[j]) +
      (row.query >= 0 ? ' of its attention, ' : ' of received attention, ') + times(row.values[j] / this.evenly(j, row.query, row.step)));
    if (this.other) lines.push(row.others && j < row.others.length ? signed(row.values[j] - row.others[j]) + ' against ' +
      this.other.data.trace + ', where ' + this.other.quoted(j) + ' has ' + percent(row.others[j]) : 'nothing to compare with');
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
    this.frame.style.display = tip.style.display = 'none';
    this.looked?.classList.remove('looked');
  }
  choose(event) {
    const at = this.find(event);
    if (!at.inRow) return;
    const row = this.rows[at.r];
    if (state.view === 'layers') change({layer: this.depths[row.layer]});
    else if (state.view === 'steps') change({step: this.stepShare(row.step)});
    else if (state.view === 'rows') change({from: row.query < 0 ? -1 : this.writtenBy(row.query)});
    else if (state.view === 'grid') change({head: row.head, step: this.stepShare(row.step)});
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
