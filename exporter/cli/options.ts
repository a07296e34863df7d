import { parseArgs } from 'node:util';
import { CliError } from './failure.ts';

/**
 * One option of a command, said once: the flag, the environment variable (`LLMBENCH_` + its name), the help text and the
 * check of its value all come from here.
 */
export interface Option<T> {
  readonly help: string;
  /** What stands for the value in the help, e.g. `N`; absent for switches. */
  readonly value?: string;
  readonly multiple?: boolean;
  /** Between the values in an environment variable; a comma unless told. */
  readonly separator?: string;
  /** Turns the texts given (one, or several with `multiple`) into the value; throws `Error` with what was expected. */
  readonly parse: (texts: readonly string[]) => T;
  /** What other benchmark tools call it: who gives such a flag is told ours. */
  readonly elsewhere?: readonly string[];
  /** The value when neither flag nor environment variable gives one. */
  readonly fallback: T;
}

export type Options = Readonly<Record<string, Option<unknown>>>;
export type Values<O extends Options> = { readonly [K in keyof O]: O[K] extends Option<infer T> ? T : never };

const last = (texts: readonly string[]): string => texts.at(-1) ?? '';

export function flag(help: string): Option<boolean> {
  return { help, parse: (texts) => last(texts) !== 'false' && last(texts) !== '0', fallback: false };
}

export function text<T extends string | null>(value: string, help: string, fallback: T): Option<string | T> {
  return { help, value, parse: last, fallback };
}

export function texts(value: string, help: string): Option<readonly string[]> {
  return { help, value, multiple: true, parse: (given) => given, fallback: [] };
}

export function choice<T extends string, F extends T | null>(
  allowed: readonly T[],
  help: string,
  fallback: F,
): Option<T | F> {
  const parse = (given: readonly string[]): T => {
    const found = allowed.find((candidate) => candidate === last(given));
    if (found === undefined) throw new Error(`one of ${allowed.join(', ')}`);
    return found;
  };
  return { help, value: allowed.join('|'), parse, fallback };
}

interface Range {
  readonly min: number;
  readonly max: number;
}

export function integer<T extends number | null>(help: string, range: Range, fallback: T): Option<number | T> {
  return { help, value: 'N', parse: (given) => inRange(last(given), range, true), fallback };
}

export function seconds<T extends number | null>(help: string, range: Range, fallback: T): Option<number | T> {
  return { help, value: 'SECONDS', parse: (given) => inRange(last(given), range, false), fallback };
}

/** One number, or several with commas between them: each makes a run of its own. */
export function numbers(
  value: string,
  help: string,
  range: Range & { readonly whole: boolean },
): Option<readonly number[] | null> {
  const parse = (given: readonly string[]): readonly number[] =>
    last(given)
      .split(',')
      .map((part) => inRange(part, range, range.whole));
  return { help, value: `${value}[,${value}…]`, parse, fallback: null };
}

function inRange(given: string, { min, max }: Range, whole: boolean): number {
  const number = given.trim() === '' ? NaN : Number(given);
  const fits = whole ? Number.isSafeInteger(number) : Number.isFinite(number);
  if (!fits || number < min || number > max) throw new Error(`a ${whole ? 'whole ' : ''}number from ${min} to ${max}`);
  return number;
}

/** Reads flags and environment. Every mistake is one line that names the flag, what was given and what is allowed. */
export function readOptions<O extends Options>(
  options: O,
  argv: readonly string[],
  environment: NodeJS.ProcessEnv,
  file: GivenValues = NOTHING_GIVEN,
): Values<O> {
  return readArguments(options, argv, environment, { name: '', most: 0 }, file).values;
}

/** Values of a file: the option's name, its texts, and what a message calls the place where they stand. */
export type GivenValues = ReadonlyMap<string, { readonly texts: readonly string[]; readonly source: string }>;

const NOTHING_GIVEN: GivenValues = new Map();

/** The options that flags or environment give a value. */
export function givenNames(options: Options, argv: readonly string[], environment: NodeJS.ProcessEnv): Set<string> {
  const { found } = readFlags(options, argv);
  const given = (name: string): boolean =>
    found[name] !== undefined || environment[environmentVariable(name)] !== undefined;
  return new Set(Object.keys(options).filter(given));
}

/** What stands without a flag, for commands that take such: its name in messages, and how many at most. */
export interface Positionals {
  readonly name: string;
  readonly most: number;
}

