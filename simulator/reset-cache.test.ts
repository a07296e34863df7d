import { afterEach, expect, test } from '@jest/globals';
import { startSimulator } from './main.ts';
import type { RunningSimulator } from './main.ts';

let simulator: RunningSimulator | null = null;
afterEach(async () => {
  await simulator?.close();
  simulator = null;
});

const CACHED = /^(?:vllm:prompt_tokens_cached_total|sglang:cached_tokens_total)\{[^}]*\} (\d+)/gm;

/** How many tokens of a prompt that is sent now come from the cache. */
async function cachedTokens(port: number): Promise<number> {
  const origin = `http://127.0.0.1:${port}`;
  const counted = async (): Promise<number> => {
    const page = await (await fetch(`${origin}/metrics`)).text();
    return Math.max(0, ...[...page.matchAll(CACHED)].map(([, value]) => Number(value)));
  };
  const before = await counted();
  const content = Array.from({ length: 200 }, (_, i) => `word${i}`).join(' ');
  const response = await fetch(`${origin}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'm', messages: [{ role: 'user', content }], max_tokens: 1 }),
  });
  expect(response.status).toBe(200);
  await response.text();
  return (await counted()) - before;
}

test.each([
  ['vllm', '/reset_prefix_cache'],
  ['sglang', '/flush_cache'],
] as const)('%s empties its prefix cache at %s', async (system, path) => {
  simulator = await startSimulator({ system, model: 'm', workers: 1 });
  const { port } = simulator;
  expect(await cachedTokens(port)).toBe(0);
  expect(await cachedTokens(port)).toBeGreaterThan(0);
  const answer = await fetch(`http://127.0.0.1:${port}${path}`, { method: 'POST' });
  expect(answer.status).toBe(200);
  expect(await cachedTokens(port)).toBe(0);
});
