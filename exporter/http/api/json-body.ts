import express from 'express';
import type { Request, RequestHandler } from 'express';
import { Problem, wrongParameters } from '../problem.ts';
import type { WrongParameter } from '../../../core/api/service.ts';

/** A thousand run ids and a reason are shorter. */
const MAX_BYTES = 128 * 1024;

/** Unknown members that a response names. */
const MAX_UNKNOWN = 20;
const MAX_SHOWN = 100;

/** Reads the body of a request as JSON. */
export const jsonBody: RequestHandler = express.json({ limit: MAX_BYTES, strict: true });

/** A member of a body. */
export interface Member<T> {
  /** The values, or a rule in words. */
  readonly allowed: readonly string[];
  /** Null: the value is not allowed. */
  readonly parse: (value: unknown) => T | null;
  /** The value of a member that is not given; absent: it is required. */
  readonly fallback?: T;
}

type Members = Readonly<Record<string, Member<unknown>>>;
type ValuesOf<M extends Members> = { readonly [K in keyof M]: M[K] extends Member<infer T> ? T : never };

/** The members of a JSON object. Throws a `Problem` that lists every one that is wrong. */
export function readBody<M extends Members>(request: Request, members: M): ValuesOf<M> {
  const body: unknown = request.body;
  if (request.is('application/json') === false) throw new Problem(415, 'the body must be of type application/json');
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    throw new Problem(400, 'the body must be a JSON object');
  }
  const given = body as Readonly<Record<string, unknown>>;
  const known = Object.keys(members);
  const unknown = Object.keys(given)
    .filter((name) => !known.includes(name))
    .slice(0, MAX_UNKNOWN);
  const wrong: WrongParameter[] = unknown.map((name) => ({ name, value: shown(given[name]), allowed: known }));
  const values = Object.entries(members).map(([name, { allowed, parse, fallback }]) => {
    const isGiven = given[name] !== undefined;
    const value = isGiven ? parse(given[name]) : (fallback ?? null);
    if (value === null) wrong.push({ name, value: isGiven ? shown(given[name]) : null, allowed });
    return [name, value];
  });
  if (wrong.length > 0) throw wrongParameters(wrong, new Set(unknown));
  return Object.fromEntries(values) as ValuesOf<M>;
}

/** A text that is not blank. */
export const textUpTo = (longest: number): Member<string> => ({
  allowed: [`a text of 1 to ${longest} characters`],
  parse: (value) => (typeof value === 'string' && value.trim() !== '' && value.length <= longest ? value.trim() : null),
});

/** A value of the client in a message, cut short. */
function shown(value: unknown): string {
  if (typeof value === 'string') return value.slice(0, MAX_SHOWN);
  try {
    return JSON.stringify(value).slice(0, MAX_SHOWN);
  } catch {
    return 'a value nested too deeply';
  }
}
