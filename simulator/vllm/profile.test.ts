import { describe, expect, test } from '@jest/globals';

import { captureText } from '../../fixtures/captures.ts';
import { isAlwaysExposed, loadCatalog } from '../../catalog/load.ts';
import { Engine } from '../engine/engine.ts';
import { DEFAULT_ENGINE_PARAMETERS } from '../engine/parameters.ts';
import type { EngineParameters } from '../engine/parameters.ts';
import { pageShape } from '../metrics/testing/page-shape.ts';
import { oneTwoFiveBounds } from '../metrics/page.ts';
import { VllmProfile } from './profile.ts';
import { VLLM_PARAMETERS } from './start.ts';

// A page of vLLM 0.33.0 after accepted requests: model "tiny", max_model_len 2048.
const realPage = captureText('vllm/0.33.0.txt.gz');

const IDLE = { ...new Engine(DEFAULT_ENGINE_PARAMETERS).state, numKvBlocks: 16_383 };

function pageLikeTheReal(): string {
  const parameters = { ...DEFAULT_ENGINE_PARAMETERS, maxModelLen: 2048, numKvBlocks: 16_383, blockSize: 128 };
  const profile = new VllmProfile({ modelName: 'tiny', parameters, wallSeconds: () => 1795279939.25, switches: false });
  const request = { handler: '/v1/chat/completions', method: 'POST', seconds: 1, requestBytes: 9, responseBytes: 9 };
  profile.responded({ ...request, status: 200 });
  return profile.metricsPage(IDLE);
}

/** The page without its numbers: comments, names, labels and bucket bounds, in order. */
function withoutValues(page: string): string[] {
  return page.split('\n').map((line) => (line.startsWith('#') ? line : line.replace(/ [^ ]+$/, '')));
}

// What the real page says of its own cache size, which is a fact of that machine.
const withoutMemory = (line: string): string => line.replace(/kv_cache_memory_bytes="\d+"/, '');

test('the page is the real one, line by line, but for the numbers', () => {
  const ours = withoutValues(pageLikeTheReal()).map(withoutMemory);
  expect(ours).toEqual(withoutValues(realPage).map(withoutMemory));
});

test('every required family that is always exposed is on the page, by pages and follows of its catalog', () => {
  const required = loadCatalog('vllm').families.filter((family) => family.required && isAlwaysExposed(family));
  const page = pageLikeTheReal();
  expect(required.length).toBeGreaterThan(30);
  expect(required.filter((family) => !page.includes(`# TYPE ${family.name} ${family.type}\n`))).toEqual([]);
});

/** Every switch on, and so little room that prefixes leave the device and come back. */
function pageWithSwitches(parameters: Partial<EngineParameters> = {}): string {
  const small = { ...DEFAULT_ENGINE_PARAMETERS, ...VLLM_PARAMETERS, maxModelLen: 256, numKvBlocks: 16, ...parameters };
  const engine = new Engine(small);
  const profile = new VllmProfile({ modelName: 'tiny', parameters: small, wallSeconds: () => 1795279939.25 });
  for (let i = 0; i < 12; i++) {
    const promptBlockHashes = Array.from({ length: 8 }, (_, block) => (i % 3) * 100 + block);
    engine.submit({ id: `r${i}`, arrival_ns: i * 1e9, promptTokens: 130, promptBlockHashes, outputTokens: 20 });
  }
  profile.observe(engine.advanceTo(1e12));
  const response = { handler: '/v1/chat/completions', method: 'POST', status: 200, seconds: 1 };
  profile.responded({ ...response, requestBytes: 9, responseBytes: 9 });
  return profile.metricsPage(engine.state);
}

describe('with all switches', () => {
  test('every required family is on the page and has series, by pages and follows of its catalog', () => {
    const required = loadCatalog('vllm').families.filter(
      ({ required, exposed }) => required && exposed !== 'never' && exposed !== 'other_release',
    );
    const shapes = new Map(pageShape(pageWithSwitches()).map((shape) => [shape.name, shape]));
    expect(required.length).toBeGreaterThan(55);
    expect(required.filter(({ name, type }) => shapes.get(name)?.type !== type).map(({ name }) => name)).toEqual([]);
    expect(required.filter(({ name }) => shapes.get(name)?.samples.length === 0)).toEqual([]);
  });

  test('what is added comes after the plain page, with the labels of the catalog', () => {
    const plain = new Set(pageShape(pageLikeTheReal()).map(({ name }) => name));
    const { families, common_labels: common } = loadCatalog('vllm');
    const added = pageShape(pageWithSwitches()).filter(({ name }) => !plain.has(name) && !name.endsWith('_created'));
    expect(added.length).toBeGreaterThan(25);
    for (const { name, samples } of added) {
      const facts = families.find((family) => family.name === name);
      const own = common.filter((label) => !facts?.omit_labels?.includes(label));
      const labels = [...own, ...(facts?.labels ?? [])].sort();
      for (const sample of samples) {
        const [, ...shown] = sample.split(' ').filter((word) => word !== '' && word !== 'le');
        expect([name, shown]).toEqual([name, labels]);
      }
    }
  });

  test('an engine without a drafter or tiers shows no family of theirs', () => {
    const page = pageWithSwitches({ speculation: null, offloadTiers: [] });
    expect(page).toContain('vllm:nixl_bytes_transferred');
    expect(page).not.toContain('vllm:spec_decode');
    expect(page).not.toContain('vllm:kv_offload');
  });
});

test('the numbers have the form of the real page: floats, and creation times as Unix time', () => {
  const page = pageLikeTheReal();
  expect(page).toContain('vllm:num_requests_running{engine="0",model_name="tiny"} 0.0\n');
  expect(page).toContain('vllm:prompt_tokens_created{engine="0",model_name="tiny"} 1.79527993925e+09\n');
  expect(page).toContain('vllm:engine_sleep_state{engine="0",model_name="tiny",sleep_state="awake"} 1.0\n');
  for (const line of page.split('\n').filter((line) => line !== '' && !line.startsWith('#'))) {
    expect(line).toMatch(/ \d+\.\d+$| \d(\.\d+)?e[+-]\d\d$/);
  }
});

describe('bounds of token counts', () => {
  test.each([
    [1, [1]],
    [4, [1, 2]],
    [2048, [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000]],
    [100, [1, 2, 5, 10, 20, 50, 100]],
  ])('up to %i', (limit, bounds) => {
    expect(oneTwoFiveBounds(limit)).toEqual(bounds);
  });
});
