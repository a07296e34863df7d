import { afterEach, describe, expect, test } from '@jest/globals';

import type { EngineParameters } from '../engine/parameters.ts';
import { startSimulator } from '../main.ts';
import type { RunningSimulator, SimulatorOptions } from '../main.ts';
import { readPage } from '../metrics/testing/read-page.ts';
import type { SimulatedPage } from '../metrics/testing/read-page.ts';
import { DEFAULT_ENGINE_PARAMETERS } from '../engine/parameters.ts';
import { parseFaults, withEngineFaults } from './plan.ts';

const FAST: Partial<EngineParameters> = {
  stepBaseMilliseconds: 2,
  decodeMillisecondsPerSequence: 0.01,
  prefillMillisecondsPerToken: 0.01,
};

let simulator: RunningSimulator;

async function start(faults: readonly string[], options: Partial<SimulatorOptions> = {}): Promise<void> {
  const engine = { ...FAST, ...options.engine };
  simulator = await startSimulator({
    system: 'vllm',
    model: 'm',
    switches: false,
    ...options,
    engine,
    faults: parseFaults(faults),
  });
}

afterEach(() => simulator.close());

function chat(body: object): Promise<Response> {
  const messages = [{ role: 'user', content: 'Say something, please' }];
  const json = JSON.stringify({ model: 'm', messages, ...body });
  return fetch(`${simulator.url}/v1/chat/completions`, { method: 'POST', body: json });
}

async function page(): Promise<SimulatedPage> {
  return readPage(await (await fetch(simulator.metricsUrl)).text());
}

/** What a stream brought until it ended or broke. */
async function readStream(response: Response): Promise<{ text: string; broke: boolean }> {
  let text = '';
  try {
    for await (const piece of response.body ?? []) text += Buffer.from(piece as Uint8Array).toString();
    return { text, broke: false };
  } catch {
    return { text, broke: true };
  }
}

const events = (text: string): string[] =>
  text
    .split('\n\n')
    .filter((event) => event !== '')
    .map((event) => event.replace(/^data: /, ''));

const isJson = (text: string): boolean => {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
};

