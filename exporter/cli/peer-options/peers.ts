import { parseArgs } from 'node:util';
import { parsedYaml } from '../../../catalog/parsed-yaml.ts';
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
  | RefusedOption<'differs'>
  /** Not accepted: what to use instead. */
  | RefusedOption<'instead'>
  /** No counterpart, and why; a pasted command loses nothing without it. */
  | RefusedOption<'none'>
  /** The same, but it asks for something that llmbench does not do. */
  | RefusedOption<'unsupported'>;

interface RefusedOption<Kind> {
  readonly kind: Kind;
  readonly text: string;
  /** Our words for it in a translated command, also by value (`OTHER`: any other); empty: it is left out. */
  readonly as?: string | Readonly<Record<string, string>>;
}

/** Options with one answer, with spaces between them, and that answer. */
export type AnsweredOptions = readonly (readonly [flags: string, answer: OptionAnswer])[];

/** Another benchmark tool. */
export interface Peer {
  readonly name: string;
  /** Its command, and the version that its options are from. */
  readonly command: string;
  readonly version: string;
  /** What a pasted command begins with. */
  readonly begins: readonly string[];
  readonly defaults: readonly PeerDefault[];
  /** All of its options. */
  readonly options: AnsweredOptions;
}

/**
 * What a tool does unless one of these options, its or ours, is given: as our words, what to say about it, or why a command
 * without them cannot be translated.
 */
interface PeerDefault {
  readonly as?: string;
  readonly note?: string;
  readonly refuse?: string;
  readonly unless?: string;
}

/** An answer as `peers.yaml` has it. */
type WrittenAnswer =
  | { readonly accepted: string; readonly note?: string }
  | (Pick<RefusedOption<string>, 'as'> & Readonly<Partial<Record<(typeof REFUSALS)[number], string>>>);

const REFUSALS = ['differs', 'instead', 'none', 'unsupported'] as const;

interface WrittenPeer extends Omit<Peer, 'options'> {
  readonly options: Readonly<Record<string, WrittenAnswer>>;
}

const { tools, untranslated } = parsedYaml(new URL('peers.yaml', import.meta.url)) as {
  readonly tools: readonly WrittenPeer[];
  readonly untranslated: Readonly<Record<string, string>>;
};

/** Why commands of other programs are not translated. */
export const UNTRANSLATED: ReadonlyMap<string, string> = new Map(Object.entries(untranslated));

/** Benchmark tools whose options are accepted or answered, in the order of the guide. */
export const PEERS: readonly Peer[] = tools.map(({ options, ...peer }) => ({
  ...peer,
  options: Object.entries(options).map(([flags, written]) => [flags, answerOf(written)] as const),
}));

function answerOf(written: WrittenAnswer): OptionAnswer {
  if ('accepted' in written) return { kind: 'accepted', option: written.accepted, note: written.note ?? null };
  const kind = REFUSALS.find((name) => written[name] !== undefined);
  if (kind === undefined) throw new Error('an option of another tool has no answer');
  return { kind, text: written[kind] ?? '', ...(written.as === undefined ? {} : { as: written.as }) };
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
    answer.kind === 'accepted' || answer.kind === 'differs' ? [] : [{ peer, answer }],
  );
  const peersByText = new Map<string, string[]>();
  for (const { peer, answer } of likeliest(refusing, given)) {
    const hasNone = answer.kind === 'none' || answer.kind === 'unsupported';
    const text = `${hasNone ? 'there is no counterpart: ' : ''}${plainText(answer, value)}`;
    peersByText.set(text, [...(peersByText.get(text) ?? []), peer]);
  }
  const [only, ...others] = peersByText;
  if (only === undefined) return null;
  if (others.length === 0) return only[0];
  return [...peersByText].map(([text, peers]) => `as in ${peers.join(' and ')}: ${text}`).join('; ');
}

/** Defaults that change what is measured, and are not seen in a command. */
const UNSEEN = ['--endpoint-type', '--ignore-eos'];

/**
 * What a benchmark would also do whose names of options are used, in our words; null: nothing, or no such names are used.
 */
export function unseenDefaults(argv: readonly string[], options: Options): string | null {
  const flags = argv.map((word) => word.replace(/=.*$/s, '')).filter((word) => /^--?[a-z]/.test(word));
  const foreign = flags.filter((flag) => acceptedAs(flag) !== null && !Object.hasOwn(options, flag.replace(/^-+/, '')));
  const peer = PEERS.find(({ name }) =>
    foreign.every((flag) => answersTo(flag).some(({ peer, answer }) => peer === name && answer.kind === 'accepted')),
  );
  if (peer === undefined || foreign.length === 0) return null;
  const defaults = peer.defaults.flatMap(({ as, unless = '' }) => {
    const [name = ''] = as?.split(' ') ?? [];
    const isSet = [name, ...unless.split(' ')].some((flag) => flags.includes(flag));
    return as !== undefined && UNSEEN.includes(name) && !isSet ? [as] : [];
  });
  if (defaults.length === 0) return null;
  const [command] = peer.begins;
  return (
    `\`${command}\` would also mean ${defaults.join(' ')}, which this run does not have; ` +
    `\`llmbench ${command} …\` translates a whole command`
  );
}

function likeliest<T extends { readonly peer: string }>(answers: readonly T[], given: readonly string[]): readonly T[] {
  const known = ({ peer }: T): number =>
    given.filter((flag) => answersTo(flag).some((each) => each.peer === peer)).length;
  const most = Math.max(...answers.map(known));
  return answers.filter((answer) => known(answer) === most);
}

/** The text of an answer for a terminal. */
export const plainText = ({ text }: RefusedOption<string>, value: string | null): string =>
  text.replaceAll('`', '').replaceAll('VALUE', value ?? 'VALUE');

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
