import { parseArgs } from 'node:util';
import { nearestNames } from '../../../core/text/nearest-names.ts';
import { CliError } from '../failure.ts';

/**
 * One option of a command, defined once: the flag, the environment variable (`LLMBENCH_` + its name), the help text and the
 * check of its value all come from here.
 */
export interface Option<T> {
  readonly help: string;
  /** The placeholder of the value in the help, e.g. `N`; absent for switches. */
  readonly value?: string;
  readonly multiple?: boolean;
  /** Between the values in an environment variable; default: a comma. */
  readonly separator?: string;
  /** Parses the given texts (one, or several with `multiple`). Throws an `Error` that says what is expected. */
  readonly parse: (texts: readonly string[]) => T;
  /** Keys of a value that is a map in a scenario file; `parse` gets such a value as JSON of keys and texts. */
  readonly fields?: readonly string[];
  /** The value when neither flag nor environment variable gives one. */
  readonly fallback: T;
}

export type Options = Readonly<Record<string, Option<unknown>>>;
export type OptionValues<O extends Options> = { readonly [K in keyof O]: O[K] extends Option<infer T> ? T : never };

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

export function number<T extends number | null>(
  value: string,
  help: string,
  range: Range,
  fallback: T,
): Option<number | T> {
  return { help, value, parse: (given) => inRange(last(given), range, false), fallback };
}

export function seconds<T extends number | null>(help: string, range: Range, fallback: T): Option<number | T> {
  return number('SECONDS', help, range, fallback);
}

export function milliseconds<T extends number | null>(help: string, range: Range, fallback: T): Option<number | T> {
  return number('MS', help, range, fallback);
}

/** A part of a whole, from 0 to 1. */
export function ratio<T extends number | null>(help: string, fallback: T): Option<number | T> {
  return number('RATIO', help, { min: 0, max: 1 }, fallback);
}

export function percent<T extends number | null>(help: string, fallback: T): Option<number | T> {
  return number('PERCENT', help, { min: 0, max: 100 }, fallback);
}

/** One number, or several with commas between them: each is a run of its own. */
export function numbers(
  value: string,
  help: string,
  range: Range & { readonly whole: boolean; readonly infinite?: boolean },
): Option<readonly number[] | null> {
  const parse = (given: readonly string[]): readonly number[] =>
    last(given)
      .split(',')
      .map((part) => (range.infinite && part.trim() === 'inf' ? Infinity : inRange(part, range, range.whole)));
  return { help, value: `${value}[,${value}…]`, parse, fallback: null };
}

function inRange(given: string, { min, max }: Range, whole: boolean): number {
  const number = given.trim() === '' ? NaN : Number(given);
  const fits = whole ? Number.isSafeInteger(number) : Number.isFinite(number);
  if (!fits || number < min || number > max) throw new Error(`a ${whole ? 'whole ' : ''}number from ${min} to ${max}`);
  return number;
}

/**
 * Reads flags and environment. Every mistake is one line that names the flag, what was given and what is allowed; all of
 * them are reported together.
 */
export function readOptions<O extends Options>(
  options: O,
  argv: readonly string[],
  environment: NodeJS.ProcessEnv,
  file: GivenValues = NOTHING_GIVEN,
  foreign: ForeignNames = NO_FOREIGN_NAMES,
): OptionValues<O> {
  return readArguments(options, argv, environment, { name: '', most: 0 }, file, foreign).values;
}

/** Names of options that a command does not have and users of other programs expect. */
export interface ForeignNames {
  /** What to use instead of a flag (with its dashes) and its value, beside all the given ones; null: it is not known. */
  answer(flag: string, value: string | null, given: readonly string[]): string | null;
}

const NO_FOREIGN_NAMES: ForeignNames = { answer: () => null };

/** Values of a file: the option's name, its texts, and the place in the file for messages. */
export type GivenValues = ReadonlyMap<string, { readonly texts: readonly string[]; readonly source: string }>;

const NOTHING_GIVEN: GivenValues = new Map();

/** The options that flags or the environment set. */
export function givenNames(options: Options, argv: readonly string[], environment: NodeJS.ProcessEnv): Set<string> {
  const { found } = readFlags(options, argv, NO_FOREIGN_NAMES);
  const given = (name: string): boolean =>
    found[name] !== undefined || environment[environmentVariable(name)] !== undefined;
  return new Set(Object.keys(options).filter(given));
}

/** Positional arguments of a command: their name in messages, and how many at most. */
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
  foreign: ForeignNames = NO_FOREIGN_NAMES,
): { readonly values: OptionValues<O>; readonly positionals: readonly string[] } {
  const { found: given, positionals, mistakes } = readFlags(options, argv, foreign);
  const surplus = positionals[allowed.most];
  if (surplus !== undefined) mistakes.push(surplusMessage(surplus, allowed));
  const set = setValues(options, given, environment, file);
  const values = Object.entries(options).map(([name, option]) => {
    const found = set.get(name);
    if (found === undefined) return [name, option.fallback];
    try {
      return [name, option.parse(found.texts)];
    } catch (error) {
      const text = option.multiple ? shown(option, found.texts) : last(found.texts);
      mistakes.push(`${found.source} is '${text}' and must be ${(error as Error).message}`);
      return [name, option.fallback];
    }
  });
  refuse(mistakes);
  return { values: Object.fromEntries(values) as OptionValues<O>, positionals };
}

