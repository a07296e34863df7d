import { mkdirSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { reasonOf, codeOf } from '../../errors/expected-error.ts';
import { readRegularFileSync } from '../../files/read-regular-file.ts';
import { sampleCount, type SeriesPoint, type SeriesLayout } from './pushed-series.ts';
import { isRunId } from '../../../core/run/run-id.ts';
import type { ProcessIdentity } from '../../files/process-identity.ts';

/** A point as JSON; numbers that JSON cannot represent are strings: `NaN`, `Infinity`, `-Infinity`. */
export function pointText(layout: number, point: SeriesPoint): string {
  return JSON.stringify({ layout, ...point }, (_key, value: unknown) =>
    typeof value === 'number' && !Number.isFinite(value) ? String(value) : value,
  );
}

const NUMBERS_AS_TEXT: ReadonlyMap<unknown, number> = new Map([NaN, Infinity, -Infinity].map((n) => [String(n), n]));

/** Null for any other text, such as a truncated file. */
export function parsePoint(text: string): { readonly layout: number; readonly point: SeriesPoint } | null {
  try {
    const value: unknown = JSON.parse(text, (_key, each: unknown) => NUMBERS_AS_TEXT.get(each) ?? each);
    if (typeof value !== 'object' || value === null) return null;
    const { layout, ...point } = value as { layout: number } & SeriesPoint;
    return typeof layout === 'number' && typeof point.time_ms === 'number' ? { layout, point } : null;
  } catch {
    return null;
  }
}

/** The header of a queue: it contains no secrets. */
interface QueueHead {
  readonly schema_version: 1;
  /** Scheme, host, port and path of the receiver. */
  readonly url: string;
}

/** Points of one layout that are sent together, oldest first. */
export interface QueuedPoints {
  readonly layout: SeriesLayout;
  readonly points: readonly SeriesPoint[];
  /** Pass to `remove`. */
  readonly entries: readonly QueueEntry[];
}

interface QueueEntry {
  readonly number: number;
  readonly layout: number;
  readonly samples: number;
  readonly bytes: number;
  /** Only if writing to the disk failed. */
  readonly kept: SeriesPoint | null;
}

export interface QueueOptions {
  /** The oldest points are dropped beyond it. */
  readonly maxBytes: number;
  /** Receives one line per kind of problem, once. */
  readonly problem: (line: string) => void;
}

const HEAD = 'queue.json';
/** How many samples were dropped: kept until it is reported, also when nothing waits any more. */
const DROPPED = 'dropped.json';
const fileName = (kind: 'layout' | 'point', number: number): string =>
  `${kind}-${String(number).padStart(9, '0')}.json`;

/**
 * Points that wait to be sent, each in a file until it was: a killed process leaves complete files. Files are not
 * synced: a power failure may lose the last seconds. The calls block, so they belong in a thread that may wait.
 */
export class DiskQueue {
  readonly #folder: string;
  readonly #options: QueueOptions;
  readonly #layouts = new Map<number, SeriesLayout>();
  readonly #reported = new Set<string>();
  #entries: QueueEntry[] = [];
  #nextPoint = 1;
  #bytes = 0;
  #lost = 0;
  #dropped = 0;

  private constructor(folder: string, options: QueueOptions) {
    this.#folder = folder;
    this.#options = options;
  }

  /** Creates a queue. If the disk fails, this is reported and points are kept in memory. */
  static create(folder: string, head: QueueHead, options: QueueOptions): DiskQueue {
    const queue = new DiskQueue(folder, options);
    try {
      mkdirSync(folder, { recursive: true });
      writeFileSync(join(folder, HEAD), JSON.stringify(head));
    } catch (error) {
      queue.#report(`waiting samples are kept in memory only: ${reasonOf(error)}`);
    }
    return queue;
  }

  /** Opens the queue that another process left. Throws an `Error` if its header cannot be read. */
  static open(folder: string, options: QueueOptions): { readonly queue: DiskQueue; readonly head: QueueHead } {
    const head = JSON.parse(readRegularFileSync(join(folder, HEAD))) as QueueHead;
    if (Number(head.schema_version) !== 1) throw new Error(`${HEAD} is of a later version: use a newer llmbench`);
    const queue = new DiskQueue(folder, options);
    for (const name of readdirSync(folder).sort()) queue.#found(name);
    return { queue, head };
  }

  /** Waiting samples. */
  get samples(): number {
    return this.#entries.reduce((sum, { samples }) => sum + samples, 0);
  }

  get empty(): boolean {
    return this.#entries.length === 0;
  }

  /** Samples dropped beyond the limit or in damaged files. */
  get lost(): number {
    return this.#lost;
  }

  /** Samples that were dropped from this queue, by this process or one before, and not yet forgotten. */
  get dropped(): number {
    return this.#dropped;
  }

  /** Remembers that samples were dropped, also for the process that opens the queue later. */
  noteDropped(samples: number): void {
    if (samples <= 0) return;
    this.#dropped += samples;
    this.#write(DROPPED, JSON.stringify({ samples: this.#dropped }));
  }

  /** Once they are reported to the user. */
  forgetDropped(): void {
    this.#dropped = 0;
    rmSync(join(this.#folder, DROPPED), { force: true });
  }

  /** Declares a layout; the caller chooses its number. */
  declare(number: number, layout: SeriesLayout): void {
    this.#layouts.set(number, layout);
    this.#write(fileName('layout', number), JSON.stringify(layout));
  }

  append(layout: number, point: SeriesPoint): void {
    const known = this.#layouts.get(layout);
    if (known === undefined) throw new Error(`layout ${layout} was not declared`);
    const number = this.#nextPoint++;
    const text = pointText(layout, point);
    const written = this.#write(fileName('point', number), text);
    this.#add({ number, layout, samples: sampleCount(known), bytes: text.length, kept: written ? null : point });
  }

  /** The oldest points of one layout, about `maxSamples` samples; null if nothing waits. */
  next(maxSamples: number): QueuedPoints | null {
    for (;;) {
      const [first] = this.#entries;
      const layout = first && this.#layouts.get(first.layout);
      if (first === undefined) return null;
      const taken: { entry: QueueEntry; point: SeriesPoint }[] = [];
      let samples = 0;
      for (const entry of this.#entries) {
        if (entry.layout !== first.layout || (samples > 0 && samples + entry.samples > maxSamples)) break;
        const point = layout === undefined ? null : this.#read(entry);
        if (point === null) {
          if (taken.length === 0) this.#lose(entry);
          break;
        }
        taken.push({ entry, point });
        samples += entry.samples;
      }
      if (layout !== undefined && taken.length > 0)
        return { layout, points: taken.map(({ point }) => point), entries: taken.map(({ entry }) => entry) };
    }
  }

  /** Removes points that were sent, or that the receiver will never accept. */
  remove(entries: readonly QueueEntry[]): void {
    const gone = new Set(entries.map(({ number }) => number));
    this.#entries = this.#entries.filter(({ number }) => !gone.has(number));
    for (const { number, bytes, kept } of entries) {
      this.#bytes -= bytes;
      if (kept === null) rmSync(join(this.#folder, fileName('point', number)), { force: true });
    }
  }

  /**
   * Ends every declared series on behalf of a killed process: after its last point, which was not later than `time_ms`.
   */
  endSeries(time_ms: number): void {
    for (const layout of this.#layouts.keys()) {
      const last = this.#entries.findLast((entry) => entry.layout === layout);
      const after = (last && this.#read(last)?.time_ms) ?? 0;
      this.append(layout, { time_ms: Math.max(Math.ceil(time_ms), after) + 1, values: null, native: null });
    }
  }

  /**
   * Releases the queue: one without samples, of which none were dropped either, is removed; another is left under this name,
   * or the next free one, for the next process.
   */
  close(leftAs: string): void {
    try {
      if (this.empty && this.#dropped === 0) rmSync(this.#folder, { recursive: true, force: true });
      else {
        if (this.empty) this.#removeLayouts();
        moveQueue(this.#folder, (suffix) => leftAs + suffix);
      }
    } catch (error) {
      this.#report(`${this.#folder} cannot be closed properly: ${reasonOf(error)}`);
    }
  }

  #removeLayouts(): void {
    for (const number of this.#layouts.keys()) rmSync(join(this.#folder, fileName('layout', number)), { force: true });
    this.#layouts.clear();
  }

  #found(name: string): void {
    if (name === DROPPED) this.#dropped = droppedIn(readRegularFileSync(join(this.#folder, name)));
    const [, kind, digits] = /^(layout|point)-(\d{9})\.json$/.exec(name) ?? [];
    if (kind === undefined) return;
    const number = Number(digits);
    const path = join(this.#folder, name);
    if (kind === 'layout') {
      const layout = parsedLayout(readRegularFileSync(path));
      if (layout === null) this.#report(`${path} is damaged: its samples are lost`);
      else this.#layouts.set(number, layout);
      return;
    }
    // In the order of names, layouts precede points.
    const parsed = parsePoint(readRegularFileSync(path));
    const layout = parsed && this.#layouts.get(parsed.layout);
    this.#nextPoint = Math.max(this.#nextPoint, number + 1);
    if (!parsed || !layout) this.#report(`${path} is damaged: its samples are lost`);
    else
      this.#add({
        ...{ number, layout: parsed.layout, samples: sampleCount(layout) },
        ...{ bytes: statSync(path).size, kept: null },
      });
  }

  #add(entry: QueueEntry): void {
    this.#entries.push(entry);
    this.#bytes += entry.bytes;
    while (this.#bytes > this.#options.maxBytes && this.#entries.length > 1) {
      const oldest = this.#entries[0] as QueueEntry;
      this.#report(`more than ${this.#options.maxBytes} bytes wait to be sent: the oldest samples are dropped`);
      this.#lose(oldest);
    }
  }

  #lose(entry: QueueEntry): void {
    this.#lost += entry.samples;
    this.noteDropped(entry.samples);
    this.remove([entry]);
  }

  #read(entry: QueueEntry): SeriesPoint | null {
    if (entry.kept !== null) return entry.kept;
    const path = join(this.#folder, fileName('point', entry.number));
    try {
      const parsed = parsePoint(readRegularFileSync(path));
      if (parsed === null) this.#report(`${path} is damaged: its samples are lost`);
      return parsed?.point ?? null;
    } catch (error) {
      this.#report(`${path} cannot be read, its samples are lost: ${reasonOf(error)}`);
      return null;
    }
  }

  /** Atomic if the process is killed. */
  #write(name: string, text: string): boolean {
    const path = join(this.#folder, name);
    try {
      writeFileSync(`${path}.tmp`, text);
      renameSync(`${path}.tmp`, path);
      return true;
    } catch (error) {
      this.#report(`waiting samples are kept in memory only: ${reasonOf(error)}`);
      return false;
    }
  }

  #report(line: string): void {
    if (this.#reported.has(line)) return;
    this.#reported.add(line);
    this.#options.problem(line);
  }
}

/** 0 if the file is damaged. */
function droppedIn(text: string): number {
  try {
    const { samples } = JSON.parse(text) as { readonly samples?: unknown };
    return typeof samples === 'number' && Number.isSafeInteger(samples) && samples > 0 ? samples : 0;
  } catch {
    return 0;
  }
}

function parsedLayout(text: string): SeriesLayout | null {
  try {
    return JSON.parse(text) as SeriesLayout;
  } catch {
    return null;
  }
}

/** Folder of the queues: hidden from the list of runs. */
export const queuesDirectory = (runsDirectory: string): string => join(runsDirectory, '.remote-write');

const NAME = /^([0-9A-Za-z-]{1,64})~([0-9A-Za-z-]{1,64})(?:~(\d+)~([0-9a-z]+\.\d+))?$/;

/** The folder of a queue: one shard of one run, with the process that works on it, if any. */
export interface QueueName {
  readonly runId: string;
  readonly shard: string;
  readonly owner: ProcessIdentity | null;
}

export function queueName({ runId, shard, owner }: QueueName): string {
  const own = `${runId}~${shard}`;
  return owner === null ? own : `${own}~${owner.pid}~${owner.start_time}`;
}

/** Null if it is not the name of a queue. */
export function parseQueueName(name: string): QueueName | null {
  const [, runId = '', shard = '', pid, start_time] = NAME.exec(name) ?? [];
  if (!isRunId(runId) || !isRunId(shard)) return null;
  const owner = pid === undefined || start_time === undefined ? null : { pid: Number(pid), start_time };
  return { runId, shard, owner };
}

/** More queues of one shard of one run than anybody leaves. */
const MAX_QUEUES = 1000;
const TAKEN: ReadonlySet<string | null> = new Set(['ENOTEMPTY', 'EEXIST']);

/**
 * Renames the folder of a queue to the first free name, and returns it: `suffix` is empty, or `-2`, `-3` and so on where
 * queues of the same shard of a run exist, such as those of repeated backfills. Throws the file system's error.
 */
export function moveQueue(folder: string, nameWith: (suffix: string) => string): string {
  for (let number = 1; ; number += 1) {
    const name = nameWith(number === 1 ? '' : `-${number}`);
    try {
      if (name !== folder) renameSync(folder, name);
      return name;
    } catch (error) {
      if (!TAKEN.has(codeOf(error)) || number === MAX_QUEUES) throw error;
    }
  }
}
