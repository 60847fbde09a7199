// A sample as a map, its title and its coloured text, in the elements that Panel makes.
class Drawing extends Sample {
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
}
