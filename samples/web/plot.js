// The times of the last frames, as bars: of a frame from one to the next, and within it the program's own. A line
// shows where the backend or the filters changed.
const most = 180;

export class Plot {
  #canvas; #frames = []; #mark = false;

  constructor(canvas) { this.#canvas = canvas; }

  mark() { this.#mark = true; }
  add(whole, host) {
    this.#frames.push({ whole, host, mark: this.#mark });
    this.#mark = false;
    if (this.#frames.length > most) this.#frames.shift();
  }

  // The medians since the last mark: a frame that compiles a kernel is no measure.
  medians() {
    const begin = this.#frames.findLastIndex(({ mark }) => mark);
    const frames = this.#frames.slice(Math.max(begin, 0));
    const median = (name) => frames.map((frame) => frame[name]).sort((a, b) => a - b)[frames.length >> 1] ?? 0;
    return { whole: median('whole'), host: median('host') };
  }

  draw() {
    const canvas = this.#canvas, scale = devicePixelRatio || 1;
    const width = canvas.clientWidth, height = canvas.clientHeight;
    Object.assign(canvas, { width: width * scale, height: height * scale });
    const context = canvas.getContext('2d'), style = getComputedStyle(canvas);
    const colour = (name) => style.getPropertyValue(`--${name}`).trim();
    context.scale(scale, scale);

    // A rare long frame may reach beyond the top.
    const sorted = this.#frames.map(({ whole }) => whole).sort((a, b) => a - b);
    const highest = Math.max(20, 1.25 * (sorted[Math.floor(sorted.length * 0.95)] ?? 0));
    const y = (value) => height - (height * Math.min(value, highest)) / highest;
    const step = width / most;
    this.#frames.forEach(({ whole, host, mark }, i) => {
      const x = width - (this.#frames.length - i) * step;
      for (const [value, name] of [[whole, 'frame'], [host, 'host']]) {
        context.fillStyle = colour(name);
        context.fillRect(x, y(value), Math.max(step - 1, 0.75), height - y(value));
      }
      if (!mark) return;
      context.fillStyle = colour('mark');
      context.fillRect(x - 1, 0, 1, height);
    });

    context.font = `11px ${style.fontFamily}`;
    const power = 10 ** Math.floor(Math.log10(highest / 4)); // four lines at most, at 1, 2 or 5 of some power of ten
    const distance = Math.max(10, [1, 2, 5, 10].map((value) => value * power).find((value) => highest / value <= 4));
    for (let value = distance; value < highest; value += distance) {
      context.fillStyle = colour('grid');
      context.fillRect(0, Math.round(y(value)), width, 1);
      context.fillStyle = colour('text');
      if (y(value) > 14) context.fillText(`${value} ms`, 4, Math.round(y(value)) - 3); // else the edge would cut it off
    }
  }
}
