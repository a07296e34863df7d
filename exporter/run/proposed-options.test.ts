import { afterAll, afterEach, describe, expect, test } from '@jest/globals';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { requestedRuns } from '../cli/options/requested-runs.ts';
import { RUN_OPTIONS } from '../cli/options/run-options.ts';
import { response, GOOD_STREAM, scriptedServer, streamOf, type Script } from '../load/testing/scripted-server.ts';
import { RunControls } from '../load/phases/run-controls.ts';
import { onlyModel, probedForm } from './probed-form.ts';
import { prepareTraffic } from './prepared-traffic.ts';
import type { RunRequest } from './run-request.ts';

const toClose: { close(): Promise<void> }[] = [];
const folder = await mkdtemp(join(tmpdir(), 'llmbench-proposed-'));

afterEach(async () => {
  for (const thing of toClose.splice(0).reverse()) await thing.close();
});
afterAll(async () => {
  await rm(folder, { recursive: true });
});

const GOOD: Script = (socket, { head, body }) => {
  if (head.startsWith('GET ')) socket.write(response('200 OK', 'application/json', '{"data":[{"id":"m"}]}'));
  else if (body.includes('"stream":true')) socket.write(streamOf(GOOD_STREAM));
  else socket.write(response('200 OK', 'application/json', WHOLE));
};
const WHOLE = JSON.stringify({
  choices: [{ index: 0, message: { content: 'hi' }, text: 'hi', finish_reason: 'stop' }],
  usage: { prompt_tokens: 1, completion_tokens: 1 },
});

const rejecting =
  (status: string, message: string): Script =>
  (socket, { head }) => {
    if (head.startsWith('GET ')) socket.write(response('200 OK', 'application/json', '{"data":[{"id":"m"}]}'));
    else socket.write(response(status, 'application/json', JSON.stringify({ error: { message } })));
  };
const plain =
  (text: string | Buffer): Script =>
  (socket) =>
    socket.end(text);

/** The first contact of a run, as the command makes it; returns the message that refuses it, null: it is accepted. */
async function refusal(script: Script, argv: readonly string[], path = '', environment = {}): Promise<string | null> {
  const server = await scriptedServer(script);
  toClose.push(server);
  const words = ['--url', `${server.origin}${path}`, '--request-count', '1', '--osl', '8', '--isl', '5', ...argv];
  const env = { KEY: 'sk-1', ...environment };
  try {
    const { requests } = await requestedRuns(words, {}, (request) => onlyModel(request, env));
    const request = requests[0] as RunRequest;
    const traffic = await prepareTraffic(request, env);
    toClose.push(traffic.transport);
    await probedForm(traffic.form, { request, ...traffic, controls: new RunControls(), say: () => undefined });
    return null;
  } catch (error) {
    return (error as Error).message;
  }
}

const MODEL = ['--model', 'm'];
const SETTINGS_FRAME = Buffer.from([0, 0, 6, 4, 0, 0, 0, 0, 0, 0, 4, 0, 0, 255, 255]);
const DOWN = { HTTP_PROXY: 'http://127.0.0.1:9' };

/** Every way in which the first contact is refused: a server, the options that it meets, the path of the URL. */
const REFUSED: readonly (readonly [what: string, script: Script, argv: string[], path?: string, env?: object])[] = [
  ['an unknown model', rejecting('404 X', 'no such model'), ['--model', 'other']],
  ['an unknown model with 400', rejecting('400 X', "model 'other' not found"), ['--model', 'other']],
  ['an unknown path', rejecting('404 X', 'not found'), MODEL],
  ['no key', rejecting('401 X', 'no key'), MODEL],
  ['no key for the list of models', plain(response('401 X', 'text/plain', '')), []],
  ['a server that loads', rejecting('503 X', 'Loading model'), MODEL],
  ['a server that loads, at its list of models', plain(response('503 X', 'text/plain', '')), []],
  ['several models', plain(response('200 OK', 'a/b', '["a","b"]')), []],
  ['no list of models', plain(response('404 X', 'a/b', '')), []],
  ['something in the request', rejecting('400 X', 'bad request'), MODEL],
  ['max_tokens', rejecting('400 X', "'max_tokens' is too large"), MODEL],
  ['another field of the length', rejecting('400 X', "unknown 'max_new'"), [...MODEL, '--max-tokens-field', 'max_new']],
  ['stream_options', rejecting('400 X', 'stream_options'), MODEL],
  ['stream', rejecting('400 X', "'stream' is not supported"), MODEL],
  ['ignore_eos', rejecting('422 X', 'ignore_eos'), [...MODEL, '--ignore-eos']],
  ['min_tokens', rejecting('422 X', 'min_tokens'), [...MODEL, '--extra-inputs', 'min_tokens:5']],
  ['seed', rejecting('400 X', '"seed" is unknown'), [...MODEL, '--extra-inputs', 'seed:5']],
  ['too many requests', rejecting('429 X', 'slow down'), MODEL],
  ['an error of the server', rejecting('500 X', 'broken'), MODEL],
  ['a redirect', plain(response('307 X', 'a/b', '', 'location: /v1/chat/completions/\r\n')), MODEL],
  ['a compressed stream', plain(response('200 OK', 'text/event-stream', 'x', 'content-encoding: gzip\r\n')), MODEL],
  ['no stream', plain(response('200 OK', 'text/html', '<p>hi')), MODEL],
  ['no JSON', plain(response('200 OK', 'text/html', '<p>hi')), [...MODEL, '--no-streaming']],
  ['HTTP/2 only', plain(SETTINGS_FRAME), MODEL],
  ['large headers', plain(response('200 OK', 'a/b', '', `x: ${'a'.repeat(20_000)}\r\n`)), MODEL],
  ['another protocol', plain('SSH-2.0-OpenSSH_9.2\r\n'), MODEL],
  ['a path of another type', GOOD, MODEL, '/v1/completions'],
  ['a field that llmbench sets', GOOD, [...MODEL, '--extra-inputs', 'max_tokens:5']],
  ['a field that llmbench sets itself', GOOD, [...MODEL, '--extra-inputs', 'stream_options:5']],
  ['the mode of the response', GOOD, [...MODEL, '--extra-inputs', 'stream:false']],
  [
    'two limits that contradict',
    GOOD,
    [...MODEL, '--max-output-tokens-total', '9', '--extra-inputs', 'max_tokens:null'],
  ],
  ['a field of the length elsewhere', GOOD, [...MODEL, '--max-tokens-field', 'x', '--endpoint-type', 'responses']],
  ['the raw transport with a proxy', GOOD, [...MODEL, '--transport', 'raw'], '', DOWN],
  ['a proxy that is not there', GOOD, MODEL, '', DOWN],
  ['a proxy of another kind', GOOD, MODEL, '', { HTTP_PROXY: 'socks5://h' }],
];

