import { parseArgs, type ParseArgsConfig, type ParseArgsOptionsConfig } from 'node:util';

type Parsed<O extends ParseArgsOptionsConfig> = ReturnType<typeof parseArgs<{ options: O; allowPositionals: true }>>;

/** The command line of a script: its options by name, and its other words. */
export interface ScriptOptions<O extends ParseArgsOptionsConfig> {
  readonly usage: string;
  readonly options: O;
  /** By default those of the process. */
  readonly args?: ParseArgsConfig['args'];
}

/**
 * What `read` makes of the command line. For `--help`, prints the usage and ends the process; for an unknown option, or if
 * `read` throws, prints the reason with the usage and ends it with exit code 2.
 */
export function readScriptOptions<O extends ParseArgsOptionsConfig, T>(
  { usage, options, args = process.argv.slice(2) }: ScriptOptions<O>,
  read: (values: Parsed<O>['values'], positionals: readonly string[]) => T,
): T {
  if (args.includes('--help') || args.includes('-h')) {
    process.stdout.write(usage);
    process.exit(0);
  }
  try {
    const { values, positionals } = parseArgs({ args, options, allowPositionals: true });
    return read(values, positionals);
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n\n${usage}`);
    process.exit(2);
  }
}

/** The positional arguments by their names in the usage; none may be missing or left over. */
export function namedArguments<N extends string>(
  positionals: readonly string[],
  names: readonly N[],
): Record<N, string> {
  const missing = names.slice(positionals.length);
  if (missing.length > 0) throw new Error(`${missing.join(' and ')} ${missing.length === 1 ? 'is' : 'are'} required`);
  const rest = positionals.slice(names.length);
  if (rest.length > 0) throw new Error(`unexpected argument '${rest.join(' ')}'`);
  return Object.fromEntries(names.map((name, i) => [name, positionals[i]])) as Record<N, string>;
}

/** The whole number of an option, within its limits. */
export function wholeNumber(
  option: string,
  text: string,
  { min, max = Infinity }: { min: number; max?: number },
): number {
  const value = Number(text);
  if (text.trim() === '' || !Number.isInteger(value) || value < min || value > max) {
    throw new Error(
      `--${option} '${text}' must be a whole number ${max === Infinity ? `of at least ${min}` : `from ${min} to ${max}`}`,
    );
  }
  return value;
}
