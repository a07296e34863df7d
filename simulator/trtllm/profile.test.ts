import { describe, expect, test } from '@jest/globals';

import { captureText } from '../../fixtures/captures.ts';
import { loadCatalog } from '../../catalog/load.ts';
import { Engine } from '../engine/engine.ts';
import { DEFAULT_ENGINE_PARAMETERS } from '../engine/parameters.ts';
import type { EngineParameters } from '../engine/parameters.ts';
import { pageShape } from '../metrics/testing/page-shape.ts';
import { TrtllmProfile } from './profile.ts';
import { TRTLLM_PARAMETERS } from './start.ts';

// Written by TensorRT-LLM's own collectors: before the first request, and after 150.

const SMALL: EngineParameters = {
  ...DEFAULT_ENGINE_PARAMETERS,
  ...TRTLLM_PARAMETERS,
  maxNumSeqs: 4,
  maxModelLen: 1024,
  numKvBlocks: 33,
  offloadTiers: [
    { name: 'host', blocks: 12, loadMillisecondsPerBlock: 0.2 },
    { name: 'disk', blocks: 100, loadMillisecondsPerBlock: 2 },
  ],
};

function loaded(): TrtllmProfile {
  const engine = new Engine(SMALL);
  const profile = new TrtllmProfile('m', SMALL);
  for (let i = 0; i < 60; i++) {
    engine.submit({
      id: `r${i}`,
      arrival_ns: i * 20e6,
      promptTokens: 330,
      promptBlockHashes: Array.from({ length: 10 }, (_, block) => (i % 12) * 1000 + block),
      outputTokens: 100,
    });
  }
  engine.abort('r59', 60 * 20e6);
  profile.observe(engine.advanceTo(1e12));
  const request = { handler: '/v1/chat/completions', method: 'POST', seconds: 1, requestBytes: 9, responseBytes: 9 };
  profile.responded({ ...request, status: 400 });
  return profile;
}

const IDLE = new Engine(SMALL).state;

/** Requests that ask for log-probabilities, which the simulator does not give. */
const NOT_SIMULATED = ['trtllm_generation_perplexity', 'trtllm_prefill_perplexity'];

describe('the Prometheus page is the real one, but for the numbers', () => {
  test('before the first request', () => {
    expect(pageShape(new TrtllmProfile('m', SMALL).metricsPage(IDLE))).toEqual(
      pageShape(captureText('trtllm/idle.txt')),
    );
  });

  test('under load: families in order, type, HELP, label names, bucket bounds as text', () => {
    const real = pageShape(captureText('trtllm/loaded.txt')).filter(({ name }) => !NOT_SIMULATED.includes(name));
    expect(pageShape(loaded().metricsPage(IDLE))).toEqual(real);
  });
});

test('every required family is on one of the two pages', () => {
  const required = loadCatalog('trtllm').families.filter(
    ({ required, exposed }) => required && exposed !== 'never' && exposed !== 'other_release',
  );
  const profile = loaded();
  const pages = profile.metricsPage(IDLE) + profile.workerPage();
  expect(required.length).toBeGreaterThanOrEqual(60);
  expect(Object.keys(loadCatalog('trtllm').pages?.['dynamo_worker'] ?? {}).length).toBe(7);
  const missing = required.filter(({ name, type }) => {
    return !pages.includes(`# TYPE ${name} ${type === 'info' ? 'gauge' : type}\n`);
  });
  expect(missing.map(({ name }) => name)).toEqual([]);
});

describe('the rows of iteration statistics', () => {
  type Row = Record<string, unknown>;
  const rowsOf = (profile: TrtllmProfile): Row[] => JSON.parse(profile.drainIterations()) as Row[];

  test('have the keys of the real ones, with values of the same types', () => {
    const [real] = JSON.parse(captureText('trtllm/iteration-stats.json.gz')) as Row[];
    const [ours] = rowsOf(loaded());
    // Optional on the real server: one has the newer key lists of the pools, the other the requests.
    const newer = /^kvCacheIterationStatsBy|^requestStats$/;
    const newerInflight = /^num(Ctx|Gen|Queued|Paused).*(KvTokens|Requests|Tokens)$/;
    const shape = (value: unknown, key = ''): unknown => {
      if (Array.isArray(value)) return 'array';
      if (typeof value !== 'object' || value === null) return typeof value;
      const entries = Object.entries(value).filter(
        ([name]) => !newer.test(name) && !(key === 'inflightBatchingStats' && newerInflight.test(name)),
      );
      // The key of a window is its size.
      return Object.fromEntries(entries.map(([name, each]) => [name.replace(/^\d+$/, 'size'), shape(each, name)]));
    };
    expect(shape(ours)).toEqual(shape(real));
    expect(ours?.['timestamp']).toMatch(/^\d\d-\d\d-\d{4} \d\d:\d\d:\d\d\.\d{6}$/);
  });

  test('every required path is there', () => {
    const catalog = loadCatalog('trtllm-iteration-stats');
    const paths = [
      ...catalog.families.map(({ required, json }) => ({ required, path: json?.path })),
      ...(catalog.fields ?? []),
    ];
    const rows = rowsOf(loaded());
    const has = (value: unknown, [key = '', ...rest]: readonly string[]): boolean => {
      if (Array.isArray(value)) return value.some((each) => has(each, [key, ...rest]));
      if (key === '') return value !== undefined && value !== null;
      return typeof value === 'object' && value !== null && has((value as Row)[key], rest);
    };
    const missing = paths.filter(
      ({ required, path = '' }) => required && !has(rows, path.replaceAll('[]', '').split('.')),
    );
    expect(missing).toEqual([]);
  });

  test('are removed when read, and the oldest are dropped when nothing reads them', () => {
    const profile = loaded();
    const rows = rowsOf(profile);
    expect(rows.length).toBeGreaterThan(100);
    expect(rows.map((row) => row['iter'])).toEqual(rows.map((_, i) => (rows[0]?.['iter'] as number) + i));
    expect(rowsOf(profile)).toEqual([]);
  });
});
