import { parseArgs } from 'node:util';
import { nearestNames } from '../../../core/text/nearest-names.ts';
import { CliError } from '../failure.ts';

/** What an option needs beside it; one without effect is refused. */
export interface OptionRules {
  /**
   * What else has to be given, as the end of a message, such as `--concurrency or --request-rate`: one of the options that it
   * names, with their value if it names one. What follows a semicolon only explains.
   */
  readonly requires?: readonly string[];
  /** Options that it cannot be used with, and why; null: the two contradict each other. */
  readonly conflicts?: Readonly<Record<string, string | null>>;
}

/**
 * One option of a command, defined once: the flag, the environment variable (`LLMBENCH_` + its name), the help text, the check
 * of its value and its rules all come from here.
 */
export interface Option<T> extends OptionRules {
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
  readonly isList?: boolean;
  /** The value when neither flag nor environment variable gives one. */
  readonly fallback: T;
}

export type Options = Readonly<Record<string, Option<unknown>>>;
export type OptionValues<O extends Options> = { readonly [K in keyof O]: O[K] extends Option<infer T> ? T : never };

const last = (texts: readonly string[]): string => texts.at(-1) ?? '';

export function flag(help: string, rules: OptionRules = {}): Option<boolean> {
  return { ...rules, help, parse: (texts) => last(texts) !== 'false' && last(texts) !== '0', fallback: false };
}

export function text<T extends string | null>(
  value: string,
  help: string,
  fallback: T,
  rules: OptionRules = {},
): Option<string | T> {
  return { ...rules, help, value, parse: last, fallback };
}

export function texts(value: string, help: string): Option<readonly string[]> {
  return { help, value, multiple: true, parse: (given) => given, fallback: [] };
}

/** Takes several values in a row, as AIPerf's options do: `--formats json csv`. What begins with a dash ends them. */
export const list = <T>(option: Option<T>): Option<T> => ({ ...option, isList: true });

export function choice<T extends string, F extends T | null>(
  allowed: readonly T[],
  help: string,
  fallback: F,
  rules: OptionRules = {},
): Option<T | F> {
  const parse = (given: readonly string[]): T => {
    const found = allowed.find((candidate) => candidate === last(given));
    if (found === undefined) throw new Error(`one of ${allowed.join(', ')}`);
    return found;
  };
  return { ...rules, help, value: allowed.join('|'), parse, fallback };
}

interface Range {
  readonly min: number;
  readonly max: number;
}

export function integer<T extends number | null>(
  help: string,
  range: Range,
  fallback: T,
  rules: OptionRules = {},
): Option<number | T> {
  return { ...rules, help, value: 'N', parse: (given) => inRange(last(given), range, true), fallback };
}

export function number<T extends number | null>(
  value: string,
  help: string,
  range: Range,
  fallback: T,
  rules: OptionRules = {},
): Option<number | T> {
  return { ...rules, help, value, parse: (given) => inRange(last(given), range, false), fallback };
}

export function seconds<T extends number | null>(
  help: string,
  range: Range,
  fallback: T,
  rules?: OptionRules,
): Option<number | T> {
  return number('SECONDS', help, range, fallback, rules);
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
  rules: OptionRules = {},
): Option<readonly number[] | null> {
  const parse = (given: readonly string[]): readonly number[] =>
    last(given)
      .split(',')
      .map((part) => (range.infinite && part.trim() === 'inf' ? Infinity : inRange(part, range, range.whole)));
  return { ...rules, help, value: `${value}[,${value}…]`, parse, fallback: null };
}

function inRange(given: string, { min, max }: Range, whole: boolean): number {
  const number = given.trim() === '' ? NaN : Number(given);
  const fits = whole ? Number.isSafeInteger(number) : Number.isFinite(number);
  if (!fits || number < min || number > max) throw new Error(`a ${whole ? 'whole ' : ''}number from ${min} to ${max}`);
  return number;
}

/** Values by the name of their option. */
export type GivenValues = ReadonlyMap<string, GivenValue>;

interface GivenValue {
  readonly texts: readonly string[];
  /** The place that a message names: `--url`, `LLMBENCH_URL`, `chat.yaml: url`. */
  readonly source: string;
}

/** The arguments of a command, not parsed yet. */
export interface GivenArguments {
  readonly values: GivenValues;
  readonly positionals: readonly string[];
  /** What is wrong with the arguments themselves, one line each. */
  readonly mistakes: readonly string[];
}

/** Positional arguments of a command: their name in messages, and how many at most. */
export interface Positionals {
  readonly name: string;
  readonly max: number;
}

const NO_POSITIONALS: Positionals = { name: '', max: 0 };

/** Names of options that a command does not have and users of other programs expect. */
export interface ForeignNames {
  /** What to use instead of a flag (with its dashes) and its value, beside all the given ones; null: it is not known. */
  answer(flag: string, value: string | null, given: readonly string[]): string | null;
}

const NO_FOREIGN_NAMES: ForeignNames = { answer: () => null };

/**
 * Reads flags and environment. Every mistake is one line that names the flag, what was given and what is allowed; all of
 * them are reported together.
 */
export function readOptions<O extends Options>(
  options: O,
  argv: readonly string[],
  environment: NodeJS.ProcessEnv,
): OptionValues<O> {
  return valuesOf(options, givenArguments(options, argv, environment));
}

