import type { RunFile } from './run.ts';

const RUN_ID = /^[0-9A-Za-z-]{1,64}$/;
const SUFFIX = /^[a-z0-9]{10}$/;
const SUFFIX_CHARACTERS = 'abcdefghijklmnopqrstuvwxyz0123456789';
const SUFFIX_LENGTH = 10;

/** The directory beside the runs that keeps the baselines and verdicts of scenarios. */
export const RESERVED_RUN_ID = 'scenarios';

/**
 * Whether it may be a run's name: 1 to 64 of 0–9, A–Z, a–z and '-', so that it is also a folder name and a label.
 * `scenarios` is reserved.
 */
export function isRunId(text: string): boolean {
  return RUN_ID.test(text) && text !== RESERVED_RUN_ID;
}

/**
 * `YYYYMMDDTHHMMSSZ-` and ten characters of [a-z0-9]: the start in UTC, then what distinguishes runs of one second
 * (random unless given: imports give a hash of their content).
 */
export function createRunId(start: Date, suffix: string = randomSuffix()): string {
  if (!SUFFIX.test(suffix)) throw new RangeError(`a run id ends with ten characters of [a-z0-9], not with "${suffix}"`);
  const time = start
    .toISOString()
    .replace(/\.\d+Z$/, 'Z')
    .replace(/[-:]/g, '');
  return `${time}-${suffix}`;
}

/** The start that a run's id begins with, which sorts as text; null when it begins otherwise. */
export function timeOfRunId(runId: string): string | null {
  return /^\d{8}T\d{6}Z(?=-)/.exec(runId)?.[0] ?? null;
}

/** Ten characters of [a-z0-9], each equally likely (52 bits). */
function randomSuffix(): string {
  const largestFair = 256 - (256 % SUFFIX_CHARACTERS.length);
  let suffix = '';
  while (suffix.length < SUFFIX_LENGTH) {
    for (const byte of crypto.getRandomValues(new Uint8Array(16))) {
      if (byte < largestFair && suffix.length < SUFFIX_LENGTH) {
        suffix += SUFFIX_CHARACTERS.charAt(byte % SUFFIX_CHARACTERS.length);
      }
    }
  }
  return suffix;
}

/** What the place of a run among others depends on; absent: it was not imported. */
export interface OrderedRun {
  readonly run_id: string;
  readonly start: string | null;
  /** When it was imported, RFC 3339. */
  readonly imported_at?: string | null;
  /** Its place among the runs of that import, from 0. */
  readonly import_position?: number | null;
}

/** What `oldestFirst` needs of a run.json. */
export function orderOf({ run_id, start, source }: Pick<RunFile, 'run_id' | 'start' | 'source'>): Required<OrderedRun> {
  return { run_id, start, imported_at: source?.imported_at ?? null, import_position: source?.position ?? null };
}

/**
 * The order of runs, which is the same everywhere: by start; an import without a start counts from when it was imported, in
 * the order of its files and of its place in the file. Runs of which neither is known come before all others.
 */
export function oldestFirst(a: OrderedRun, b: OrderedRun): number {
  return (
    compare(a.start ?? a.imported_at ?? '', b.start ?? b.imported_at ?? '') ||
    compare(a.imported_at ?? '', b.imported_at ?? '') ||
    compare(a.import_position ?? -1, b.import_position ?? -1) ||
    compare(a.run_id, b.run_id)
  );
}

/** Whether it is known which other runs come before it. */
export function isOrdered({ start, imported_at }: Pick<OrderedRun, 'start' | 'imported_at'>): boolean {
  return (start ?? imported_at ?? null) !== null;
}

function compare<T extends string | number>(a: T, b: T): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
