import { describe, expect, test } from '@jest/globals';

import { startDialect } from '../main.ts';
import { targetOptions } from './dialect.ts';
import { DIALECT_NAMES, DIALECTS } from './table.ts';
import type { DialectName } from './table.ts';

const BODY = { model: 'm', messages: [{ role: 'user', content: 'Say something' }], max_tokens: 4 };
const KEYS = { authorization: 'Bearer KEY', 'api-key': 'KEY' };

async function asked(
  name: DialectName,
  body: object,
  headers: Readonly<Record<string, string>> = KEYS,
  path = DIALECTS[name].path.replace('$model', 'm'),
): Promise<{ readonly status: number; readonly text: string }> {
  const simulator = await startDialect(name, { model: 'm', engine: { stepBaseMilliseconds: 0.1 } });
  try {
    const request = { method: 'POST', headers, body: JSON.stringify({ ...BODY, ...body }) };
    const response = await fetch(`${simulator.url}${path}`, request);
    return { status: response.status, text: await response.text() };
  } finally {
    await simulator.close();
  }
}

interface Event {
  readonly choices: readonly { readonly delta?: object; readonly finish_reason?: string | null }[];
  readonly usage?: object | null;
}

/** Of a stream: its comments, and the JSON of its events before the last. */
function partsOf(text: string): { readonly comments: readonly string[]; readonly events: readonly Event[] } {
  const lines = text.split('\n').filter((line) => line !== '');
  expect(lines.at(-1)).toBe('data: [DONE]');
  return {
    comments: lines.filter((line) => line.startsWith(':')),
    events: lines
      .slice(0, -1)
      .flatMap((line) => (line.startsWith('data: ') ? [JSON.parse(line.slice(6)) as Event] : [])),
  };
}

test.each(DIALECT_NAMES)('%s has dated sources', (name) => {
  const { sources, path, tokenFields } = DIALECTS[name];
  expect(sources.length).toBeGreaterThan(0);
  for (const { url, date } of sources) {
    expect(new URL(url).protocol).toBe('https:');
    expect(date).toMatch(/^20\d\d-\d\d-\d\d$/);
  }
  expect(path).toMatch(/^\//);
  expect(tokenFields.length).toBeGreaterThan(0);
});

describe('a request', () => {
  test('without a key is refused by a service, and not by a server', async () => {
    expect((await asked('groq', {}, {})).status).toBe(401);
    expect((await asked('azure', {}, { authorization: 'Bearer KEY' })).status).toBe(401);
    expect((await asked('ollama', {}, {})).status).toBe(200);
  });

  test('without the query that the path requires finds nothing, and neither does the path of others', async () => {
    expect((await asked('azure', {}, KEYS, '/openai/deployments/m/chat/completions')).status).toBe(404);
    expect((await asked('azure', {}, KEYS, '/v1/chat/completions')).status).toBe(404);
  });

  test('with a field that is refused is answered in the words of the dialect', async () => {
    const { status, text } = await asked('mistral', { max_completion_tokens: 4 });
    expect(status).toBe(422);
    expect(JSON.parse(text)).toMatchObject({
      object: 'error',
      message: { detail: [{ type: 'extra_forbidden', loc: ['body', 'max_completion_tokens'] }] },
    });
    expect((await asked('openai', {})).status).toBe(400);
    expect((await asked('openai', { max_tokens: undefined, max_completion_tokens: 4 })).status).toBe(200);
  });

  test('limits the output only by a field that the dialect knows', async () => {
    const { text } = await asked('ollama', { stream: true, max_tokens: undefined, max_completion_tokens: 4 });
    // A model that ends by itself says 16 tokens or more, the last of them its stop mark.
    expect(partsOf(text).events.length).toBeGreaterThan(15);
    expect(partsOf(text).events.at(-1)?.choices[0]?.finish_reason).toBe('stop');
  });
});

describe('a stream', () => {
  test('has usage only if it is requested, unless the dialect gives it always', async () => {
    const usages = async (name: DialectName, body: object) =>
      partsOf((await asked(name, { stream: true, ...body })).text).events.map(({ usage }) => usage ?? null);
    const requested = { stream_options: { include_usage: true } };
    const counts = { prompt_tokens: 6, completion_tokens: 4, total_tokens: 10 };
    expect(await usages('vllm', {})).toEqual([null, null, null, null, null]);
    expect(await usages('vllm', requested)).toEqual([null, null, null, null, null, counts]);
    expect(await usages('mistral', {})).toEqual([null, null, null, null, null, counts]);
    expect(await usages('nim', requested)).toEqual(
      [0, 1, 2, 3, 4, 4].map((n) => ({ prompt_tokens: 6, completion_tokens: n, total_tokens: 6 + n })),
    );
    expect(await usages('koboldcpp', requested)).toEqual([null, null, null, null, null]);
  });

  test('has the comments of the dialect', async () => {
    const { comments } = partsOf((await asked('openrouter', { stream: true })).text);
    expect(comments).toEqual([': OPENROUTER PROCESSING', ': OPENROUTER PROCESSING']);
  });

  test('counts reasoning beside the output where the dialect does', async () => {
    const { events } = partsOf((await asked('xai', { stream: true, stream_options: { include_usage: true } })).text);
    expect(events.map(({ choices }) => Object.keys(choices[0]?.delta ?? {}))).toEqual([
      ['reasoning_content'],
      ['reasoning_content'],
      ['content'],
      ['content'],
      [],
      [],
    ]);
    expect(events.at(-1)?.usage).toMatchObject({
      ...{ prompt_tokens: 6, completion_tokens: 2, total_tokens: 10 },
      completion_tokens_details: { reasoning_tokens: 2 },
    });
  });
});

test('the options of run name the path where it is not the usual one', () => {
  const at = (name: DialectName) => targetOptions(DIALECTS[name], 'http://h', 'm');
  expect(at('vllm')).toEqual(['--url', 'http://h']);
  expect(at('groq')).toEqual(['--url', 'http://h/openai', '--api-key-env', 'LLM_API_KEY']);
  expect(at('deepseek').slice(0, 2)).toEqual(['--url', 'http://h/chat/completions']);
  expect(at('databricks').slice(0, 4)).toEqual([
    ...['--url', 'http://h', '--endpoint-path', '/serving-endpoints/m/invocations'],
  ]);
  expect(at('azure').slice(-2)).toEqual(['--header', 'api-key: KEY']);
});
