import { readFileSync } from 'node:fs';

import { expect, test } from '@jest/globals';

import { parseText } from '../../core/exposition/index.ts';
import { pageReport, pageText } from './page-report.ts';

const page = (name: string): string =>
  pageText(
    'http://host/metrics',
    pageReport(parseText(readFileSync(new URL(`./fixtures/${name}`, import.meta.url)))),
    120,
  );

test('the page of a Dynamo worker, section by section', () => {
  const text = page('dynamo-worker.txt');
  const headings = text.split('\n').filter((line) => /^\S.* \(\d+\)$/.test(line));
  expect(headings.slice(0, 3)).toEqual(['known (27)', 'deprecated (4)', expect.stringMatching(/^expected but absent/)]);
  expect(text).toContain('systems: NVIDIA Dynamo, vLLM (passed through), NVIDIA Dynamo router, KV index and KV events');
  expect(text).toContain('vllm:gpu_cache_usage_perc: removed 2025-11-25');
  expect(text).toMatch(/^ {2}vllm:kv_cache_usage_perc +gauge +ratio +1 +vllm$/m);
});

test('what Triton lacks is reported with the switch that turns it on', () => {
  const text = page('triton.txt');
  expect(text).toContain('unknown (2)');
  expect(text).toContain('  --metrics-config histogram_latencies=true; 2.51.0 accepts the setting');
  expect(text).toContain('nv_model_load_duration_secs (after 2.51.0)');
});

test('creation times are not counted as families', () => {
  expect(page('vllm.txt')).toContain('54 families, 155 samples, text-0.0.4; 38 creation times (_created) not counted');
});
