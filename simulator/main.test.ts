import { expect, test } from '@jest/globals';

import { parseText } from '../core/exposition/index.ts';
import { SIMULATED_SYSTEMS, startSimulator } from './main.ts';

test.each(SIMULATED_SYSTEMS)(
  '%s: every page is one that a parser reads, the main one first, and ports are freed',
  async (system) => {
    const simulator = await startSimulator({ system, workers: 2 });
    try {
      expect(simulator.metricsUrls[0]).toBe(simulator.metricsUrl);
      expect(new Set(simulator.metricsUrls).size).toBe(simulator.metricsUrls.length);
      for (const url of simulator.metricsUrls) {
        const response = await fetch(url);
        const type = response.headers.get('content-type') ?? '';
        const body = new Uint8Array(await response.arrayBuffer());
        expect([url, response.status]).toEqual([url, 200]);
        // TensorRT-LLM's own page is JSON.
        if (type.startsWith('text/plain')) expect(parseText(body).families.length).toBeGreaterThan(0);
      }
      const truth = (await (await fetch(simulator.truthUrl)).json()) as { requests: unknown };
      expect(truth.requests).toEqual([]);
    } finally {
      await simulator.close();
    }
    for (const url of simulator.metricsUrls) await expect(fetch(url)).rejects.toThrow('fetch failed');
  },
);
