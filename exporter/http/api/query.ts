import type { Request } from 'express';
import type { WrongParameter } from '../../../core/api/service.ts';
import { parseRules, type RuleChoices, RuleError } from '../../judge/rules.ts';
import { wrongParameters } from '../problem.ts';

/** A query parameter: the check of its value and its documentation. */
export interface Parameter<T> {
  /** The parsed value of the given strings (at least one); null if they are not allowed. */
  readonly parse: (texts: readonly string[]) => T | null;
  /** The values, or a rule in words. */
  readonly allowed: readonly string[];
  /** The default value; `undefined` if the parameter is required. */
  readonly fallback: T | undefined;
}

export type Parameters = Readonly<Record<string, Parameter<unknown>>>;
export type Query<P extends Parameters> = { readonly [K in keyof P]: P[K] extends Parameter<infer T> ? T : never };

const MAX_LIST = 1000;

/** Any number of strings; default none. */
export function texts(): Parameter<readonly string[]> {
  return {
    parse: (given) => (given.length > MAX_LIST ? null : given),
    allowed: [`up to ${MAX_LIST} strings`],
    fallback: [],
  };
}

const MAX_SHORT_TEXT = 200;

/** Strings of limited length, at most as many as a person would write; default none. */
export function shortTexts(): Parameter<readonly string[]> {
  const [most, length] = [50, MAX_SHORT_TEXT];
  return {
    parse: (given) => (given.length > most || given.some((each) => each.length > length) ? null : given),
    allowed: [`up to ${most} strings of at most ${length} characters`],
    fallback: [],
  };
}

/** Selectors of runs, as of `llmbench compare`; required. */
export function selectors(): Parameter<readonly string[]> {
  const allowed = 'run ids, unique prefixes, latest, scenario:NAME, tag:TAG or last:N, combined with +';
  const fits = (given: string): boolean => given.trim() !== '' && given.length <= 10_000;
  return {
    parse: (given) => (given.length <= MAX_LIST && given.every(fits) ? given : null),
    allowed: [allowed],
    fallback: undefined,
  };
}

/** Any number of these values, repeated or comma-separated; default none. */
export function choices<T extends string>(values: readonly T[]): Parameter<readonly T[]> {
  return {
    parse(given) {
      const parts = given.flatMap((text) => text.split(','));
      const found = parts.flatMap((part) => values.find((value) => value === part) ?? []);
      return found.length === parts.length ? [...new Set(found)] : null;
    },
    allowed: values,
    fallback: [],
  };
}

/** One of these values. */
export function choice<T extends string, F extends T | null | undefined>(
  values: readonly T[],
  fallback: F,
): Parameter<T | Exclude<F, undefined>> {
  return {
    parse: single((text) => values.find((value) => value === text) ?? null),
    allowed: values,
    fallback: fallback as Exclude<F, undefined> | undefined,
  };
}

export function integer<F extends number | null>(min: number, max: number, fallback: F): Parameter<number | F> {
  return {
    parse: single((text) => {
      const value = /^\d{1,15}$/.test(text) ? Number(text) : NaN;
      return value >= min && value <= max ? value : null;
    }),
    allowed: [`a whole number from ${min} to ${max}`],
    fallback,
  };
}

/** One string. */
export function text(maxLength: number): Parameter<string> {
  return {
    parse: single((given) => (given.length > maxLength ? null : given)),
    allowed: [`a string of at most ${maxLength} characters`],
    fallback: '',
  };
}

const RFC_3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/i;
const LATEST_MS = 8.64e15;

/** An instant as milliseconds since 1970; default null. */
export function moment(): Parameter<number | null> {
  return {
    parse: single((given) => {
      const value = /^\d{1,16}$/.test(given) ? Number(given) : RFC_3339.test(given) ? Date.parse(given) : NaN;
      return Number.isFinite(value) && value <= LATEST_MS ? value : null;
    }),
    allowed: ['RFC 3339, as 2026-01-31T09:30:00Z', 'milliseconds since 1970'],
    fallback: null,
  };
}

/** Run ids; default none. */
export function runIds(): Parameter<readonly string[]> {
  return {
    parse: (given) => (given.length <= MAX_LIST && given.every((id) => /^[0-9A-Za-z-]{1,64}$/.test(id)) ? given : null),
    allowed: [`up to ${MAX_LIST} run ids of 1 to 64 characters [0-9A-Za-z-]`],
    fallback: [],
  };
}

/** The parameters of a request. Throws a `Problem` that lists every invalid or unknown one. */
export function readQuery<P extends Parameters>(request: Request, parameters: P): Query<P> {
  const given = new URLSearchParams(request.originalUrl.split('?').slice(1).join('?'));
  const known = Object.keys(parameters);
  const unknown = new Set([...given.keys()].filter((name) => !known.includes(name)));
  const wrong: WrongParameter[] = [...unknown].map((name) => ({ name, value: given.get(name), allowed: known }));
  const values = Object.entries(parameters).map(([name, { parse, allowed, fallback }]) => {
    const found = given.getAll(name);
    const value = found.length === 0 ? fallback : parse(found);
    if (value === undefined || (value === null && found.length > 0)) {
      wrong.push({ name, value: found.length === 0 ? null : found.join(','), allowed });
    }
    return [name, value];
  });
  if (wrong.length > 0) throw wrongParameters(wrong, unknown);
  return Object.fromEntries(values) as Query<P>;
}

function single<T>(parse: (text: string) => T | null): (texts: readonly string[]) => T | null {
  return (given) => (given.length === 1 ? parse(given[0] ?? '') : null);
}

/** The rules in the parameters `gate` and `margin`. Throws a `Problem` 400. */
export function requestedRules(texts: {
  readonly gate: readonly string[];
  readonly margin: readonly string[];
}): RuleChoices {
  try {
    return parseRules(texts);
  } catch (error) {
    if (!(error instanceof RuleError)) throw error;
    const { parameter: name, given: value, expected } = error;
    throw wrongParameters([{ name, value, allowed: [expected] }]);
  }
}
