// The one time of the page: every picture and every plot shows it.

export class Clock {
  /** @param {(time: number) => void} changed called whenever the time or the state of play changes */
  constructor(changed) {
    this.changed = changed;
    this.time = this.start = this.end = 0;
    this.speed = 1; // time of the run per second of the reader
    this.playing = false;
    this.before = null;
  }

  /** A new span; the time stays where it is if the span holds it. */
  span(start, end) {
    [this.start, this.end] = [start, end];
    this.seek(this.time);
  }

  seek(time) {
    this.time = Math.min(this.end, Math.max(this.start, time));
    this.changed();
  }

  play(on = true) {
    this.playing = on && this.end > this.start;
    this.before = null;
    if (this.playing && this.time >= this.end) this.time = this.start;
    this.changed();
  }

  /** Moves on by the time since the last frame; from the end it goes back to the start. */
  tick(now) {
    if (!this.playing) return;
    const passed = this.before === null ? 0 : Math.min(0.1, (now - this.before) / 1000); // a page in the background does not jump
    this.before = now;
    const next = this.time + passed * this.speed;
    this.time = next >= this.end ? (this.time >= this.end ? this.start : this.end) : next;
  }
}

const STEPS = [1, 2, 5];

/** The next faster (or slower) of ..., 0.5, 1, 2, 5, 10, ... */
export function nextSpeed(speed, up) {
  const ladder = [];
  for (let power = -6; power <= 6; power += 1) for (const step of STEPS) ladder.push(step * 10 ** power);
  const found = up ? ladder.find((v) => v > speed * 1.01) : ladder.findLast((v) => v < speed * 0.99);
  return found ?? speed;
}

/** The whole run in half a minute, but not so fast that the body turns more than one and a half times a second. */
export function goodSpeed(span, fastest) {
  const wanted = Math.min(span / 25, fastest > 0 ? 9 / fastest : Infinity);
  return nextSpeed(nextSpeed(wanted, true), false) || 1;
}
