import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { parse } from 'yaml';
import { CliError } from '../failure.ts';
import type { ForeignNames, Options } from '../options/options.ts';

/**
 * How an option of another benchmark tool is given to llmbench. Texts are Markdown with flags in backticks; `VALUE` stands
 * for the given value.
 */
export type OptionAnswer =
  /** Accepted: it means the same as our option of this name. */
  | { readonly kind: 'accepted'; readonly option: string; readonly note: string | null }
  /** Our option of the same name means something else. */
  | { readonly kind: 'differs'; readonly text: string }
  /** Not accepted: what to use instead. */
  | { readonly kind: 'instead'; readonly text: string }
  /** No counterpart, and why. */
  | { readonly kind: 'none'; readonly text: string };

/** Options with one answer, with spaces between them, and that answer. */
export type AnsweredOptions = readonly (readonly [flags: string, answer: OptionAnswer])[];

/** Another benchmark tool. */
export interface Peer {
  readonly name: string;
  /** Its command, and the version that its options are from. */
  readonly command: string;
  readonly version: string;
  /** All of its options. */
  readonly options: AnsweredOptions;
}

/** An answer as `peers.yaml` has it. */
type WrittenAnswer =
  | { readonly accepted: string; readonly note?: string }
  | { readonly differs: string }
  | { readonly instead: string }
  | { readonly none: string };

interface WrittenPeer extends Omit<Peer, 'options'> {
  readonly options: Readonly<Record<string, WrittenAnswer>>;
}

const { tools } = parse(readFileSync(new URL('peers.yaml', import.meta.url), 'utf8')) as {
  readonly tools: readonly WrittenPeer[];
};

/** Benchmark tools whose options are accepted or answered, in the order of the guide. */
export const PEERS: readonly Peer[] = tools.map(({ options, ...peer }) => ({
  ...peer,
  options: Object.entries(options).map(([flags, written]) => [flags, answerOf(written)] as const),
}));

function answerOf(written: WrittenAnswer): OptionAnswer {
  if ('accepted' in written) return { kind: 'accepted', option: written.accepted, note: written.note ?? null };
  if ('differs' in written) return { kind: 'differs', text: written.differs };
  if ('instead' in written) return { kind: 'instead', text: written.instead };
  return { kind: 'none', text: written.none };
}

interface PeerAnswer {
  readonly peer: string;
  readonly answer: OptionAnswer;
}

let byFlag: ReadonlyMap<string, readonly PeerAnswer[]> | null = null;

/** What each tool's option of this name (with its dashes) is answered with. */
export function answersTo(flag: string): readonly PeerAnswer[] {
  byFlag ??= Map.groupBy(PEERS.flatMap(answersOf), ({ flag }) => flag);
  return byFlag.get(flag) ?? [];
}

function answersOf({ name, options }: Peer): readonly (PeerAnswer & { readonly flag: string })[] {
  return options.flatMap(([flags, answer]) => flags.split(' ').map((flag) => ({ flag, peer: name, answer })));
}

/** Our option that a flag of other tools means as well; null: none. */
export function acceptedAs(flag: string): string | null {
  for (const { answer } of answersTo(flag)) if (answer.kind === 'accepted') return answer.option;
  return null;
}

/** Every flag of other tools that means an option of ours, with the name of that option. */
function acceptedFlags(): readonly (readonly [flag: string, option: string])[] {
  return PEERS.flatMap(answersOf).flatMap(({ flag, answer }) =>
    answer.kind === 'accepted' ? [[flag, answer.option] as const] : [],
  );
}

/**
 * What to use instead of a flag of other tools, or why nothing; null: no tool has it. Where tools differ, it is taken as
 * the flag of the tool that has most of the `given` ones.
 */
export function answerTo(flag: string, value: string | null, given: readonly string[]): string | null {
  const refusing = answersTo(flag).flatMap(({ peer, answer }) =>
    answer.kind === 'instead' || answer.kind === 'none' ? [{ peer, answer }] : [],
  );
  const peersByText = new Map<string, string[]>();
  for (const { peer, answer } of likeliest(refusing, given)) {
    const text = plainText(answer, value);
    peersByText.set(text, [...(peersByText.get(text) ?? []), peer]);
  }
  const [only, ...others] = peersByText;
  if (only === undefined) return null;
  if (others.length === 0) return only[0];
  return [...peersByText].map(([text, peers]) => `as in ${peers.join(' and ')}: ${text}`).join('; ');
}

function likeliest<T extends { readonly peer: string }>(answers: readonly T[], given: readonly string[]): readonly T[] {
  const known = ({ peer }: T): number =>
    given.filter((flag) => answersTo(flag).some((each) => each.peer === peer)).length;
  const most = Math.max(...answers.map(known));
  return answers.filter((answer) => known(answer) === most);
}

function plainText(answer: Extract<OptionAnswer, { readonly kind: 'instead' | 'none' }>, value: string | null): string {
  const text = answer.kind === 'none' ? `there is no counterpart: ${answer.text}` : answer.text;
  return text.replaceAll('`', '').replaceAll('VALUE', value ?? 'VALUE');
}

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
