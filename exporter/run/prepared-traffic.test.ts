import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { datasetText } from '../../core/run/run-dataset.ts';
import { ConfigurationError } from '../errors/expected-error.ts';
import { readOptions } from '../cli/options/options.ts';
import { RUN_OPTIONS, runRequests } from '../cli/options/run-options.ts';
import { prepareTraffic } from './prepared-traffic.ts';
import type { PreparedTraffic } from './prepared-traffic.ts';
import type { RunRequest } from './run-request.ts';

let folder = '';
const toClose: PreparedTraffic[] = [];
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'llmbench-traffic-'));
});
afterEach(async () => {
  for (const { transport } of toClose.splice(0)) await transport.close();
});
afterAll(async () => {
  await rm(folder, { recursive: true });
});

async function prepare(argv: readonly string[], environment: NodeJS.ProcessEnv = {}): Promise<PreparedTraffic> {
  const given = ['--url', 'http://127.0.0.1:9', '--model', 'm', '--request-count', '2', ...argv];
  const [request] = runRequests(readOptions(RUN_OPTIONS, given, {}));
  const prepared = await prepareTraffic(request as RunRequest, environment);
  toClose.push(prepared);
  return prepared;
}

const bodyOf = ({ form }: PreparedTraffic): unknown =>
  JSON.parse(form.endpoint.body(form.dataset.request('measure', 0), form.options));

async function file(name: string, text: string): Promise<string> {
  await writeFile(join(folder, name), text);
  return join(folder, name);
}

describe("the dataset's options in run.json", () => {
  test('of random words', async () => {
    const argv = ['--isl', '512', '--isl-stddev', '50', '--num-prefix-prompts', '2', '--prefix-prompt-length', '100'];
    const { dataset } = await prepare([...argv, '--random-seed', '7', '--tokenizer', 'o200k_base']);
    expect(dataset).toMatchObject({
      type: 'synthetic',
      input_tokens: { mean: 512, stddev: 50 },
      output_tokens: { mean: 128, stddev: 0 },
      prefix_prompts: { count: 2, tokens: 100 },
      tokenizer: { name: 'o200k_base', identity: expect.stringMatching(/o200k_base/) },
      seed: 7,
      prompt_variant: 0,
      file: null,
    });
    expect(datasetText(dataset)).toBe('ISL 512±50, OSL 128, prefixes 2×100');
  });

  test('of pairs of lengths', async () => {
    const { dataset } = await prepare(['--seq-dist', '256,128:60;1024|100,512|50:40', '--session-turns-mean', '3']);
    expect(dataset.input_tokens).toBeNull();
    expect(datasetText(dataset)).toBe('ISL/OSL 256/128:60% 1024±100/512±50:40%, turns 3');
  });

  test('of a file: its name without the folder, and its hash', async () => {
    const path = await file('prompts.jsonl', '{"text": "hi"}\n');
    const { dataset } = await prepare(['--input-file', path, '--osl', '32']);
    // printf '{"text": "hi"}\n' | sha256sum
    const sha256 = 'b0395ebacc7362d614c91d450acbc6a54d483e6a8e7fce596da6ba3608b09457';
    expect(dataset).toMatchObject({
      type: 'single_turn',
      file: { name: 'prompts.jsonl', sha256, sampling_strategy: 'sequential', block_tokens: null },
      prompt_variant: null,
    });
    expect(datasetText(dataset)).toBe('single_turn prompts.jsonl, OSL 32');
  });
});