function refuse(mistakes: readonly string[]): void {
  const [only] = mistakes;
  if (only === undefined) return;
  const several = `${mistakes.length} arguments are wrong:\n${mistakes.map((line) => `  ${line}`).join('\n')}`;
  throw new CliError(mistakes.length === 1 ? only : several);
}

/** A value with fields may contain a secret. */
const shown = ({ fields }: Option<unknown>, given: readonly string[]): string =>
  given.map((text) => (fields !== undefined && text.startsWith('{') ? '{…}' : text)).join(',');

/** The texts of the options that are set: by a flag, else by the environment, else by the file. */
export function givenValues(
  options: Options,
  argv: readonly string[],
  environment: NodeJS.ProcessEnv,
  file: GivenValues = NOTHING_GIVEN,
): GivenValues {
  return setValues(options, readFlags(options, argv, NO_FOREIGN_NAMES).found, environment, file);
}

function setValues(
  options: Options,
  flags: ReadFlags['found'],
  environment: NodeJS.ProcessEnv,
  file: GivenValues,
): GivenValues {
  const set = Object.entries(options).flatMap(([name, option]) => {
    const variable = environmentVariable(name);
    const [fromFlag, fromEnvironment, fromFile] = [flags[name], environment[variable], file.get(name)];
    if (fromFlag !== undefined) return [[name, { texts: fromFlag, source: `--${name}` }] as const];
    if (fromEnvironment === undefined) return fromFile === undefined ? [] : [[name, fromFile] as const];
    const texts = option.multiple ? fromEnvironment.split(option.separator ?? ',') : [fromEnvironment];
    return [[name, { texts, source: variable }] as const];
  });
  return new Map(set);
}

function surplusMessage(surplus: string, { name, most }: Positionals): string {
  if (most === 0) return `unexpected argument '${surplus}': options begin with --`;
  return `unexpected argument '${surplus}': at most ${most} ${name}`;
}

export const environmentVariable = (name: string): string => `LLMBENCH_${name.replaceAll('-', '_').toUpperCase()}`;

interface ReadFlags {
  readonly found: Readonly<Record<string, readonly string[] | undefined>>;
  readonly positionals: readonly string[];
  /** One line each. */
  readonly mistakes: string[];
}

function readFlags(options: Options, argv: readonly string[], foreign: ForeignNames): ReadFlags {
  const tokens = tokensOf(options, argv);
  const found: Record<string, string[]> = {};
  const positionals: string[] = [];
  const mistakes: string[] = [];
  const given = tokens.flatMap((token) => (token.kind === 'option' ? [token.rawName] : []));
  const answer = (flag: string, value: string | null): string | null => foreign.answer(flag, value, given);
  tokens.forEach((token, i) => {
    const previous = tokens[i - 1];
    // What follows an unknown flag is probably its value.
    const isUnknownsValue = previous?.kind === 'option' && isUnknown(options, previous.name) && !previous.inlineValue;
    if (token.kind === 'positional' && !isUnknownsValue) positionals.push(token.value);
    if (token.kind !== 'option') return;
    const option = isUnknown(options, token.name) ? undefined : options[token.name];
    if (option === undefined) {
      const next = tokens[i + 1];
      const value = token.value ?? (next?.kind === 'positional' ? next.value : null);
      mistakes.push(`${token.rawName} is not an option; ${answer(token.rawName, value) ?? meant(token.name, options)}`);
    } else if (
      option.value !== undefined &&
      (token.value === undefined || (!token.inlineValue && token.value.startsWith('--')))
    ) {
      mistakes.push(`${token.rawName} requires a value: ${token.rawName} ${option.value}`);
    } else (found[token.name] ??= []).push(token.value ?? 'true');
  });
  return { found, positionals, mistakes };
}

const isUnknown = (options: Options, name: string): boolean => !Object.hasOwn(options, name);

function tokensOf(options: Options, argv: readonly string[]) {
  const config = Object.fromEntries(
    Object.entries(options).map(([name, option]) => [
      name,
      { type: option.value === undefined ? ('boolean' as const) : ('string' as const), multiple: true },
    ]),
  );
  return parseArgs({ args: [...argv], options: config, strict: false, tokens: true, allowPositionals: true }).tokens;
}

/** For an unknown flag: an option with a similar name, or one that contains the word. */
function meant(name: string, options: Options): string {
  const known = Object.keys(options);
  const alike = nearestNames(name, known, 1)[0] ?? known.find((each) => `-${each}-`.includes(`-${name}-`));
  return suggestion(alike ?? name, known).replace(/^; /, '');
}

/** The end of a message about an unknown name: the name that is most like it; `prefix` stands before names. */
export function suggestion(name: string, known: readonly string[], prefix = '--'): string {
  const [nearest] = nearestNames(name, known, 1);
  return nearest === undefined ? '; --help lists them' : `; did you mean ${prefix}${nearest}?`;
}
