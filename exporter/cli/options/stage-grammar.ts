import { GrammarError } from '../../../core/objectives/grammar.ts';
import { MAX_STAGES } from '../../../core/run/load.ts';
import type { StagePlan } from '../../load/schedule/load-plan.ts';
import type { Option } from './options.ts';

/** Limits of a stage's numbers. */
export interface StageLimits {
  readonly mostConcurrency: number;
  readonly rate: { readonly min: number; readonly max: number };
  readonly mostSeconds: number;
}

const MIN_SECONDS = 0.1;
const SECONDS_OF = { ms: 1e-3, s: 1, m: 60, h: 3600 } as const;
const NUMBER = String.raw`\d+(?:\.\d+)?(?:[eE][-+]?\d+)?`;

/** The option `--stages`. */
export function stagesOption(limits: StageLimits): Option<readonly StagePlan[] | null> {
  return {
    help: 'loads one after the other, such as rate=5:60s,rate=5..20:60s,concurrency=64:2m; each has its own results',
    value: 'LOAD:TIME[,LOAD:TIME…]',
    parse: (texts) => parseStages(texts.at(-1) ?? '', limits),
    fallback: null,
  };
}

/**
 * Reads stages:
 *
 *     stages = stage { "," stage }
 *     stage  = load ":" number ( "ms" | "s" | "m" | "h" )
 *     load   = "rate=" number [ ".." number ] | "concurrency=" number
 *
 * Throws an `Error` whose message follows "must be" and names the stage and the character.
 */
export function parseStages(text: string, limits: StageLimits): readonly StagePlan[] {
  const parts = text.split(',');
  if (parts.length > MAX_STAGES) throw new Error(`at most ${MAX_STAGES} stages; these are ${parts.length}`);
  return parts.map((part, i) => {
    try {
      return parseStage(part, limits);
    } catch (error) {
      if (!(error instanceof GrammarError)) throw error;
      throw new Error(`stages such as rate=5:60s,concurrency=64:2m; stage ${i + 1}, ${error.message}`, {
        cause: error,
      });
    }
  });
}

function parseStage(written: string, limits: StageLimits): StagePlan {
  const start = written.length - written.trimStart().length;
  const text = written.trim();
  const wrong = (at: number, expected: string): GrammarError => new GrammarError(written, start + at, expected);
  const kind = /^(rate|concurrency)=/.exec(text);
  if (kind === null) throw wrong(0, 'rate= or concurrency=');
  const from = kind[0].length;
  const load = take(text, from, new RegExp(`${NUMBER}(?:\\.\\.${NUMBER})?`, 'y'));
  if (load === '') throw wrong(from, 'a number');
  const colon = from + load.length;
  if (text[colon] !== ':') throw wrong(colon, '":" and the duration of the stage');
  const time = take(text, colon + 1, new RegExp(NUMBER, 'y'));
  if (time === '') throw wrong(colon + 1, 'the duration of the stage, a number with its unit');
  const unitAt = colon + 1 + time.length;
  const unit = text.slice(unitAt);
  if (!isUnit(unit)) throw wrong(unitAt, `a unit of the duration, one of ${Object.keys(SECONDS_OF).join(', ')}`);
  const seconds = Number((Number(time) * SECONDS_OF[unit]).toPrecision(15));
  if (seconds < MIN_SECONDS || seconds > limits.mostSeconds)
    throw wrong(colon + 1, `a duration from ${MIN_SECONDS}s to ${limits.mostSeconds}s`);
  if (kind[1] === 'concurrency') {
    const concurrency = Number(load);
    if (!Number.isInteger(concurrency) || concurrency < 1 || concurrency > limits.mostConcurrency)
      throw wrong(from, `a whole number from 1 to ${limits.mostConcurrency}`);
    return { kind: 'concurrency', concurrency, seconds };
  }
  const [first = NaN, last = first] = load.split('..').map(Number);
  const { min, max } = limits.rate;
  const fits = (rate: number): boolean => rate >= min && rate <= max;
  const isRamp = first !== last;
  if (![first, last].every((rate) => fits(rate) || (isRamp && rate === 0)))
    throw wrong(from, `requests per second from ${min} to ${max}; a ramp may begin or end at 0`);
  return { kind: 'rate', from: first, to: last, seconds };
}

function take(text: string, at: number, pattern: RegExp): string {
  pattern.lastIndex = at;
  return pattern.exec(text)?.[0] ?? '';
}

const isUnit = (unit: string): unit is keyof typeof SECONDS_OF => Object.hasOwn(SECONDS_OF, unit);