/** As `readOptions`, and up to `allowed.most` arguments without a flag; `--` makes all that follow such. */
export function readArguments<O extends Options>(
  options: O,
  argv: readonly string[],
  environment: NodeJS.ProcessEnv,
  allowed: Positionals,
  file: GivenValues = NOTHING_GIVEN,
): { readonly values: Values<O>; readonly positionals: readonly string[] } {
  const { found: given, positionals } = readFlags(options, argv);
  const surplus = positionals[allowed.most];
  if (surplus !== undefined) throw new CliError(surplusMessage(surplus, allowed));
  const values = Object.entries(options).map(([name, option]) => {
    const fromFlag = given[name];
    const variable = environmentVariable(name);
    const fromEnvironment = environment[variable];
    const fromFile = file.get(name);
    const elsewhere = fromEnvironment === undefined ? (fromFile?.source ?? '') : variable;
    const source = fromFlag === undefined ? elsewhere : `--${name}`;
    const raw =
      fromFlag ??
      (fromEnvironment === undefined
        ? fromFile?.texts
        : option.multiple
          ? fromEnvironment.split(option.separator ?? ',')
          : [fromEnvironment]);
    if (raw === undefined) return [name, option.fallback];
    try {
      return [name, option.parse(raw)];
    } catch (error) {
      throw new CliError(
        `${source} is '${option.multiple ? raw.join(',') : last(raw)}' and must be ${(error as Error).message}`,
      );
    }
  });
  return { values: Object.fromEntries(values) as Values<O>, positionals };
}

function surplusMessage(surplus: string, { name, most }: Positionals): string {
  if (most === 0) return `'${surplus}' is not understood: options begin with --`;
  return `'${surplus}' is one too many: at most ${most} ${name}`;
}

export const environmentVariable = (name: string): string => `LLMBENCH_${name.replaceAll('-', '_').toUpperCase()}`;

interface ReadFlags {
  readonly found: Readonly<Record<string, readonly string[] | undefined>>;
  readonly positionals: readonly string[];
}

function readFlags(options: Options, argv: readonly string[]): ReadFlags {
  const config = Object.fromEntries(
    Object.entries(options).map(([name, option]) => [
      name,
      { type: option.value === undefined ? ('boolean' as const) : ('string' as const), multiple: true },
    ]),
  );
  const { tokens } = parseArgs({
    args: [...argv],
    options: config,
    strict: false,
    tokens: true,
    allowPositionals: true,
  });
  const found: Record<string, string[]> = {};
  const positionals: string[] = [];
  for (const token of tokens) {
    if (token.kind === 'positional') positionals.push(token.value);
    if (token.kind !== 'option') continue;
    const option = Object.hasOwn(options, token.name) ? options[token.name] : undefined;
    if (option === undefined) throw new CliError(`${token.rawName} is not an option${meant(token.name, options)}`);
    if (
      option.value !== undefined &&
      (token.value === undefined || (!token.inlineValue && token.value.startsWith('--')))
    ) {
      throw new CliError(`${token.rawName} needs a value: ${token.rawName} ${option.value}`);
    }
    (found[token.name] ??= []).push(token.value ?? 'true');
  }
  return { found, positionals };
}

/** For a flag that there is not: one of the same meaning, one that is spelt alike, or one that has the word in it. */
function meant(name: string, options: Options): string {
  const known = Object.keys(options);
  const same = known.find((each) => options[each]?.elsewhere?.includes(name));
  const alike = same ?? nearestName(name, known) ?? known.find((each) => `-${each}-`.includes(`-${name}-`));
  return suggestion(alike ?? name, known);
}

/** What a mistyped name may have meant, to be put behind a message; `prefix` stands before names. */
export function suggestion(name: string, known: readonly string[], prefix = '--'): string {
  const nearest = nearestName(name, known);
  return nearest === null ? '; --help lists them' : `; did you mean ${prefix}${nearest}?`;
}

/** The name that a mistyped one may have meant; null when none is near. */
export function nearestName(name: string, known: readonly string[]): string | null {
  const [best] = known
    .map((candidate) => ({ candidate, distance: editDistance(name, candidate) }))
    .sort((a, b) => a.distance - b.distance);
  return best !== undefined && best.distance <= Math.max(2, name.length / 4) ? best.candidate : null;
}

/** Levenshtein distance. */
function editDistance(a: string, b: string): number {
  let previous = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const substitution = (previous[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      row.push(Math.min(substitution, (previous[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1));
    }
    previous = row;
  }
  return previous[b.length] ?? 0;
}
