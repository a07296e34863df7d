import { GROUP_OPTIONS } from '../cli/options/group-options.ts';
import { CHECK_OPTIONS } from '../cli/options/judge-options.ts';
import { FIND_OPTIONS, RUN_OPTIONS } from '../cli/options/run-options.ts';
import { ConfigurationError } from '../errors/configuration-error.ts';
import type { BenchmarkOptions } from './benchmark-options.ts';

/** What only the command can do: several runs, a verdict, output. */
const COMMAND_ONLY: ReadonlySet<string> = new Set([
  ...Object.keys({ ...GROUP_OPTIONS, ...FIND_OPTIONS, ...CHECK_OPTIONS }),
  ...['check', 'json', 'show-servers', 'verbose'],
]);

/** Options that the command does not have by that name. */
const OWN = ['apiKey', 'headers', 'extraInputs', 'runOptions', 'signal', 'onProgress', 'onMessage'] as const;

/** The words with which `llmbench run` measures the same; the key is not among them. Throws a `ConfigurationError`. */
export function optionWords(options: BenchmarkOptions): readonly string[] {
  const { headers, extraInputs, runOptions } = options;
  const own: readonly string[] = OWN;
  const given: readonly (readonly [name: string, value: unknown])[] = [
    ...Object.entries(options).flatMap(([name, value]) => (own.includes(name) ? [] : [[dashed(name), value] as const])),
    ...Object.entries(headers ?? {}).map(([name, value]) => ['header', `${name}: ${value}`] as const),
    ...(extraInputs === undefined ? [] : [['extra-inputs', JSON.stringify(extraInputs)] as const]),
    ...Object.entries(runOptions ?? {}),
  ];
  return given.flatMap(([name, value]) => wordsOf(name, value));
}

const dashed = (name: string): string => name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

function wordsOf(name: string, value: unknown): readonly string[] {
  if (value === undefined) return [];
  if (COMMAND_ONLY.has(name))
    throw new ConfigurationError(`--${name} is an option of the command only: runBenchmark performs one run`);
  // `streaming: false` is --no-streaming.
  if (value === false && Object.hasOwn(RUN_OPTIONS, `no-${name}`)) return [`--no-${name}`];
  return (Array.isArray(value) ? value : [value]).map((each) => (each === true ? `--${name}` : `--${name}=${each}`));
}
