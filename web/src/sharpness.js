// How sharp the picture is: as sharp as this machine can draw it sixty times a second.

// Pixels of the canvas for one of the screen, along each edge: more than one smooth the edges, which costs less than WebGL's own way.
const LEVELS = [2, 1.5, 1, 0.75, 0.5],
  PLAIN = LEVELS.indexOf(1),
  MOST = 3; // for one pixel of the page
const LATE = 21, // milliseconds between frames, of which half come later
  BATCH = 15, // frames that are judged together
  CALM = 120; // frames in time before the next level up is tried

export class Sharpness {
  constructor() {
    this.level = 0;
    this.best = 0; // no level before this one is tried again
    this.settled = false;
    this.start();
  }

  start() {
    this.last = null;
    this.gaps = [];
    this.calm = 0;
  }

  /** Pixels of the canvas for one of the page; a still picture is as sharp as it can be. */
  ratio(still) {
    const screen = Math.min(2, window.devicePixelRatio || 1);
    return Math.min(MOST, screen * LEVELS[still ? 0 : this.level]);
  }

  /** A frame at this time in milliseconds; null where the picture stands still. */
  frame(now) {
    if (now === null) return this.start();
    if (this.last !== null) this.gaps.push(now - this.last);
    this.last = now;
    if (this.gaps.length < BATCH || this.settled) return undefined;
    const middle = this.gaps.sort((a, b) => a - b)[BATCH >> 1];
    this.gaps = [];
    return middle > LATE ? this.lower(middle) : this.rise();
  }

  /** One level down; where none of them helps, something else is slow, and the picture need not suffer. */
  lower(middle) {
    this.calm = 0;
    this.first ??= middle;
    if (this.level < LEVELS.length - 1) this.level += 1;
    else if (middle > 0.8 * this.first) [this.level, this.settled] = [PLAIN, true];
    this.best = Math.max(this.best, Math.min(this.level, PLAIN));
  }

  /** In time: after a while one level up, where it was not too slow before. */
  rise() {
    this.calm += BATCH;
    if (this.calm < CALM || this.level <= this.best) return;
    this.level -= 1;
    this.calm = 0;
  }
}
