// The last buckets of some lines: numbers that come in pieces, in memory that does not grow.
export class Ring {
  constructor() { this.clear(0, 0, 0, 0); }

  clear(lines, capacity, width, size) {
    const wanted = capacity * width;
    if (!this.values || this.values.length !== lines || this.values[0]?.length !== wanted) {
      this.values = Array.from({ length: lines }, () => new Float32Array(wanted));
    }
    Object.assign(this, { capacity, width, size, begin: 0, end: 0 });
  }

  // buckets `first` to `first + count` of every line; those there already are replaced, of all at least `room` are kept
  put([, first, count, size, width, lines, fresh], numbers, factors, room) {
    if (fresh || size !== this.size || width !== this.width || lines !== this.values.length || first > this.end
        || first < this.begin) {
      this.clear(lines, Math.ceil(1.2 * Math.max(room, count)) + 4, width, size);
      this.begin = this.end = first;
    }
    const end = Math.max(this.end, first + count), over = end - this.begin - this.capacity;
    if (over > 0) { // a bit more than needed, so that it is rare
      const drop = Math.min(Math.max(over, this.capacity >> 3), this.end - this.begin);
      for (const line of this.values) line.copyWithin(0, drop * width, (this.end - this.begin) * width);
      this.begin += drop;
    }
    const at = (first - this.begin) * width, many = count * width;
    this.values.forEach((line, k) => {
      const factor = factors[k];
      for (let j = 0, from = k * many; j < many; j += 1) line[at + j] = factor * numbers[from + j];
    });
    this.end = Math.max(this.end, first + count);
  }

  get length() { return (this.end - this.begin) * this.width; }
}
