import { describe, expect, test } from '@jest/globals';

import { captureText } from '../../fixtures/captures.ts';
import { loadCatalog } from '../../catalog/load.ts';
import { Engine } from '../engine/engine.ts';
import { DEFAULT_ENGINE_PARAMETERS } from '../engine/parameters.ts';
import type { EngineParameters } from '../engine/parameters.ts';
import { pageShape } from '../metrics/testing/page-shape.ts';
import { SGLANG_PARAMETERS } from './start.ts';
import { SglangProfile } from './profile.ts';

// Written by SGLang 0.5.23's own collectors: before the first request, and after 150 of which 6 were aborted.
const fixture = (name: string): string => captureText(`sglang/${name}.txt`);

/** Small enough that requests queue and are retracted, that prefixes are evicted and come back from both tiers. */
const SMALL: EngineParameters = {
  ...DEFAULT_ENGINE_PARAMETERS,
  ...SGLANG_PARAMETERS,
  maxNumSeqs: 4,
  maxModelLen: 1024,
  numKvBlocks: 66,
  offloadTiers: [
    { name: 'host', blocks: 30, loadMillisecondsPerBlock: 0.1 },
    { name: 'storage', blocks: 300, loadMillisecondsPerBlock: 1 },
  ],
};

function loadedPage(switches: boolean): string {
  const engine = new Engine(SMALL);
  const profile = new SglangProfile({ modelName: 'tiny-random', parameters: SMALL, switches });
  for (let i = 0; i < 60; i++) {
    const family = i % 12;
    engine.submit({
      id: `r${i}`,
      arrival_ns: i * 20e6,
      promptTokens: 160,
      promptBlockHashes: Array.from({ length: 10 }, (_, block) => family * 1000 + block),
      outputTokens: 200,
      streaming: i % 4 !== 0,
    });
  }
  engine.abort('r59', 60 * 20e6);
  profile.observe(engine.advanceTo(1e12));
  if (switches) {
    const response = {
      handler: '/v1/loads',
      method: 'GET',
      status: 200,
      seconds: 0.001,
      requestBytes: 0,
      responseBytes: 9,
    };
    profile.responded(response);
  }
  return profile.metricsPage(engine.state);
}

function idlePage(): string {
  const profile = new SglangProfile({ modelName: 'tiny-random', parameters: SMALL, switches: false });
  return profile.metricsPage(new Engine(SMALL).state);
}

// The engine adds these two labels, which its collectors, driven without it, did not.
const ofTheEngine = (page: string): string => page.replaceAll('attn_cp_rank="0",attn_cp_size="1",', '');

describe('the page is the real one, but for the numbers', () => {
  test('before the first request', () => {
    expect(pageShape(ofTheEngine(idlePage()))).toEqual(pageShape(fixture('idle')));
  });

  test('under load: families in order, type, HELP, label names, bucket bounds as text', () => {
    const real = pageShape(fixture('loaded'));
    const ours = pageShape(ofTheEngine(loadedPage(false)));
    const names = new Set(real.map(({ name }) => name));
    expect(ours.filter(({ name }) => names.has(name))).toEqual(real);
    // What the recorded load did not make happen: retractions and loads from below the device.
    expect(ours.map(({ name }) => name).filter((name) => !names.has(name))).toEqual([
      'sglang:num_retracted_requests_total',
      'sglang:num_retracted_input_tokens_total',
      'sglang:num_retracted_output_tokens_total',
      'sglang:storage_prefetch_hit_tokens_total',
      'sglang:prefetch_pgs',
      'sglang:backup_pgs',
      'sglang:prefetch_bandwidth',
      'sglang:backup_bandwidth',
      'sglang:load_back_duration_seconds',
      'sglang:load_back_tokens_total',
    ]);
  });

  test('numbers are floats, and there are no creation times', () => {
    const page = loadedPage(true);
    for (const line of page.split('\n').filter((text) => text !== '' && !text.startsWith('#'))) {
      expect(line).toMatch(/ \d+\.\d+$| \d(\.\d+)?e[+-]\d\d$| NaN$/);
    }
    expect(page).not.toContain('_created');
    expect(page).toContain('le="0.0016200000000000001"');
  });
});

test('with all switches every required family is on the page, but those that no server of today shows', () => {
  const required = loadCatalog('sglang').families.filter(
    ({ required, exposed }) => required && exposed !== 'never' && exposed !== 'other_release',
  );
  const page = loadedPage(true);
  expect(required.length).toBeGreaterThan(100);
  expect(
    required.filter(({ name, type }) => !page.includes(`# TYPE ${name} ${type}\n`)).map(({ name }) => name),
  ).toEqual([]);
});

test('the labels are those of the catalog', () => {
  const catalog = loadCatalog('sglang');
  for (const { name, samples } of pageShape(loadedPage(true))) {
    const facts = catalog.families.find((family) => family.name === name);
    const omitted = facts?.omit_labels ?? [];
    const labels = [...catalog.common_labels.filter((label) => !omitted.includes(label)), ...(facts?.labels ?? [])];
    const optional = new Set([...(facts?.optional_labels ?? []), 'le']);
    for (const sample of samples) {
      const [, ...own] = sample.split(' ').filter((word) => word !== '');
      expect([name, own.filter((label) => labels.includes(label) || !optional.has(label)).sort()]).toEqual([
        name,
        labels.sort(),
      ]);
    }
  }
});