describe('streams', () => {
  test('reset: the configured number of tokens, then the connection breaks; the engine drops the request', async () => {
    await start(['reset:rate=1,after-tokens=4']);
    const { text, broke } = await readStream(await chat({ stream: true, max_tokens: 500 }));
    expect(broke).toBe(true);
    expect(text.match(/"content":" /g)).toHaveLength(4);
    expect(text).not.toContain('[DONE]');
    const truth = (await (await fetch(simulator.truthUrl)).json()) as { requests: { outcome: string }[] };
    expect(truth.requests.map(({ outcome }) => outcome)).toEqual(['aborted']);
  });

  test('malformed: one event that is no JSON, all others as they should be', async () => {
    await start(['malformed:rate=1,after-tokens=2']);
    const { text } = await readStream(await chat({ stream: true, max_tokens: 6 }));
    const all = events(text);
    expect(all.at(-1)).toBe('[DONE]');
    // A role, two tokens, the broken one, three tokens.
    expect(all.slice(0, -1).map(isJson)).toEqual([true, true, true, false, true, true, true]);
  });

  test('a share of them, by the seed', async () => {
    const broken = async (): Promise<boolean[]> => {
      await start(['malformed:rate=0.5,after-tokens=0'], { seed: 3 });
      const each = [];
      for (let i = 0; i < 12; i++) {
        const { text } = await readStream(await chat({ stream: true, max_tokens: 2 }));
        each.push(
          events(text)
            .slice(0, -1)
            .some((event) => !isJson(event)),
        );
      }
      await simulator.close();
      return each;
    };
    const first = await broken();
    expect(new Set(first)).toEqual(new Set([true, false]));
    expect(await broken()).toEqual(first);
  });
});

describe('refusals', () => {
  test('429 with Retry-After, and only requests to generate', async () => {
    await start(['http-429:after=0,seconds=600,retry-after=7']);
    const response = await chat({ max_tokens: 1 });
    expect(response.status).toBe(429);
    expect(response.headers.get('retry-after')).toBe('7');
    expect(await response.json()).toMatchObject({ error: { code: 429 } });
    expect((await fetch(`${simulator.url}/v1/models`)).status).toBe(200);
    expect((await page()).sum('http_requests_total', { status: '4xx' })).toBe(1);
  });

  test('503, only in its window', async () => {
    await start(['http-503:after=0,seconds=600']);
    expect((await chat({ max_tokens: 1 })).status).toBe(503);
    await simulator.close();
    await start(['http-503:after=600,seconds=600']);
    expect((await chat({ max_tokens: 1 })).status).toBe(200);
  });
});

test('slow start: nothing but /truth answers', async () => {
  await start(['slow-start:seconds=600']);
  for (const url of [`${simulator.url}/health`, simulator.metricsUrl, `${simulator.url}/v1/models`]) {
    expect((await fetch(url)).status).toBe(503);
  }
  expect((await chat({ max_tokens: 1 })).status).toBe(503);
  expect((await fetch(simulator.truthUrl)).status).toBe(200);
});

test('restart: connections break, and all counters begin at 0', async () => {
  await start(['restart:after=1.5,seconds=0.1']);
  await (await chat({ max_tokens: 2 })).text();
  expect((await page()).sum('vllm:generation_tokens_total')).toBe(2);
  const { broke } = await readStream(await chat({ stream: true, max_tokens: 8000 }));
  expect(broke).toBe(true);
  for (let read: SimulatedPage | null = null; read?.sum('vllm:generation_tokens_total') !== 0;) {
    // The port is closed for a while.
    read = await page().catch(() => null);
  }
});

test('stall: a stream pauses, and its tokens continue afterwards', async () => {
  await start(['stall:after=0,seconds=1.5']);
  const { text } = await readStream(await chat({ stream: true, max_tokens: 3 }));
  expect(text).toContain('[DONE]');
  const truth = (await (await fetch(simulator.truthUrl)).json()) as { origin: number; requests: { due: number[] }[] };
  // The first step began within the stall: it ends with it.
  expect((truth.requests[0]?.due[0] ?? 0) - truth.origin).toBe(1.5e9);
});

test('KV pressure: requests are preempted', async () => {
  const engine = { maxModelLen: 128, numKvBlocks: 4000, enablePrefixCaching: false };
  await start(['kv-pressure:ratio=0.003'], { engine });
  // Twelve blocks; eight requests that come to need eight each.
  await Promise.all(Array.from({ length: 8 }, () => chat({ max_tokens: 118 }).then((response) => response.text())));
  expect((await page()).sum('vllm:num_preemptions_total')).toBeGreaterThan(0);
});

describe('a slowdown', () => {
  test('makes every step of the engine longer', () => {
    const slow = withEngineFaults(DEFAULT_ENGINE_PARAMETERS, parseFaults(['slowdown:factor=2']));
    // The defaults are 12 ms for a step, 0.25 ms for a sequence and 0.15 ms for a prompt token.
    expect(slow).toEqual({
      ...DEFAULT_ENGINE_PARAMETERS,
      ...{ stepBaseMilliseconds: 24, decodeMillisecondsPerSequence: 0.5, prefillMillisecondsPerToken: 0.3 },
    });
  });
});

describe('a slow KV tier', () => {
  test('delays what is loaded from it', async () => {
    const engine = {
      maxModelLen: 128,
      numKvBlocks: 8,
      offloadTiers: [{ name: 'host', blocks: 100, loadMillisecondsPerBlock: 1 }],
    };
    await start(['slow-kv-tier:factor=50'], {
      system: 'trtllm',
      engine: { ...engine, blockSize: 16, speculation: null },
    });
    const ask = async (word: string): Promise<number> => {
      const messages = [{ role: 'user', content: `${word} `.repeat(90) }];
      const response = await chat({ max_tokens: 1, messages });
      const id = response.headers.get('x-request-id');
      await response.text();
      const truth = (await (await fetch(`${simulator.truthUrl}?id=${id}`)).json()) as {
        requests: { arrival: number; due: number[] }[];
      };
      const [request] = truth.requests;
      return ((request?.due[0] ?? 0) - (request?.arrival ?? 0)) / 1e6;
    };
    const cold = await ask('one');
    await ask('two');
    // Five blocks of the six came from the host or are still there; at least four had to be loaded, 50 ms each.
    expect(await ask('one')).toBeGreaterThan(cold + 100);
  });

  test('is refused without a KV tier', async () => {
    await start([]);
    const faults = parseFaults(['slow-kv-tier']);
    await expect(startSimulator({ system: 'vllm', switches: false, faults })).rejects.toThrow(
      'slow-kv-tier: this system has no KV tier',
    );
    const hot = parseFaults(['hot-worker']);
    await expect(startSimulator({ system: 'vllm', faults: hot })).rejects.toThrow(
      'hot-worker: there is only one worker',
    );
  });
});
