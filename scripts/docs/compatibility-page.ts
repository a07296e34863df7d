import { targetOptions } from '../../simulator/dialects/dialect.ts';
import type { Dialect, Template } from '../../simulator/dialects/dialect.ts';
import { DIALECT_NAMES, DIALECTS } from '../../simulator/dialects/table.ts';
import { code, GENERATED, page, shell, table } from './markdown.ts';

/** What servers and services do differently, and what llmbench does then: from the table that the simulator serves. */
export function compatibilityPage(): string {
  const entries = DIALECT_NAMES.map((name) => ({ name, dialect: DIALECTS[name] }));
  return page(
    GENERATED,
    '# Compatibility: OpenAI-compatible servers and services',
    INTRODUCTION,
    shell(
      'npx llmbench simulate --dialect mistral',
      'LLM_API_KEY=any npx llmbench run --url http://localhost:18000 --model sim-model --api-key-env LLM_API_KEY \\',
      '  --concurrency 4 --request-count 20 --isl 100 --osl 20',
    ),
    '## Requests',
    'The options are those of `llmbench run`, beside `--model`.',
    table(
      ['server or service', '`--dialect`', 'options', 'token field', 'what llmbench does'],
      entries.map(({ name, dialect }) => [
        dialect.title,
        code(name),
        code(optionText(dialect)),
        dialect.tokenFields.map(code).join(', '),
        whatWeDo(dialect),
      ]),
    ),
    '## Streams',
    STREAM_RULES,
    table(
      ['server or service', 'reasoning, in `delta`', 'usage', 'further'],
      entries.map(({ dialect }) => [dialect.title, reasoningText(dialect), usageText(dialect), oddities(dialect)]),
    ),
    '## Sources',
    'What no source states is named as not verified; the simulated stream assumes it.',
    entries.map(({ dialect }) => sourcesOf(dialect)).join('\n'),
  );
}

const INTRODUCTION = `Servers that call themselves OpenAI-compatible differ in small ways. Each row below is an entry of a table that
\`llmbench simulate --dialect NAME\` serves, written from public documentation, source code and published captures. For each, a test
measures the simulated server over a socket and compares the arrival of every token, the counts of tokens and reasoning, and the
inter-token latency with what the simulator did. The services themselves are not part of the test; please report what differs.`;

const STREAM_RULES = `In every row the first chunk with text, reasoning included, is the time to first token, and output tokens include reasoning.
Comments, blank events and chunks without text count as nothing.`;

function optionText(dialect: Dialect): string {
  return targetOptions(dialect, dialect.host, 'MODEL')
    .map((word) => (/[\s?]/.test(word) ? `'${word}'` : word))
    .join(' ');
}

function whatWeDo({ refuses = {}, tokenFields, usage, reasoning }: Dialect): string {
  const field = tokenFields[0] ?? '';
  const isBeside = JSON.stringify(usage.value).includes('"completion_tokens":"$visible"');
  const parts = [
    'max_tokens' in refuses ? `sends ${code(field)}, because the probe was refused with ${code('max_tokens')}` : '',
    'stream_options' in refuses ? `leaves out ${code('stream_options')}, because the probe was refused with it` : '',
    usage.where === 'never' ? 'tokens and inter-token latency are unknown; `--tokenizer` counts them' : '',
    isBeside ? `adds reasoning to ${code('completion_tokens')}, as ${code('total_tokens')} shows` : '',
    reasoning === 'hidden' ? 'inter-token latency is that of the tokens that are sent' : '',
  ];
  return parts.filter((part) => part !== '').join('; ') || '–';
}

/** The places of a value in a template: `content[].thinking[].text`. */
function places(template: Template, value: string): readonly string[] {
  if (template === value) return [''];
  if (typeof template !== 'object' || template === null) return [];
  if (Array.isArray(template))
    return (template as Template[]).flatMap((each) => places(each, value)).map((path) => `[]${path}`);
  return Object.entries(template as Readonly<Record<string, Template>>).flatMap(([name, each]) =>
    places(each, value).map((path) => `.${name}${path}`),
  );
}

const inDelta = (template: Template): string =>
  places(template, '$text')
    .map((path) => code(path.slice(1)))
    .join(', ');

function reasoningText({ reasoning, usage }: Dialect): string {
  if (reasoning === undefined) return '–';
  const [counted] = places(usage.value, '$reasoning');
  const tokens = counted === undefined ? 'not counted apart' : `counted in ${code(counted.slice(1))}`;
  if (reasoning === 'hidden') return `not sent; ${tokens}`;
  const mark = 'extra_content' in reasoning ? ', marked by `extra_content`' : '';
  return `${inDelta(reasoning)}${mark}; ${tokens}`;
}

const WHERE = {
  chunk: 'in a chunk of its own at the end',
  finish: 'with the finish reason',
  every: 'so far, in every chunk',
  never: 'never',
};

function usageText({ usage: { where, always, choices = [], value } }: Dialect): string {
  if (where === 'never') return WHERE.never;
  const parts = [
    `${WHERE[where]}${choices.length > 0 ? ', which has a choice' : ''}`,
    always ? 'also without `stream_options`' : '',
    JSON.stringify(value).includes('$visible') ? '`completion_tokens` without reasoning' : '',
  ];
  return parts.filter((part) => part !== '').join('; ');
}

function oddities({ accepted = [], comment, choice, first, head, notes = [] }: Dialect): string {
  const comments = [...accepted.filter((each) => typeof each === 'string'), ...(comment ? [comment.text] : [])];
  const parts = [
    comments.length > 0 ? `Comments such as ${code((comments[0] ?? '').trim())}.` : '',
    accepted.some((each) => typeof each !== 'string') ? 'The first chunk has no choices.' : '',
    choice !== undefined && !('finish_reason' in choice) ? 'Chunks before the last have no `finish_reason`.' : '',
    first === null ? '' : first?.['content'] === null ? 'The content of the first chunk is null.' : '',
    head?.['id'] === '' ? 'The id is empty.' : '',
    ...notes,
  ];
  return parts.filter((part) => part !== '').join(' ') || '–';
}

function sourcesOf({ title, sources, unverified = [] }: Dialect): string {
  const links = sources.map(({ url, date }) => `[${labelOf(url)}](${url}) (${date})`).join(', ');
  const doubt = unverified.length > 0 ? `. Not verified: ${unverified.join('; ')}.` : '.';
  return `- ${title}: ${links}${doubt}`;
}

/** The end of a URL that says what it is. */
function labelOf(url: string): string {
  const { hostname, pathname } = new URL(url);
  const [, owner, repository, kind, ...rest] = pathname.split('/');
  if (hostname !== 'github.com') return hostname;
  return `${owner}/${repository} ${kind === 'issues' ? `#${rest[0]}` : (rest.at(-1) ?? '')}`;
}
