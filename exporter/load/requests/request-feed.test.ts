import { expect, test } from '@jest/globals';
import { chat } from '../endpoints/openai.ts';
import { RequestFeed } from './request-feed.ts';
import { syntheticDataset } from '../datasets/synthetic-dataset.ts';

const form = {
  endpoint: chat,
  path: chat.path,
  headers: {},
  dataset: syntheticDataset({ inputTokens: 5, outputTokens: 8, seed: 1 }),
  options: { model: 'm', sampling: {}, includeUsage: true },
};

test.each([0, 3, 100])('gives each request once and in order, holding %i ahead', async (ahead) => {
  const feed = new RequestFeed(form, 'measure', 20, ahead);
  const bodies: unknown[] = [];
  const positions: number[] = [];
  for (let ready = feed.take(); ready !== null; ready = feed.take()) {
    positions.push(ready.position);
    bodies.push(ready.request.body);
    if (positions.length % 4 === 0) await new Promise((resolve) => setImmediate(resolve));
  }
  expect(positions).toEqual([...Array(20).keys()]);
  expect(bodies).toEqual(positions.map((i) => chat.body(form.dataset.request('measure', i), form.options)));
  expect(feed.take()).toBeNull();
});
