import { CliError } from '../failure.ts';
import { suggestion, type Option } from '../options/options.ts';
import { RUN_OPTIONS } from '../options/run-options.ts';
import { PEERS, plainText, type OptionAnswer, type Peer, UNTRANSLATED } from './peers.ts';
import { shellCommand } from '../../../core/text/words.ts';
import { writeMessage } from '../terminal-text.ts';
import { shownArguments } from '../options/public-value.ts';

/** A command of another benchmark tool as one of ours. */
interface Translation {
  /** What it was, such as `vllm bench serve`. */
  readonly from: string;
  /** Arguments of `llmbench run`. */
  readonly argv: readonly string[];
  /** What differs, and what was left out, one line each. */
  readonly notes: readonly string[];
}

/** The command line of another benchmark tool; null: it is none. Throws a `CliError` when it cannot be translated. */
export function translated(words: readonly string[]): Translation | null {
  const found = commandOf(words);
  if (found === null) return null;
  const { peer, from, rest } = found;
  const command = new Translator(peer);
  const given = givenOptions(rest);
  const others = together(given);
  const taken = new Set(others.flatMap(({ flags }) => flags));
  others.forEach(({ words }) => command.add(words));
  for (const option of given) if (!taken.has(option.flag)) command.option(option);
  command.addDefaults(new Set(given.map(({ flag }) => flag)));
  return { from, ...command.result() };
}

/** The commands of a program that can be translated. */
const translatedOf = (program: string): readonly string[] =>
  PEERS.flatMap(({ begins }) => begins).filter((command) => command.split(' ')[0] === program);

interface PeerCommand {
  readonly peer: Peer;
  readonly from: string;
  readonly rest: readonly string[];
}

function commandOf(words: readonly string[]): PeerCommand | null {
  const names = words.map((word) => word.replace(/^.*\/(?=[^/]+$)/, '').replace(/^python[\d.]*$/, 'python'));
  for (const peer of PEERS) {
    const from = peer.begins.find((command) => command.split(' ').every((word, i) => word === names[i]));
    if (from !== undefined) return { peer, from, rest: words.slice(from.split(' ').length) };
  }
  return null;
}

interface GivenOption {
  /** With its dashes. */
  readonly flag: string;
  readonly values: readonly string[];
}

/** None of the tools takes arguments without a flag: what follows a flag are its values. */
function givenOptions(words: readonly string[]): readonly GivenOption[] {
  const given: { flag: string; values: string[] }[] = [];
  for (const word of words) {
    const [, flag, value] = /^(--?[A-Za-z][\w-]*)(?:=(.*))?$/s.exec(word) ?? [];
    if (flag !== undefined) {
      // Python's command lines take both.
      const name = flag.startsWith('--') ? flag.replaceAll('_', '-') : flag;
      given.push({ flag: name, values: value === undefined ? [] : [value] });
    } else {
      const last = given.at(-1);
      if (word === '--' || last === undefined)
        throw new CliError(`the command cannot be translated to llmbench run from '${word}' on`);
      last.values.push(word);
    }
  }
  return given;
}

/** Options of which several make one of ours. */
function together(given: readonly GivenOption[]): readonly { readonly flags: readonly string[]; words: string[] }[] {
  const values = new Map(given.map(({ flag, values }) => [flag, values.join(' ')]));
  const [host, port, served] = ['--host', '--port', '--served-model-name'].map((flag) => values.get(flag));
  const address = host ?? (port === undefined ? undefined : '127.0.0.1');
  const url = address === undefined ? [] : ['--url', `http://${address}${port === undefined ? '' : `:${port}`}`];
  return [
    ...(url.length === 0 ? [] : [{ flags: ['--host', '--port'], words: url }]),
    ...(served === undefined ? [] : [{ flags: ['--served-model-name', '--model'], words: ['--model', served] }]),
    ...imageSize(values),
    ...audioLength(values),
    ...guideLlmLoad(values),
    ...guideLlmData(values.get('--data')),
  ];
}

/** AIPerf sends one image once it has a size. */
function imageSize(values: ReadonlyMap<string, string>) {
  const [width, height] = ['--image-width-mean', '--image-height-mean'].map((flag) => values.get(flag));
  if (width === undefined || height === undefined || Number(width) * Number(height) === 0) return [];
  const hasCount = ['--image-batch-size', '--batch-size-image'].some((flag) => values.has(flag));
  const words = [...(hasCount ? [] : ['--images', '1']), '--image-size', `${width}x${height}`];
  return [{ flags: ['--image-width-mean', '--image-height-mean'], words }];
}

/** Likewise one clip, once it has a length. */
function audioLength(values: ReadonlyMap<string, string>) {
  const length = values.get('--audio-length-mean');
  const hasCount = ['--audio-batch-size', '--batch-size-audio'].some((flag) => values.has(flag));
  if (length === undefined || Number(length) === 0 || hasCount) return [];
  return [{ flags: ['--audio-length-mean'], words: ['--audio-clips', '1', '--audio-length-mean', length] }];
}

/** Words of ours for the load that a profile of GuideLLM makes of its rate. */
const GUIDELLM_PROFILES: Readonly<Record<string, (rate: string) => readonly string[]>> = {
  synchronous: () => ['--concurrency', '1'],
  concurrent: (rate) => ['--concurrency', rate],
  throughput: () => ['--request-rate', 'inf'],
  constant: (rate) => ['--request-rate', rate, '--arrival-pattern', 'constant'],
  poisson: (rate) => ['--request-rate', rate],
};

