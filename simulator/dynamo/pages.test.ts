import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';

import { captureText } from '../../fixtures/captures.ts';
import { loadCatalog } from '../../catalog/load.ts';
import { startSimulator } from '../main.ts';
import type { RunningSimulator } from '../main.ts';
import { pageShape } from '../metrics/testing/page-shape.ts';
import type { FamilyShape } from '../metrics/testing/page-shape.ts';

// Pages of ai-dynamo 1.6.1, frontend and one of two workers with the mock engine: before the first request, and after a load.
const idle = captureText('dynamo/1.6.1/frontend-idle.txt.gz');
const loaded = captureText('dynamo/1.6.1/frontend.txt.gz');
const loadedWorker = captureText('dynamo/1.6.1/worker.txt.gz');
const realVllm = captureText('vllm/0.33.0.txt.gz');
const realLmcache = captureText('lmcache/loaded.txt');

const FAST = { stepBaseMilliseconds: 1, decodeMillisecondsPerSequence: 0.01, prefillMillisecondsPerToken: 0.01 };

let simulator: RunningSimulator;
let before: string;
let pages: string[];

async function text(url: string): Promise<string> {
  return (await fetch(url)).text();
}

beforeAll(async () => {
  simulator = await startSimulator({ system: 'dynamo', model: 'mock', workers: 2, engine: FAST });
  before = await text(simulator.metricsUrl);
  const body = JSON.stringify({ messages: [{ role: 'user', content: 'x' }], max_tokens: 3, stream: true });
  const url = `${simulator.url}/v1/chat/completions`;
  for (let i = 0; i < 4; i++) await (await fetch(url, { method: 'POST', body })).text();
  // One whose client goes away.
  const long = JSON.stringify({ messages: [{ role: 'user', content: 'x' }], max_tokens: 5000, stream: true });
  await (await fetch(url, { method: 'POST', body: long })).body?.cancel();
  await fetch(url, { method: 'POST', body: '{' });
  await expectSoon(async () => (await text(simulator.metricsUrl)).includes('dynamo_frontend_model_cancellation_total'));
  pages = await Promise.all(simulator.metricsUrls.map(text));
});
afterAll(() => simulator.close());

async function expectSoon(isSo: () => Promise<boolean>): Promise<void> {
  for (let tries = 0; tries < 200; tries++) {
    if (await isSo()) return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  throw new Error('did not happen');
}

/** Of the families of `real`, what our page has instead. */
function ours(page: string, real: readonly FamilyShape[]): FamilyShape[] {
  const names = new Set(real.map(({ name }) => name));
  return pageShape(page).filter(({ name }) => names.has(name));
}

describe('the frontend', () => {
  test('after the first request: the families of the real page, in its order, with the texts of their buckets', () => {
    const real = pageShape(loaded);
    expect(ours(pages[0] ?? '', real)).toEqual(real);
  });

  test('before the first request: what the real one has then, and nothing that it has only later', () => {
    const real = pageShape(idle);
    expect(ours(before, real)).toEqual(real);
    const early = new Set(real.map(({ name }) => name));
    const late = pageShape(loaded).filter(({ name }) => !early.has(name));
    expect(late).toHaveLength(28);
    expect(ours(before, late)).toEqual([]);
  });

  test('numbers in the form of the real page', () => {
    const requests = 'dynamo_frontend_requests_total{endpoint="chat_completions",error_type="",model="mock",';
    expect(pages[0]).toContain(`${requests}request_type="stream",status="success"} 4\n`);
    expect(pages[0]).not.toMatch(/\d\.0$/m);
  });
});

describe('a worker', () => {
  test('its own families are those of the real page', () => {
    const real = pageShape(loadedWorker).filter(({ name }) => !name.startsWith('vllm:'));
    expect(ours(pages[1] ?? '', real)).toEqual(real);
  });

  test("vLLM's and LMCache's families are passed through as they are, and nothing else of vLLM's page", () => {
    const vllm = pageShape(realVllm).filter(({ name }) => name.startsWith('vllm:'));
    const withoutOwnLimits = (shapes: FamilyShape[]) =>
      shapes.map(({ name, type, help, samples }) => ({ name, type, help, samples }));
    expect(withoutOwnLimits(ours(pages[1] ?? '', vllm))).toEqual(withoutOwnLimits(vllm));
    const lmcache = pageShape(realLmcache);
    expect(ours(pages[1] ?? '', lmcache).map(({ name, type }) => [name, type])).toEqual(
      lmcache.map(({ name, type }) => [name, type]),
    );
    expect(pages[1]).not.toMatch(/^(http|process|python)_/m);
  });

  test('knows itself by the hexadecimal form of the id that the frontend has in decimal', () => {
    const hex = /dynamo_component_uptime_seconds\{worker_id="([0-9a-f]+)"\}/.exec(pages[1] ?? '')?.[1] ?? '';
    expect(pages[0]).toContain(`router_worker_id="${BigInt(`0x${hex}`)}"`);
  });
});

test.each(['dynamo', 'dynamo-router'])(
  'families of the catalog %s have its type and labels, and none that is required is missing',
  (system) => {
    const shapes = new Map(pages.flatMap((page) => pageShape(page).map((shape) => [shape.name, shape] as const)));
    const { families } = loadCatalog(system);
    for (const { name, type, labels, optional_labels = [] } of families) {
      const shape = shapes.get(name);
      if (shape === undefined) continue;
      expect([name, shape.type]).toEqual([name, type]);
      if (type === 'histogram') continue;
      const own = (shape.samples[0] ?? '')
        .split(' ')
        .slice(1)
        .filter((label) => label !== '' && !optional_labels.includes(label));
      expect([name, own]).toEqual([name, [...labels].sort()]);
    }
    // Those of other releases are not on this one's pages; these two need an overload and the loss of a worker.
    const onFault = ['dynamo_frontend_model_rejection_total', 'dynamo_frontend_model_migration_total'];
    const missing = families.filter(
      ({ name, required, exposed }) => required && exposed !== 'other_release' && !shapes.has(name),
    );
    expect(missing.map(({ name }) => name).filter((name) => !onFault.includes(name))).toEqual([]);
  },
);
