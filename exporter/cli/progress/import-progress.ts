import { canRedraw } from '../terminal-text.ts';
import type { ImportListener, ImportOutcome } from '../../imports/import-files.ts';

const REDRAW_MS = 250;
const LOG_LINE_MS = 5_000;
const MEGABYTE = 1e6;

/** Shows the progress of an import: one updating line on a terminal, periodic lines elsewhere. */
export class ImportProgress implements ImportListener {
  readonly #out: NodeJS.WriteStream;
  readonly #timer: NodeJS.Timeout;
  readonly #startedAt = performance.now();
  #planned = 0;
  #groups = 0;
  #read = 0;
  #done = 0;
  #drawn = false;

  constructor(out: NodeJS.WriteStream) {
    this.#out = out;
    this.#timer = setInterval(() => this.#draw(), canRedraw(out) ? REDRAW_MS : LOG_LINE_MS);
    this.#timer.unref();
  }

  planned(bytes: number, groups: number): void {
    this.#planned = bytes;
    this.#groups = groups;
  }

  read(bytes: number): void {
    this.#read += bytes;
  }

  done(outcome: ImportOutcome): void {
    if (outcome.tool !== null) this.#done += 1;
  }

  /** Removes the line. */
  stop(): void {
    clearInterval(this.#timer);
    this.#clear();
  }

  #draw(): void {
    const line = progressText({
      seconds: (performance.now() - this.#startedAt) / 1000,
      read: this.#read,
      planned: this.#planned,
      done: this.#done,
      groups: this.#groups,
    });
    this.#clear();
    const redrawn = canRedraw(this.#out);
    this.#out.write(redrawn ? line : `${line}\n`);
    this.#drawn = redrawn;
  }

  #clear(): void {
    if (this.#drawn) this.#out.write('\r\x1b[K');
    this.#drawn = false;
  }
}

export interface ImportState {
  readonly seconds: number;
  /** Stored bytes. */
  readonly read: number;
  readonly planned: number;
  readonly done: number;
  readonly groups: number;
}

/** `importing 3/12 results · 41 % · 182 MB/s · 14 s left`. */
export function progressText({ seconds, read, planned, done, groups }: ImportState): string {
  if (planned === 0) return 'looking for results';
  const rate = read / Math.max(seconds, 1e-3);
  const secondsLeft = Math.ceil((planned - read) / rate);
  const known = read > 0 ? `${secondsLeft} s left` : 'time left unknown';
  const left = read >= planned ? 'summarizing and writing the last' : known;
  const share = Math.min(100, Math.floor((100 * read) / planned));
  return `importing ${done}/${groups} results · ${share} % · ${(rate / MEGABYTE).toFixed(rate < 10 * MEGABYTE ? 1 : 0)} MB/s · ${left}`;
}
