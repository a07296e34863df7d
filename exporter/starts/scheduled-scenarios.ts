import { dirname, resolve } from 'node:path';
import { isName, NAME_RULE } from '../../core/run/run.ts';
import { ConfigurationError } from '../errors/expected-error.ts';
import { yamlSection, type YamlSection } from '../files/yaml-section.ts';

/** A scenario that is judged on a schedule from what a Prometheus recorded; times in milliseconds. */
export interface ScheduledScenario {
  readonly name: string;
  /** Its windows end at multiples of this since 1970 in UTC, and this much later. */
  readonly every_ms: number;
  readonly offset_ms: number;
  readonly window_ms: number;
  /** From the end of a window to its evaluation: samples may arrive late. */
  readonly delay_ms: number;
  /** Whether it is judged beside other servers, such as a canary, and not against days before. */
  readonly isBeside: boolean;
  /** Options of `llmbench import` beside the window and the name. */
  readonly words: readonly string[];
}

export interface ScheduledScenarios {
  readonly scenarios: readonly ScheduledScenario[];
  /** The folder to which paths in the file are relative. */
  readonly folder: string;
}

const MAX_SCENARIOS = 1000;
const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
/** Options of `llmbench import`, by their names. */
const OPTIONS = [
  'prometheus',
  'match',
  'baseline-match',
  'slice',
  'days',
  'prometheus-header',
  'prometheus-bearer-env',
  'prometheus-tls-ca',
  'tag',
  'gate',
  'margin',
  'detect',
];
const TIMES = ['every', 'window', 'offset', 'delay'];
const KEYS = [...OPTIONS, ...TIMES];

/**
 * Reads a file of scheduled scenarios. Throws a `ConfigurationError` with a line for each that is not valid. `problemOf` returns
 * what is wrong with options of `llmbench import`; null: nothing.
 */
export function parseScheduledScenarios(
  text: string,
  file: string,
  problemOf: (words: readonly string[]) => string | null,
): ScheduledScenarios {
  const root = yamlSection(text, file);
  root.onlyHas(['defaults', 'scenarios']);
  const defaults = root.section('defaults');
  defaults.onlyHas(KEYS);
  const section = root.section('scenarios');
  const names = section.keys();
  if (names.length === 0) section.refuse('', 'must name at least one scenario');
  if (names.length > MAX_SCENARIOS) section.refuse('', `has more than ${MAX_SCENARIOS} entries`);
  const faults: string[] = [];
  const scenarios = names.flatMap((name) => {
    try {
      if (!isName(name)) section.refuse(JSON.stringify(name.slice(0, 200)), `must be ${NAME_RULE}`);
      return [scheduledScenario(name, section.section(name), defaults, problemOf)];
    } catch (error) {
      if (!(error instanceof ConfigurationError)) throw error;
      faults.push(error.message);
      return [];
    }
  });
  if (faults.length > 0) throw new ConfigurationError(faults.join('\n'));
  return { scenarios, folder: dirname(resolve(file)) };
}

function scheduledScenario(
  name: string,
  own: YamlSection,
  defaults: YamlSection,
  problemOf: (words: readonly string[]) => string | null,
): ScheduledScenario {
  own.onlyHas(KEYS);
  const from = (key: string): YamlSection => (own.has(key) ? own : defaults);
  const needed = (key: string): number => own.needed(key, from(key).duration_ms(key));
  for (const key of ['prometheus', 'match']) own.needed(key, from(key).text(key));
  const every_ms = needed('every');
  const window_ms = needed('window');
  const offset_ms = from('offset').duration_ms('offset') ?? 0;
  const delay_ms = from('delay').duration_ms('delay') ?? MINUTE_MS;
  if (every_ms < MINUTE_MS) own.refuse('every', 'must be at least 1m');
  if (window_ms < 1000) own.refuse('window', 'must be at least 1s');
  if (offset_ms >= every_ms) own.refuse('offset', 'must be less than every');
  const isBeside = from('baseline-match').has('baseline-match');
  if (isBeside === from('days').has('days')) own.refuse('', 'requires one of baseline-match and days');
  // A history is of the same hour of each day: another hour is another scenario.
  if (!isBeside && every_ms % DAY_MS !== 0) own.refuse('every', 'must be a multiple of 1d with days');
  const words = [
    ...OPTIONS.flatMap((key) => texts(from(key), key).map((text) => `--${key}=${text}`)),
    ...(isBeside ? [] : ['--accept-passed']),
  ];
  const problem = problemOf([...words, ...windowWords(name, new Date(0), new Date(window_ms))]);
  if (problem !== null) own.refuse('', `cannot be evaluated: ${problem}`);
  return { name, every_ms, offset_ms, window_ms, delay_ms, isBeside, words };
}

/** The options of a window. */
export const windowWords = (name: string, from: Date, to: Date): readonly string[] => [
  ...['--check', `--scenario=${name}`, `--from=${from.toISOString()}`, `--to=${to.toISOString()}`],
];

/** A value of an option, or several; numbers need no quotes. */
function texts(section: YamlSection, key: string): readonly string[] {
  const value = section.raw(key) ?? null;
  if (value === null) return [];
  if (Array.isArray(value)) return section.words(key);
  if (typeof value === 'string' || typeof value === 'number') return [String(value)];
  return section.refuse(key, 'must be a string, a number or a list of them');
}

/** The end of the newest window that is due, in milliseconds since 1970. */
export function newestDue(
  { every_ms, offset_ms, delay_ms }: Pick<ScheduledScenario, 'every_ms' | 'offset_ms' | 'delay_ms'>,
  now_ms: number,
): number {
  return Math.floor((now_ms - delay_ms - offset_ms) / every_ms) * every_ms + offset_ms;
}
