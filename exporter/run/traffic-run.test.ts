import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { RunFile } from '../../core/run/run.ts';
import { servedAlone } from '../http/testing/served-alone.ts';
import { RunControls } from '../load/phases/run-controls.ts';
import { response, delta, GOOD_STREAM, scriptedServer, sse, streamOf } from '../load/testing/scripted-server.ts';
import type { Script, ScriptedServer } from '../load/testing/scripted-server.ts';
import { readOptions } from '../cli/options/options.ts';
import { RUN_OPTIONS, runRequests } from '../cli/options/run-options.ts';
import { performRun } from './perform-run.ts';
import type { PerformedRun } from './perform-run.ts';
import type { RunRequest } from './run-request.ts';

let folder = '';
let server: ScriptedServer | null = null;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'llmbench-traffic-run-'));
});
afterEach(async () => {
  await server?.close();
});
afterAll(async () => {
  await rm(folder, { recursive: true });
});

interface Said {
  readonly performed: PerformedRun;
  readonly lines: readonly string[];
}

async function run(script: Script, argv: readonly string[]): Promise<Said> {
  server = await scriptedServer(script);
  const plain = [
    '--url',
    server.origin,
    '--model',
    'm',
    '--runs-dir',
    join(folder, 'runs'),
    '--no-server-metrics',
    '--linger',
    'no',
  ];
  const [request] = runRequests(readOptions(RUN_OPTIONS, [...plain, ...argv], {}));
  const lines: string[] = [];
  const host = {
    servePage: servedAlone,
    say: (line: string): unknown => lines.push(line),
    observe: () => ({ stop: () => undefined }),
  };
  const performed = await performRun(request as RunRequest, new RunControls(), host, '0.0.0');
  return { performed, lines };
}

async function everythingIn(path: string): Promise<string> {
  const names = await readdir(path, { recursive: true, withFileTypes: true });
  const files = names.filter((name) => name.isFile());
  return (await Promise.all(files.map((file) => readFile(join(file.parentPath, file.name), 'latin1')))).join('\n');
}

test('conversations through the whole program: neither the key nor any text is stored or printed', async () => {
  const keyFile = join(folder, 'key');
  await writeFile(keyFile, 'sk-very-secret');
  let posts = 0;
  const script: Script = (socket, { head }) => {
    if (!head.startsWith('POST ')) return socket.write(response('404 X', 'text/plain', ''));
    expect(head.toLowerCase()).toContain('authorization: bearer sk-very-secret');
    // After the probe and a conversation comes a complaint that repeats the key.
    const isThird = posts++ === 3;
    return socket.write(
      isThird
        ? response('401 X', 'application/json', '{"error":{"message":"bad key sk-very-secret"}}')
        : streamOf(GOOD_STREAM),
    );
  };
  const { performed, lines } = await run(script, [
    ...['--concurrency', '1', '--request-count', '6', '--session-turns-mean', '2', '--osl', '2', '--isl', '5'],
    ...['--api-key-file', keyFile],
  ]);
  // Three conversations, one of which ended with its first turn.
  expect(performed.result.requests).toMatchObject({ ok: 4, error: 1 });
  const kept = await everythingIn(performed.path);
  const said = [...lines, ...performed.notes, String(performed.failure)].join('\n');
  for (const text of [kept, said]) {
    expect(text).not.toContain('sk-very-secret');
    expect(text).not.toContain('Hello');
  }
  expect(lines.some((line) => line.includes('at most 12 output tokens'))).toBe(true);
});

test('not streamed: no time to first token and no zero instead of it; a short answer is remarked', async () => {
  const whole = response(
    '200 OK',
    'application/json',
    '{"choices":[{"index":0,"message":{"content":"Hi"},"finish_reason":"stop"}],"usage":{"prompt_tokens":5,"completion_tokens":2}}',
  );
  const { performed } = await run(
    (socket) => socket.write(whole),
    ['--no-streaming', '--request-count', '3', '--osl', '50'],
  );
  const { result } = performed;
  expect(result).toMatchObject({ status: 'completed', requests: { ok: 3 } });
  const of = (name: string): unknown =>
    result.measures.find(({ measure, population }) => measure === name && population === 'ok');
  expect(of('request_latency')).toMatchObject({ n: 3 });
  expect(of('time_to_first_token')).toMatchObject({ n: 0, mean: null });
  expect(of('inter_token_latency')).toMatchObject({ n: 0, mean: null });
  expect(
    performed.notes.some((note) => note.includes('4 % of the requested tokens') && note.includes('--ignore-eos')),
  ).toBe(true);
});