describe('what requests are made of', () => {
  test("the key is in a header and among the secrets, and so are the user's own credentials", async () => {
    const keyFile = await file('key', 'sk-from-file\n');
    const prepared = await prepare([
      '--api-key-file',
      keyFile,
      '--header',
      'x-api-key: other-secret',
      '--header',
      'x-user: somebody',
    ]);
    expect(prepared.form.headers).toMatchObject({ authorization: 'Bearer sk-from-file', 'x-api-key': 'other-secret' });
    expect(prepared.secrets).toEqual(expect.arrayContaining(['sk-from-file', 'other-secret']));
    expect(prepared.credentials).not.toContain('somebody');
    const own = await prepare(['--header', 'Authorization: Basic dXNlcjpwYXNz']);
    expect(own.form.headers.authorization).toBe('Basic dXNlcjpwYXNz');
    expect(own.secrets).toContain('dXNlcjpwYXNz');
  });

  test('the value of any header of the user is hidden in messages', async () => {
    const { secrets, credentials } = await prepare([
      ...['--header', 'X-My-Thing: team 7f3a9c01 blue', '--header', 'X-Short: ab', '--header', 'Accept: text/plain'],
    ]);
    expect([...secrets].sort()).toEqual(['7f3a9c01', 'team 7f3a9c01 blue']);
    expect(credentials).toEqual([]);
  });

  test("a traceparent of the user's own contradicts --trace-sample-ratio", async () => {
    const traced = ['--trace-sample-ratio', '0.5'];
    expect((await prepare(traced)).form.traceSampleRatio).toBe(0.5);
    await expect(prepare([...traced, '--header', 'Traceparent: 00-1-2-01'])).rejects.toThrow(
      '--trace-sample-ratio sets the header traceparent: remove it from --header',
    );
  });

  test('not streamed', async () => {
    const prepared = await prepare(['--no-streaming', '--extra-inputs', 'seed:3']);
    expect(prepared.form.headers.accept).toBe('application/json');
    expect(bodyOf(prepared)).toMatchObject({ stream: false, seed: 3, max_tokens: 128 });
  });

  test('embeddings have no output tokens to bound', async () => {
    const prepared = await prepare(['--endpoint-type', 'embeddings', '--isl', '4']);
    expect(prepared.form).toMatchObject({ path: '/v1/embeddings', options: { stream: false } });
    expect(prepared.form.dataset.longestOutputTokens).toBe(0);
  });

  test('a batch of texts, and documents with a query', async () => {
    const batch = await prepare(['--endpoint-type', 'embeddings', '--isl', '4', '--batch-size', '3']);
    expect(batch.dataset.documents).toEqual({ count: 3, query_tokens: null });
    const ranking = await prepare(['--endpoint-type', 'rerank', '--isl', '4']);
    expect(ranking.dataset.documents).toEqual({ count: 10, query_tokens: 32 });
    await expect(prepare(['--batch-size', '3'])).rejects.toThrow('--batch-size requires an --endpoint-type that reads');
    await expect(prepare(['--endpoint-type', 'embeddings', '--query-tokens', '3'])).rejects.toThrow('--query-tokens');
  });

  test('a template, a tokenizer and lengths', async () => {
    const template = await file(
      't.yaml',
      'path: /x\nbody: {p: "{{prompt}}", n: "{{max_tokens}}"}\nanswer: {text: t}\n',
    );
    const prepared = await prepare([
      ...['--endpoint-type', 'template', '--endpoint-template', template, '--url', 'http://127.0.0.1:8'],
      ...['--tokenizer', 'cl100k_base', '--isl', '7', '--osl', '9'],
    ]);
    expect(prepared.form.path).toBe('/x');
    expect(prepared.form.dataset.request('measure', 0).input_tokens).toBe(7);
    expect(prepared.form.countTokens?.('tiktoken is great!')).toBe(6);
    expect(bodyOf(prepared)).toMatchObject({ n: 9 });
  });

  test('Triton has the model in its path', async () => {
    expect((await prepare(['--endpoint-type', 'triton_generate'])).form.path).toBe('/v2/models/m/generate_stream');
    expect((await prepare(['--endpoint-type', 'triton_generate', '--no-streaming'])).form.path).toBe(
      '/v2/models/m/generate',
    );
  });
});

describe('the plan', () => {
  const hash = async (...argv: string[]): Promise<string> => (await prepare(argv)).form.dataset.planSha256;

  test('is the same for the same seed and changes with whatever changes requests', async () => {
    const plans = [
      await hash(),
      await hash('--random-seed', '1'),
      await hash('--isl', '10'),
      await hash('--isl-stddev', '2'),
      await hash('--osl', '10'),
      await hash('--seq-dist', '550,128:100'),
      await hash('--shared-system-prompt-length', '5'),
      await hash('--num-prefix-prompts', '2', '--prefix-prompt-length', '5'),
      await hash('--user-context-prompt-length', '5'),
      await hash('--session-turns-mean', '2'),
      await hash('--num-dataset-entries', '10'),
      await hash('--tokenizer', 'cl100k_base'),
    ];
    expect(new Set(plans).size).toBe(plans.length);
    expect(await hash()).toBe(plans[0]);
    expect(await hash('--random-seed', '1')).toBe(plans[1]);
  });
});

test.each([
  [['--extra-inputs', 'max_tokens:5'], '--extra-inputs max_tokens: set --osl'],
  [['--endpoint-template', '/x'], '--endpoint-template /x: ENOENT'],
  [['--url', 'http://b:1/other'], '--url 2 has a different path than the first'],
  [['--input-file', '/nowhere.jsonl'], '/nowhere.jsonl: the file does not exist'],
  [['--api-key-env', 'NOT_SET'], '--api-key-env: the environment variable NOT_SET is not set'],
  [['--tokenizer', './nowhere'], '--tokenizer ./nowhere: the file or folder does not exist'],
])('%j is refused before anything is sent', async (argv, message) => {
  await expect(prepare(argv)).rejects.toThrow(ConfigurationError);
  await expect(prepare(argv)).rejects.toThrow(message);
});

test.each(['Content-Length: 5', 'Transfer-Encoding: chunked', 'Connection: close'])(
  '--header %s belongs to the HTTP client: refused before anything is sent',
  (header) => {
    const argv = ['--url', 'http://127.0.0.1:9', '--model', 'm', '--request-count', '2', '--header', header];
    expect(() => runRequests(readOptions(RUN_OPTIONS, argv, {}))).toThrow('is set by the HTTP client');
  },
);
