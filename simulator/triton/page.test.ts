import { expect, test } from '@jest/globals';

import { captureText } from '../../fixtures/captures.ts';
import { loadCatalog } from '../../catalog/load.ts';
import { DEFAULT_ENGINE_PARAMETERS } from '../engine/parameters.ts';
import { pageShape } from '../metrics/testing/page-shape.ts';
import { startTriton } from './start.ts';
import { NO_FAULTS } from '../faults/plan.ts';

// A page of Triton 2.51.0 with three models on a CPU, after some load; `demo_*` are families of one of its models.
const realPage = captureText('triton/loaded.txt');

async function fetchPage(): Promise<{ text: string; contentType: string | null }> {
  const triton = await startTriton({
    host: '127.0.0.1',
    port: 0,
    model: 'm',
    workers: 1,
    faults: NO_FAULTS,
    parameters: DEFAULT_ENGINE_PARAMETERS,
  });
  try {
    const { port, path } = triton.pages[0];
    const response = await fetch(`http://127.0.0.1:${port}${path}`);
    return { text: await response.text(), contentType: response.headers.get('content-type') };
  } finally {
    await triton.close();
  }
}

test('every family of the real page is on ours, in its order, with the same type, help, labels and quantiles', async () => {
  const { text, contentType } = await fetchPage();
  const real = pageShape(realPage).filter(({ name }) => !name.startsWith('demo_'));
  const names = new Set(real.map(({ name }) => name));
  expect(pageShape(text).filter(({ name }) => names.has(name))).toEqual(real);
  expect(contentType).toBe('text/plain');
  const quantiles = (page: string): Set<string> => new Set(page.match(/quantile="[^"]*"/g));
  expect(quantiles(text)).toEqual(quantiles(realPage));
});

test('numbers are whole where the real ones are, and an empty window is Nan', async () => {
  const { text } = await fetchPage();
  expect(text).toContain('nv_inference_request_success{model="m",version="1"} 0\n');
  expect(text).toContain('nv_inference_queue_summary_us{model="m",version="1",quantile="0.5"} Nan\n');
  expect(text).toContain('nv_inference_request_failure{model="m",reason="REJECTED",version="1"} 0\n');
  expect(text).not.toMatch(/nv_inference_request_summary_us_count\{model="m-cached"/);
});

test.each(['triton', 'triton-trtllm-backend', 'triton-vllm-backend'])(
  'families of the catalog %s have its type, labels and buckets, and none that is required is missing',
  async (system) => {
    const { text } = await fetchPage();
    const shapes = new Map(pageShape(text).map((shape) => [shape.name, shape]));
    const { families, common_labels } = loadCatalog(system);
    for (const { name, type, labels, buckets } of families) {
      const shape = shapes.get(name);
      if (shape === undefined) continue;
      expect([name, shape.type]).toEqual([name, type]);
      const expected = [...common_labels, ...labels].sort().join(' ');
      if (type === 'counter' || type === 'gauge') expect(shape.samples).toEqual([`${name} ${expected}`]);
      if (Array.isArray(buckets) && type === 'histogram') {
        expect(shape.bounds.slice(0, -1).map(Number)).toEqual(buckets);
      }
    }
    const required = families.filter((family) => family.required).map(({ name }) => name);
    expect(required.filter((name) => !shapes.has(name))).toEqual([]);
  },
);
