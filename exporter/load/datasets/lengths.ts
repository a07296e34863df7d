import { drawNormal, type Random } from '../../../core/stats/seeded-random.ts';
import { ConfigurationError } from '../../errors/expected-error.ts';
import { isObject } from '../endpoints/endpoint.ts';

/** Lengths of one request in tokens. */
export interface Lengths {
  readonly input: number;
  readonly output: number;
}

/** A normal distribution of integers from 1; without a standard deviation always the mean. */
export interface LengthSpread {
  readonly mean: number;
  readonly stddev: number;
}

export interface LengthPair {
  readonly input: LengthSpread;
  readonly output: LengthSpread;
}

/** Several pairs, each with its share of the requests; the shares add up to 1. */
export interface WeightedPair extends LengthPair {
  readonly share: number;
}

/** Draws the lengths of the next request: first the pair, then input and output. */
export function drawLengths(pairs: readonly WeightedPair[], random: Random): Lengths {
  let left = random();
  const pair = pairs.find(({ share }) => (left -= share) < 0) ?? pairs.at(-1);
  if (pair === undefined) throw new RangeError('no lengths to draw from');
  return { input: drawLength(pair.input, random), output: drawLength(pair.output, random) };
}

/** The lengths that every request has; null when they are random. */
export function onlyLengths(pairs: readonly WeightedPair[]): Lengths | null {
  const hasSpread = pairs.some(({ input, output }) => input.stddev > 0 || output.stddev > 0);
  return pairs.length === 1 && !hasSpread ? drawLengths(pairs, () => 0) : null;
}

export function drawLength({ mean, stddev }: LengthSpread, random: Random): number {
  return Math.max(1, Math.round(drawNormal(mean, stddev, random)));
}

const MAX_TOKENS = 1e7;

/**
 * Reads `--seq-dist` in AIPerf's three forms: `ISL|STDDEV,OSL|STDDEV:PERCENT;…`, `[(ISL,OSL):PERCENT,…]` and `{"pairs":
 * [{"isl", "isl_stddev", "osl", "osl_stddev", "prob"}, …]}`; standard deviations are optional. The percentages must add
 * up to 100. Throws a `ConfigurationError`.
 */
export function parseSequenceDistribution(text: string): readonly WeightedPair[] {
  const trimmed = text.trim();
  const pairs = trimmed.startsWith('{')
    ? jsonPairs(trimmed)
    : trimmed.startsWith('[')
      ? bracketPairs(trimmed)
      : semicolonPairs(trimmed);
  const sum = pairs.reduce((total, pair) => total + pair.share, 0);
  if (Math.abs(sum - 1) > 1e-6) refuse(text, `the percentages add up to ${Number((sum * 100).toFixed(4))}, not to 100`);
  return pairs;
}

function semicolonPairs(text: string): WeightedPair[] {
  return text
    .split(';')
    .filter((part) => part.trim() !== '')
    .map((part) => pairOf(part.trim(), text));
}

function bracketPairs(text: string): WeightedPair[] {
  if (!text.endsWith(']')) refuse(text, 'the closing ] is missing');
  const parts = text.slice(1, -1).split(/,\s*(?=\()/);
  return parts.map((part) => {
    const match = /^\(([^()]*)\)\s*:\s*([^:]*)$/.exec(part.trim());
    if (match === null) refuse(text, `'${part.trim()}' must be (ISL,OSL):PERCENT`);
    return pairOf(`${match[1] ?? ''}:${match[2] ?? ''}`, text);
  });
}

function pairOf(part: string, text: string): WeightedPair {
  const match = /^([^,|:]+)(?:\|([^,|:]+))?,([^,|:]+)(?:\|([^,|:]+))?:([^:]+)$/.exec(part);
  if (match === null) refuse(text, `'${part}' must be ISL,OSL:PERCENT or ISL|STDDEV,OSL|STDDEV:PERCENT`);
  const [, isl, islStddev, osl, oslStddev, percent] = match.map((given) =>
    given === undefined ? undefined : toNumber(given),
  );
  return weighted({ isl, isl_stddev: islStddev, osl, osl_stddev: oslStddev, prob: percent }, text);
}

/** `Number` converts an empty string to 0. */
const toNumber = (given: string): number => (given.trim() === '' ? NaN : Number(given));

const PAIR_KEYS = ['isl', 'isl_stddev', 'osl', 'osl_stddev', 'prob'];

function jsonPairs(text: string): WeightedPair[] {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) refuse(text, 'it begins with { and is not valid JSON');
    throw error;
  }
  const pairs = isObject(json) ? json.pairs : null;
  if (!Array.isArray(pairs)) refuse(text, 'the list pairs is missing');
  return (pairs as unknown[]).map((pair) => {
    if (!isObject(pair)) refuse(text, `${JSON.stringify(pair)} must be an object`);
    const unknown = Object.keys(pair).find((key) => !PAIR_KEYS.includes(key));
    if (unknown !== undefined) refuse(text, `unknown key ${unknown}; allowed are ${PAIR_KEYS.join(', ')}`);
    return weighted(pair, text);
  });
}

function weighted(given: Readonly<Record<string, unknown>>, text: string): WeightedPair {
  const number = (key: string, least: number, most: number, fallback?: number): number => {
    const value = given[key] ?? fallback;
    if (typeof value === 'number' && value >= least && value <= most) return value;
    const wrong = value === undefined || Number.isNaN(value) ? 'not a number' : JSON.stringify(value);
    return refuse(text, `${key} is ${wrong} and must be a number from ${least} to ${most}`);
  };
  return {
    input: { mean: number('isl', 1, MAX_TOKENS), stddev: number('isl_stddev', 0, MAX_TOKENS, 0) },
    output: { mean: number('osl', 1, MAX_TOKENS), stddev: number('osl_stddev', 0, MAX_TOKENS, 0) },
    share: number('prob', 0, 100) / 100,
  };
}

function refuse(text: string, problem: string): never {
  throw new ConfigurationError(`--seq-dist '${text}': ${problem}`);
}