test('a server without usage: a tokenizer counts, and the run reports that', async () => {
  const silent = streamOf([sse(delta('tiktoken is')), sse(delta(' great!')), sse(delta('', 'stop')), sse('[DONE]')]);
  const script: Script = (socket, { body }) =>
    socket.write(
      body.includes('stream_options') ? response('400 X', 'application/json', '{"error":"stream_options?"}') : silent,
    );
  const { performed, lines } = await run(script, [
    '--request-count',
    '2',
    '--osl',
    '6',
    '--tokenizer',
    'cl100k_base',
    '--isl',
    '9',
  ]);
  expect(lines).toContain(
    'the server rejects stream_options and reports no token counts: the tokenizer of the client counts tokens',
  );
  const tokens = performed.result.measures.find(
    ({ measure, population }) => measure === 'output_sequence_length' && population === 'ok',
  );
  expect(tokens).toMatchObject({ n: 2, mean: 6 });
});

test.each<[server: string, rejected: string, argv: readonly string[], field: string | undefined]>([
  ['rejects max_tokens', '"max_tokens"', [], 'max_completion_tokens'],
  ['gets another field', '"max_tokens"', ['--max-tokens-field', 'max_new'], 'max_new'],
  ['accepts max_tokens', '"max_completion_tokens"', [], undefined],
])('run.json names the field of the output length: a server that %s', async (_server, rejected, argv, field) => {
  const script: Script = (socket, { body }) =>
    socket.write(
      body.includes(rejected)
        ? response('400 X', 'application/json', '{"error":{"message":"Unsupported parameter","param":"max_tokens"}}')
        : streamOf(GOOD_STREAM),
    );
  const { performed } = await run(script, ['--request-count', '1', '--osl', '2', '--isl', '5', ...argv]);
  const { client } = JSON.parse(await readFile(join(performed.path, 'run.json'), 'utf8')) as RunFile;
  expect(client?.max_tokens_field).toBe(field);
});

test('several models: each is a part of the result with a verdict of its own, which decides that of the run', async () => {
  const asked = new Map<string, number>();
  const script: Script = (socket, { head, body }) => {
    if (!head.startsWith('POST ')) return socket.write(response('404 X', 'text/plain', ''));
    const { model } = JSON.parse(body) as { model: string };
    const before = asked.get(model) ?? 0;
    asked.set(model, before + 1);
    // The probe of each model succeeds.
    if (model === 'adapter' && before > 0) return socket.write(response('500 X', 'application/json', '{}'));
    return socket.write(streamOf(GOOD_STREAM));
  };
  const { performed } = await run(script, [
    ...['--model', 'adapter', '--concurrency', '2', '--request-count', '8'],
    ...['--slo', 'error_ratio<=60%', '--slo', 'request_throughput>0.001requests/s'],
  ]);
  expect([...asked]).toEqual([
    ['m', 5],
    ['adapter', 5],
  ]);
  const { breakdown, requests, slos } = performed.result;
  expect(requests).toMatchObject({ ok: 4, error: 4 });
  expect(breakdown).toMatchObject([
    { by: 'model', value: 'm', requests: { ok: 4, error: 0 }, slos: [{ verdict: 'met', value: 0 }] },
    { by: 'model', value: 'adapter', requests: { ok: 0, error: 4 }, slos: [{ verdict: 'not_met', value: 1 }] },
  ]);
  expect(slos).toMatchObject([
    { verdict: 'not_met', value: 1, why: expect.stringContaining('model adapter; met over all requests') },
    { verdict: 'met' },
  ]);
  const stored = JSON.parse(await readFile(join(performed.path, 'run.json'), 'utf8')) as RunFile;
  expect(stored.comparison_key).toMatchObject({ model: 'm, adapter', model_mix: { selection: 'round_robin' } });
});
