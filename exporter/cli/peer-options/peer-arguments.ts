import { parseArgs } from 'node:util';
import { CliError } from '../failure.ts';
import type { ForeignNames, Options } from '../options/options.ts';
import { acceptedFlags, answerTo } from './peers.ts';

/** Answers to flags of other benchmark tools. */
export const PEER_NAMES: ForeignNames = { answer: answerTo };

type Token = Extract<ReturnType<typeof tokensOf>[number], { kind: 'option' }>;

/**
 * The arguments with our names of options instead of other tools'. Throws a `CliError` when an
 * option of one value is given under two names.
 */
export function ownArguments(argv: readonly string[], options: Options): string[] {
  const meanings = new Map(acceptedFlags().filter(([flag]) => !Object.hasOwn(options, flag.replace(/^-+/, ''))));
  const own = [...argv];
  const writtenAs = new Map<string, string>();
  for (const token of tokensOf(argv, options, meanings)) {
    if (token.kind !== 'option') continue;
    const option = meanings.get(token.rawName) ?? token.name;
    refuseTwoNames(options, option, token, writtenAs);
    if (meanings.has(token.rawName)) own[token.index] = `--${option}${token.inlineValue ? `=${token.value}` : ''}`;
  }
  return own;
}

function tokensOf(argv: readonly string[], options: Options, meanings: ReadonlyMap<string, string>) {
  const typeOf = (option: string): 'boolean' | 'string' =>
    options[option]?.value === undefined ? 'boolean' : 'string';
  const known = Object.keys(options).map((name) => [name, { type: typeOf(name) }] as const);
  const foreign = [...meanings].map(([flag, option]) => {
    const [, dashes, name = ''] = /^(--?)(.+)$/.exec(flag) ?? [];
    return [name, { type: typeOf(option), ...(dashes === '-' && name.length === 1 ? { short: name } : {}) }] as const;
  });
  return parseArgs({
    args: [...argv],
    options: Object.fromEntries([...known, ...foreign]),
    strict: false,
    tokens: true,
    allowPositionals: true,
  }).tokens;
}

function refuseTwoNames(options: Options, option: string, { rawName }: Token, writtenAs: Map<string, string>): void {
  const before = writtenAs.get(option) ?? rawName;
  writtenAs.set(option, before);
  if (before !== rawName && options[option]?.multiple !== true)
    throw new CliError(`${before} and ${rawName} are the same option, --${option}: give one of them`);
}
