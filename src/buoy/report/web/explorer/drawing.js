// A sample as a map, its title and its coloured text, in the elements that Panel makes.
class Drawing extends Sample {
  draw() {
    if (!this.details.open) return;
    this.load();
    this.other = this.findOther();
    this.rows = this.listRows();
    const scale = this.colorScale = this.scale();
    this.drawTitle(scale);
    this.drawMap(scale);
    this.drawText(scale);
    this.drawChosenToken();
    this.unhover();
  }
  // The panel that is subtracted: it must show the same prompt, and the same sample, unless the page was made to compare the two.
  findOther() {
    const other = panels[state.minus], own = this.data;
    if (!other || other === this) return null;
    const data = other.data, length = own.promptLength;
    const same = (data.sample === own.sample || 'minus' in document.body.dataset) && data.promptLength === length &&
      own.texts.slice(0, length).join('\n') === data.texts.slice(0, length).join('\n');
    return same ? other : null;
  }
  colors() { return this.other ? differenceColors : colors; }

  drawTitle(scale) {
    const data = this.data, row = this.rows[this.chosen], wanted = this.step();
    const parts = ['layer ' + data.layers[row.layer] + ' of 0\u2013' + (data.modelLayers - 1), this.stepName(row.step),
      row.query >= 0 ? 'from the query that writes ' + this.quoted(this.writtenBy(row.query)) + ', mean over heads' :
        row.head < 0 ? 'mean over heads' : 'head ' + row.head];
    if (row.step !== wanted) parts[1] += ' (these are kept at fewer steps; nearest to ' + this.stepName(wanted) + ')';
    if (state.head >= 0 && this.head() < 0) parts[2] += ' (head ' + state.head + ' is not on this page)';
    if (['heads', 'grid'].includes(state.view) && !data.headLayers.includes(row.layer) && data.heads > 1)
      parts[2] += ' (no single heads of this layer on this page)';
    if (state.from >= 0 && this.query() < 0 || state.view === 'rows' && row.query < 0)
      parts[2] += ' (no rows of that answer token on this page)';
    const minus = panels[state.minus];
    if (this.other) parts.push('minus ' + minus.data.trace);
    else if (minus && minus !== this) parts.push('not compared: ' + minus.data.trace + ' has no such sample');
    this.title.textContent = parts.join(', ');
    const name = state.even ? times : percent;
    const gradient = make('i');
    gradient.style.background = 'linear-gradient(90deg,' + rampOf(this.other !== null).map(css).join(',') + ')';
    const dots = data.diffusion && state.view === 'steps' ? 'orange dots: still masked' : '';
    const high = (this.other ? '+' : '') + name(scale.high);
    this.legend.replaceChildren(...[dots, this.other ? '\u2212' + name(scale.high) : name(scale.low)]
      .map(textContent => make('span', {textContent})), gradient, high + (state.log && !this.other ? '' : ' and more'));
    this.canvas.setAttribute('aria-label', views[state.view] + ' of ' + data.trace + ': ' + parts.join(', '));
  }

  // Where rows are drawn: one block, or in the grid one for each head.
  measure() {
    const data = this.data, width = Math.max(200, this.plot.clientWidth), grid = state.view === 'grid';
    const count = this.rows[this.rows.length - 1].block + 1, rows = this.rows.length / count;
    const band = data.diffusion && !['steps', 'grid'].includes(state.view) ? 12 : 0;
    const left = 60, right = 6, top = 6 + band;
    if (!grid) {
      const rowHeight = clamp(Math.floor(330 / rows), 3, 22), bottom = top + rows * rowHeight;
      const block = {left, right: width - right, top, bottom, cell: (width - left - right) / data.tokens};
      return {width, band, rowHeight, blocks: [block], height: bottom + 24 + (data.regionNames.length ? 20 : 0)};
    }
    const columns = clamp(Math.floor(width / 230), 1, count), gap = 12, wide = (width - gap * (columns - 1)) / columns;
    const rowHeight = clamp(Math.floor(90 / rows), 3, 26), high = 18 + rows * rowHeight + 8;
    const blocks = Array.from({length: count}, (_, b) => {
      const blockLeft = b % columns * (wide + gap) + 1, blockTop = Math.floor(b / columns) * high + 18;
      return {left: blockLeft, right: blockLeft + wide - 2, top: blockTop, bottom: blockTop + rows * rowHeight,
        cell: (wide - 2) / data.tokens, label: b === 0 ? 'mean over heads' : 'head ' + (b - 1)};
    });
    return {width, band, rowHeight, blocks, height: Math.ceil(count / columns) * high};
  }
  // The block of a row, and the row's number in it.
  placeOf(r) {
    const count = this.rows.length / this.size.blocks.length, block = this.size.blocks[this.rows[r].block];
    return {block, top: block.top + r % count * this.size.rowHeight};
  }

  drawMap(scale) {
    const size = this.size = this.measure(), ratio = window.devicePixelRatio || 1;
    const canvas = this.canvas, pen = canvas.getContext('2d');
    canvas.width = Math.round(size.width * ratio);
    canvas.height = Math.round(size.height * ratio);
    canvas.style.height = size.height + 'px';
    pen.scale(ratio, ratio);
    size.blocks.forEach((block, b) => this.drawBlock(pen, block, this.rows.filter(row => row.block === b), scale, ratio));
    if (state.view === 'grid') {
      this.drawGridLabels(pen, size);
    } else {
      const only = {...size, ...size.blocks[0]};
      this.drawMasks(pen, only);
      this.drawAxes(pen, only);
    }
    const {block, top} = this.placeOf(this.chosen);
    pen.strokeStyle = '#e66100';
    pen.lineWidth = 2;
    pen.strokeRect(block.left - 1, top - 0.5, block.right - block.left + 2, size.rowHeight + 1);
    if (state.token < 0 || state.token >= this.data.tokens) return;
    pen.lineWidth = 1;
    for (const one of size.blocks)
      pen.strokeRect(one.left + state.token * one.cell - 0.5, one.top - 2, Math.max(2, one.cell) + 1, one.bottom - one.top + 4);
  }

