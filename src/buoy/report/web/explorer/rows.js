// Rows of attention, one byte per value (see src/buoy/base/quantised_row.h)
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
