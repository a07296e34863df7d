import { mkdtemp, readFile, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { ownIdentity } from '../../files/process-identity.ts';
import { announceServe, findServe, isDiscovered } from './serve-presence.ts';
import { until } from '../../../core/testing/until.ts';

let directory: string;
let file: string;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'llmbench-serve-'));
  file = join(directory, '.serve.json');
});

afterEach(() => rm(directory, { recursive: true }));

const url = 'http://127.0.0.1:9469';

describe('findServe', () => {
  test('none', async () => {
    expect(await findServe(directory)).toBeNull();
    expect(await findServe(join(directory, 'missing'))).toBeNull();
  });

  test('from its announcement to its end', async () => {
    const presence = await announceServe(directory, url);
    expect(await findServe(directory)).toEqual({ ...ownIdentity(), url, discovery_asked_at: null, grafana_url: null });
    await presence.stop();
    expect(await findServe(directory)).toBeNull();
  });

  // Elsewhere a later process with the same ID looks the same.
  (process.platform === 'linux' ? test : test.skip)('not after its process ended (requires Linux)', async () => {
    const { pid, start_time } = ownIdentity();
    await writeFile(file, JSON.stringify({ pid, start_time: `${start_time}0`, url }));
    expect(await findServe(directory)).toBeNull();
  });

  test('in another container it is present while it touches its file', async () => {
    await writeFile(file, JSON.stringify({ pid: process.pid, start_time: '000000000000.1', url }));
    expect(await findServe(directory)).toMatchObject({ url });
    const past = new Date(Date.now() - 120_000);
    await utimes(file, past, past);
    expect(await findServe(directory)).toBeNull();
  });

  test('not if the file is not ours', async () => {
    for (const text of ['', 'x', '[]', '{"pid": 1}']) {
      await writeFile(file, text);
      expect(await findServe(directory)).toBeNull();
    }
  });
});

test('stop leaves the announcement of another serve', async () => {
  const presence = await announceServe(directory, url);
  const other = JSON.stringify({ pid: process.pid, start_time: '000000000000.1', url: 'http://127.0.0.1:1' });
  await writeFile(file, other);
  await presence.stop();
  expect(await readFile(file, 'utf8')).toBe(other);
});

describe('isDiscovered', () => {
  test('from the first request for the running runs until a minute and a half after the last', async () => {
    const presence = await announceServe(directory, url);
    try {
      expect(await isDiscovered(directory)).toBe(false);
      presence.discoveryAsked();
      await until(async () => (await findServe(directory))?.discovery_asked_at != null);
      expect(await isDiscovered(directory)).toBe(true);
      expect(await isDiscovered(directory, new Date(Date.now() + 91_000))).toBe(false);
    } finally {
      await presence.stop();
    }
    expect(await isDiscovered(directory)).toBe(false);
  });
});
