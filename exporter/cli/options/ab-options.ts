import { nearestNames } from '../../../core/text/nearest-names.ts';
import { CliError } from '../failure.ts';
import { readOptions, type Options, type OptionValues } from './options.ts';
import { RUN_OPTIONS } from './run-options.ts';

/** The command line of `ab`, taken apart: its own options, those of every run, and those of one side. */
export interface AbArguments<O extends Options> {
  readonly own: OptionValues<O>;
  /** Options of `llmbench run` for both sides, as they were given. */
  readonly shared: readonly string[];
  readonly a: readonly string[];
  readonly b: readonly string[];
}

/** Options of `run` that `ab` decides itself, with what to use instead. */
const DECIDED: Readonly<Record<string, string>> = {
  url: 'use --a and --b',
  'run-id': 'use --id',
  'prompt-variant': 'each pair sends its own texts',
  'num-profile-runs': 'use --pairs',
  check: 'ab compares the runs itself',
  'accept-passed': 'a comparison changes no baseline',
  confirm: 'use --pairs',
  shard: 'a shard cannot be compared',
  'same-prompts': 'each pair sends its own texts',
  find: 'a search has one server',
};

/**
 * Takes the arguments apart: flags of `options` are the command's own, `--a-NAME value` and `--b-NAME value` are options of
 * `run` for one side, and everything else goes to every run. Throws a `CliError`.
 */
export function readAbArguments<O extends Options>(
  options: O,
  argv: readonly string[],
  environment: NodeJS.ProcessEnv,
): AbArguments<O> {
  const own: string[] = [];
  const shared: string[] = [];
  const sides = { a: [] as string[], b: [] as string[] };
  for (let i = 0; i < argv.length; i++) {
    const argument = argv[i] ?? '';
    const [, name = '', inline] = /^--([^=]+)(=.*)?$/s.exec(argument) ?? [];
    const [, side, sideName = ''] = /^(a|b)-(.+)$/.exec(name) ?? [];
    const takesValue = (known: Options, key: string): boolean =>
      known[key]?.value !== undefined && inline === undefined;
    if (Object.hasOwn(options, name)) {
      own.push(argument, ...(takesValue(options, name) ? argv.slice(++i, i + 1) : []));
    } else if (side !== undefined) {
      refuseDecided(sideName);
      if (!Object.hasOwn(RUN_OPTIONS, sideName))
        throw new CliError(`${argument} is not an option${similar(side, sideName)}`);
      const value = takesValue(RUN_OPTIONS, sideName) ? argv.slice(++i, i + 1) : [];
      sides[side === 'a' ? 'a' : 'b'].push(`--${sideName}${inline ?? ''}`, ...value);
    } else {
      refuseDecided(name);
      shared.push(argument);
    }
  }
  return { own: readOptions(options, own, environment), shared, ...sides };
}

function refuseDecided(name: string): void {
  const instead = Object.hasOwn(DECIDED, name) ? DECIDED[name] : undefined;
  if (instead !== undefined) throw new CliError(`--${name} cannot be used with ab: ${instead}`);
}

function similar(side: string, name: string): string {
  const [nearest] = nearestNames(name, Object.keys(RUN_OPTIONS), 1);
  return nearest === undefined
    ? '; `llmbench run --help-all` lists what may follow'
    : `; did you mean --${side}-${nearest}?`;
}

/** The arguments of a command that continues a comparison to this number of pairs. */
export function continuingArguments(argv: readonly string[], id: string, pairs: number): readonly string[] {
  const others = argv.filter((argument, i) => !/^--(id|pairs)(=|$)/.test(argument) && !isValueOf(argv[i - 1]));
  return [...others, '--pairs', String(pairs), '--id', id];
}

const isValueOf = (previous: string | undefined): boolean => previous === '--id' || previous === '--pairs';