  drawBlock(pen, block, rows, scale, ratio) {
    const tokens = this.data.tokens;
    // More positions than pixels: each pixel shows the largest of its positions, so that no anchor is lost.
    const columns = Math.max(1, Math.min(tokens, Math.floor((block.right - block.left) * ratio)));
    const picture = new ImageData(columns, rows.length), pixels = new Uint32Array(picture.data.buffer);
    const absent = pixel(isDark ? [60, 60, 60] : [225, 225, 225]), shadeColors = this.colors().map(pixel);
    rows.forEach((row, r) => {
      const largest = new Float64Array(columns).fill(NaN);
      for (let j = 0; j < tokens; ++j) {
        const column = Math.floor(j * columns / tokens), value = this.cell(row, j);
        if (Number.isNaN(largest[column]) || Math.abs(value) > Math.abs(largest[column])) largest[column] = value;
      }
      largest.forEach((value, column) => {
        const shade = this.shade(value, scale);
        pixels[r * columns + column] = shade < 0 ? absent : shadeColors[shade];
      });
    });
    const sheet = make('canvas', {width: columns, height: rows.length});
    sheet.getContext('2d').putImageData(picture, 0, 0);
    pen.imageSmoothingEnabled = false;
    pen.drawImage(sheet, block.left, block.top, block.right - block.left, block.bottom - block.top);
  }

  drawGridLabels(pen, size) {
    pen.font = '11px system-ui, sans-serif';
    pen.textAlign = 'left';
    pen.textBaseline = 'alphabetic';
    pen.lineWidth = 1;
    for (const block of size.blocks) {
      pen.fillStyle = ink;
      pen.fillText(block.label, block.left, block.top - 5);
      pen.strokeStyle = line;
      pen.strokeRect(block.left - 0.5, block.top - 0.5, block.right - block.left + 1, block.bottom - block.top + 1);
      const answer = block.left + this.data.promptLength * block.cell;
      pen.strokeStyle = soft;
      pen.beginPath();
      pen.moveTo(answer, block.top);
      pen.lineTo(answer, block.bottom);
      pen.stroke();
    }
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
    pen.fillText({layers: 'layer', steps: 'step', heads: 'head', rows: ''}[state.view], 0, 0);
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
    // Where blocks begin that are denoised.
    const begins = new Set(data.reach.slice(0, data.finalRow ? -1 : undefined).map(reach => reach[0]));
    for (const begin of begins) {
      if (begin <= data.promptLength) continue;
      pen.strokeStyle = soft;
      pen.lineWidth = 0.5;
      pen.beginPath();
      pen.moveTo(x(begin), size.top);
      pen.lineTo(x(begin), size.bottom + 4);
      pen.stroke();
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
    const data = this.data, row = this.rows[this.chosen], shadeColors = this.colors();
    const cells = Float64Array.from({length: data.tokens}, (_, j) => this.cell(row, j));
    this.spans.forEach((span, j) => {
      const shade = this.shade(cells[j], scale), color = shade < 0 ? null : shadeColors[shade];
      if (span.shownColor !== color) {
        span.shownColor = color;
        span.style.background = color ? css(color) : '';
        span.style.color = color ? inkOn(color) : '';
      }
      span.className = (row.step < data.maskedSteps[j] ? 'masked' : '') + (j === state.token ? ' chosen' : '');
    });
    if (!row.values) {
      this.top.textContent = 'This head is not on this page for layer ' + data.layers[row.layer] + '.';
      return;
    }
    const order = Array.from(cells.keys()).filter(j => !Number.isNaN(cells[j]))
      .sort((a, b) => Math.abs(cells[b]) - Math.abs(cells[a])).slice(0, 5);
    const value = j => this.other ? signed(row.values[j] - row.others[j]) :
      percent(row.values[j]) + ' (' + times(row.values[j] / this.evenly(j, row.query, row.step)) + ')';
    this.top.textContent = (this.other ? 'Differ most: ' : 'Most: ') +
      order.map(j => this.quoted(j) + ' at ' + j + ': ' + value(j)).join('; ') + '.';
  }

  // Attention to the token that was clicked, from all queries and from those that write the answer.
  drawChosenToken() {
    const data = this.data, j = state.token, row = this.rows[this.chosen];
    this.toToken.hidden = j < 0 || j >= data.tokens;
    if (this.toToken.hidden) return;
    const step = this.keptStep(row.step, -1, 0), mean = this.values(row.step, row.layer, -1);
    const from = data.rowPositions.map((_, q) => [this.writtenBy(q), this.values(step, row.layer, -1, q)])
      .filter(([, values]) => values).map(([position, values]) => this.quoted(position) + ' ' + percent(values[j]));
    this.toToken.textContent = 'To ' + this.quoted(j) + ' at ' + j + ', layer ' + data.layers[row.layer] + ', mean over heads: from all queries ' +
      percent(mean[j]) + (from.length ? '; from the queries that write ' + from.join(', ') +
        (step === row.step ? '' : ' (' + this.stepName(step) + ')') : '; rows of single queries are not on this page') + '.';
  }
}