function guideLlmLoad(values: ReadonlyMap<string, string>) {
  const flag = ['--profile', '--rate-type'].find((name) => values.has(name));
  const profile = flag === undefined ? '' : (values.get(flag) ?? '');
  const words = Object.hasOwn(GUIDELLM_PROFILES, profile) ? GUIDELLM_PROFILES[profile] : undefined;
  return flag === undefined || words === undefined
    ? []
    : [{ flags: [flag, '--rate'], words: [...words(values.get('--rate') ?? '')] }];
}

/** `prompt_tokens=512,output_tokens=128`, also as JSON. GuideLLM lets the server generate the full length. */
function guideLlmData(data = '') {
  const pairs = [...data.matchAll(/(\w+)"?\s*[=:]\s*"?(\d+)"?/g)].map(
    ([, key = '', value = '']) => [key, value] as const,
  );
  const { prompt_tokens: isl, output_tokens: osl, ...rest } = Object.fromEntries(pairs);
  if (isl === undefined || osl === undefined || Object.keys(rest).length > 0) return [];
  return [{ flags: ['--data'], words: ['--isl', isl, '--osl', osl, '--ignore-eos'] }];
}

class Translator {
  readonly #peer: Peer;
  readonly #argv: string[] = [];
  readonly #notes: string[] = [];
  readonly #untranslated: string[] = [];

  constructor(peer: Peer) {
    this.#peer = peer;
  }

  option({ flag, values }: GivenOption): void {
    const answer = this.#peer.options.find(([flags]) => flags.split(' ').includes(flag))?.[1];
    const name = flag.replace(/^-+/, '');
    if (answer?.kind === 'accepted') this.#own(answer.option, values);
    else if (answer !== undefined) this.#answered(flag, values, answer);
    else if (Object.hasOwn(RUN_OPTIONS, name)) this.#own(name, values);
    else
      this.#untranslated.push(`${flag} is not an option of it, nor of llmbench run${suggestion(name, this.#names())}`);
  }

  add(words: readonly string[]): void {
    this.#argv.push(...words);
  }

  addDefaults(given: ReadonlySet<string>): void {
    for (const { as = '', note, refuse, unless = '' } of this.#peer.defaults) {
      const words = as === '' ? [] : as.split(' ');
      const names = [...words.slice(0, 1), ...unless.split(' ')];
      if (names.some((name) => given.has(name) || this.#argv.includes(name))) continue;
      this.add(words);
      if (note !== undefined) this.#notes.push(note);
      if (refuse !== undefined) this.#untranslated.push(refuse);
    }
  }

  result(): Omit<Translation, 'from'> {
    if (this.#untranslated.length > 0) {
      const lines = this.#untranslated
        .map((line) => (this.#untranslated.length === 1 ? ` ${line}` : `\n  ${line}`))
        .join('');
      throw new CliError(`the command cannot be translated to llmbench run:${lines}`);
    }
    return { argv: this.#argv, notes: this.#notes };
  }

  #names(): readonly string[] {
    const own = this.#peer.options.flatMap(([flags]) => flags.split(' ').map((flag) => flag.replace(/^-+/, '')));
    return [...own, ...Object.keys(RUN_OPTIONS)];
  }

  #own(name: string, values: readonly string[]): void {
    const option: Option<unknown> = RUN_OPTIONS[name as keyof typeof RUN_OPTIONS];
    if (option.value === undefined || option.isList === true) this.add([`--${name}`, ...values]);
    else if (option.multiple === true) this.add(values.flatMap((value) => [`--${name}`, value]));
    else this.add([`--${name}`, values.join(' ')]);
  }

  #answered(
    flag: string,
    values: readonly string[],
    answer: Exclude<OptionAnswer, { readonly kind: 'accepted' }>,
  ): void {
    const { as, kind } = answer;
    const template = typeof as === 'object' ? ofValue(as, values.join(' ')) : as;
    const given = values.length === 0 ? [''] : values;
    if (template !== undefined) this.add(given.flatMap((value) => filled(template, value)));
    const text = plainText(answer, values.join(' ') || null);
    if (template === undefined && kind === 'none') this.#notes.push(`${flag} is left out: ${text}`);
    else if (template === undefined) this.#untranslated.push(`${flag}: ${text}`);
    else if (as === '') this.#notes.push(`${flag} is left out: ${text}`);
  }
}

const ofValue = (as: Readonly<Record<string, string>>, value: string): string | undefined =>
  Object.hasOwn(as, value) ? as[value] : as['OTHER'];

function filled(template: string, value: string): readonly string[] {
  if (template === '') return [];
  const [key = '', ...rest] = value.split('=');
  const values = template.includes('KEY') ? rest.join('=') : value;
  return template.split(' ').map((word) => word.replace('KEY', () => key).replace('VALUE', () => values));
}

/**
 * Arguments of `llmbench run` for a pasted command of another benchmark tool, which are printed with what differs; null: it is
 * none. Throws a `CliError` when it cannot be translated.
 */
export function translatedRun(words: readonly string[]): readonly string[] | null {
  const translation = translated(words);
  if (translation !== null) {
    const { from, argv, notes } = translation;
    writeMessage(process.stderr, `${from} is: ${shellCommand(['llmbench', 'run', ...shownArguments(argv)])}`);
    for (const note of notes) writeMessage(process.stderr, `  ${note}`);
    return argv;
  }
  const [program = ''] = words;
  const others = translatedOf(program).map((command) => `\`${command}\``);
  const reason = others.length > 0 ? `of ${program}, ${others.join(', ')} can be translated to llmbench run` : null;
  const refusal = reason ?? UNTRANSLATED.get(program)?.replaceAll('`', '');
  if (refusal !== undefined) throw new CliError(refusal);
  return null;
}