/** Values for the placeholders of the messages, and for options that are named without a value. */
const VALUES: Readonly<Record<string, readonly string[]>> = {
  'api-key-env': ['KEY'],
  'api-key-file': [join(folder, 'key')],
  'endpoint-path': ['/v1/chat/completions'],
  'endpoint-type': ['chat'],
  'extra-inputs': ['top_k:1'],
  'max-tokens-field': ['max_completion_tokens'],
  'max-output-tokens-total': ['99'],
  'wait-ready': ['5'],
  'input-file': [join(folder, 'prompts.jsonl')],
  transport: ['auto'],
  model: ['m'],
  isl: ['9'],
  osl: ['9'],
};

/** The options that a message proposes, each with a value: its own, or one for its placeholder. */
function proposals(message: string): readonly (readonly string[])[] {
  const found = [...message.matchAll(/--([a-z][a-z-]*[a-z])(?:[ =]([^\s,;()]+))?/g)];
  return found.flatMap(([, name = '', word = '']) => {
    if (!Object.hasOwn(RUN_OPTIONS, name) || name === 'url') return [];
    const option = RUN_OPTIONS[name as keyof typeof RUN_OPTIONS] as { readonly value?: string };
    if (option.value === undefined) return [[`--${name}`]];
    const own = /^(?:[/\w.-]+:null|\/[\w/.]+|[a-z_]+)\.?$/.test(word) && isValueOf(name, word) ? word : null;
    const value = own?.replace(/\.$/, '') ?? VALUES[name]?.[0];
    if (value === undefined) throw new Error(`no value for --${name}, which is proposed by: ${message}`);
    return [[`--${name}`, value]];
  });
}

/** Words of a sentence after an option are no value. */
const isValueOf = (name: string, word: string): boolean =>
  (name === 'extra-inputs' && word.endsWith(':null')) ||
  (name === 'endpoint-path' && word.startsWith('/')) ||
  (name === 'endpoint-type' && /^(chat|completions|sglang_generate|triton_generate)$/.test(word)) ||
  (name === 'transport' && word === 'auto');

describe('no option that a refusal proposes is refused', () => {
  test.each(REFUSED)('%s', async (_what, script, argv, path = '', environment = {}) => {
    await writeFile(join(folder, 'key'), 'sk-1\n');
    await writeFile(join(folder, 'prompts.jsonl'), '{"text":"hi"}\n');
    const message = await refusal(script, argv, path, environment);
    expect(message).not.toBeNull();
    expect(message).not.toContain('\n');
    const proposed = proposals(message ?? '');
    for (const words of proposed) {
      // Beside what was given, unless it says to replace that; with a server that accepts all.
      const replaced = argv.flatMap((word, i) => {
        const isOption = word.startsWith('--');
        const option = isOption ? word : argv[i - 1];
        return option !== undefined && [words[0], ...(REPLACED[words[0] ?? ''] ?? [])].includes(option) ? [] : [word];
      });
      const kept = replaced.includes('--model') || words[0] === '--model' ? replaced : [...replaced, '--model', 'm'];
      const same = words[0] === '--no-proxy' ? environment : {};
      expect([words, await refusal(GOOD, [...kept, ...words], path, same)]).toEqual([words, null]);
    }
  });
});

/** Which of the given options a proposal stands instead of. */
const REPLACED: Readonly<Record<string, readonly string[]>> = {
  '--osl': ['--extra-inputs'],
  '--isl': ['--extra-inputs'],
  '--streaming': ['--extra-inputs'],
  '--no-streaming': ['--extra-inputs', '--streaming'],
  '--max-output-tokens-total': ['--extra-inputs'],
  '--extra-inputs': ['--max-output-tokens-total'],
  '--endpoint-type': ['--max-tokens-field'],
  '--max-tokens-field': ['--endpoint-type'],
};