/** Flags that a command does not have. */
export function unknownFlags(options: Options, argv: readonly string[]): readonly string[] {
  return tokensOf(options, argv).flatMap((token) =>
    token.kind === 'option' && isUnknown(options, token.name) ? [token.rawName] : [],
  );
}

/**
 * What flags give, else the environment, and up to `allowed.max` arguments without a flag; `--` makes all that follow such.
 */
export function givenArguments(
  options: Options,
  argv: readonly string[],
  environment: NodeJS.ProcessEnv,
  allowed: Positionals = NO_POSITIONALS,
  foreign: ForeignNames = NO_FOREIGN_NAMES,
): GivenArguments {
  const { found, positionals, mistakes } = readFlags(options, argv, foreign);
  const surplus = positionals[allowed.max];
  const values = Object.entries(options).flatMap(([name, option]): [string, GivenValue][] => {
    const variable = environmentVariable(name);
    const [fromFlag, fromEnvironment] = [found[name], environment[variable]];
    if (fromFlag !== undefined) return [[name, { texts: fromFlag, source: `--${name}` }]];
    if (fromEnvironment === undefined) return [];
    const texts = option.multiple ? fromEnvironment.split(option.separator ?? ',') : [fromEnvironment];
    return [[name, { texts, source: variable }]];
  });
  return {
    values: new Map(values),
    positionals,
    mistakes: surplus === undefined ? mistakes : [...mistakes, surplusMessage(surplus, allowed)],
  };
}

/** With the values of a file, where neither flag nor environment gives one. */
export const withFile = (given: GivenArguments, file: GivenValues): GivenArguments => ({
  ...given,
  values: new Map([...file, ...given.values]),
});

/** The values of all options. Throws a `CliError` with all mistakes, or else with all broken rules. */
export function valuesOf<O extends Options>(options: O, given: GivenArguments): OptionValues<O> {
  const values = parsedValues(options, given);
  refuseBrokenRules(options, values);
  return values;
}

/** The same without the rules, which values from elsewhere may yet meet. Throws a `CliError`. */
export function parsedValues<O extends Options>(options: O, given: GivenArguments): OptionValues<O> {
  const mistakes = [...given.mistakes];
  const values = Object.entries(options).map(([name, option]) => {
    const found = given.values.get(name);
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
  return Object.fromEntries(values) as OptionValues<O>;
}

/** Conflicts come first: what they concern does not have to be complete. */
function refuseBrokenRules(options: Options, values: OptionValues<Options>): void {
  const isSet = (name: string): boolean => hasEffect(options[name], values[name]);
  const set = Object.entries(options).filter(([name]) => isSet(name));
  refuse(
    set.flatMap(([name, { conflicts = {} }]) =>
      Object.entries(conflicts).flatMap(([other, why]) => {
        if (!isSet(other)) return [];
        if (why === null) return [`--${name} and --${other} cannot be used together`];
        return [`--${other} cannot be used with --${name}: ${why}`];
      }),
    ),
  );
  refuse(
    set.flatMap(([name, { requires = [] }]) =>
      requires.filter((text) => !isMet(text, options, values)).map((text) => `--${name} requires ${text}`),
    ),
  );
}

/** Whether an option changes anything: it has a value, and not its default. */
function hasEffect(option: Option<unknown> | undefined, value: unknown): boolean {
  const isOff = value === undefined || value === null || value === false || value === 0;
  return !isOff && value !== option?.fallback && !(Array.isArray(value) && value.length === 0);
}

/** A requirement is met by one of the options that it names before any explanation, with the value that follows the name if it is a choice. */
function isMet(text: string, options: Options, values: OptionValues<Options>): boolean {
  const [names = ''] = text.split(';');
  return [...names.matchAll(/--([a-z0-9-]+)(?: ([\w-]+))?/g)].some(([, name = '', word = '']) => {
    const option = options[name];
    const isChoice = option?.value?.split('|').includes(word) === true;
    return isChoice ? values[name] === word : hasEffect(option, values[name]);
  });
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

function surplusMessage(surplus: string, { name, max }: Positionals): string {
  if (max === 0) return `unexpected argument '${surplus}': options begin with --`;
  return `unexpected argument '${surplus}': at most ${max} ${name}`;
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
  const found = Object.create(null) as Record<string, string[]>;
  const positionals: string[] = [];
  const mistakes: string[] = [];
  const given = tokens.flatMap((token) => (token.kind === 'option' ? [token.rawName] : []));
  const answer = (flag: string, value: string | null): string | null => foreign.answer(flag, value, given);
  /** The values of the option that takes the words that follow. */
  let list: string[] | null = null;
  for (const [i, token] of tokens.entries()) {
    const previous = tokens[i - 1];
    // What follows an unknown flag is probably its value.
    const isUnknownsValue = previous?.kind === 'option' && isUnknown(options, previous.name) && !previous.inlineValue;
    if (token.kind === 'positional') {
      if (!isUnknownsValue) (list ?? positionals).push(token.value);
      continue;
    }
    list = null;
    if (token.kind !== 'option') continue;
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
    } else {
      const texts = (found[token.name] ??= []);
      texts.push(token.value ?? 'true');
      if (option.isList && !token.inlineValue) list = texts;
    }
  }
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
