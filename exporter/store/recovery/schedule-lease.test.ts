import { mkdtemp, readdir, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { ownIdentity } from '../../files/process-identity.ts';
import { ScheduleLease } from './serve-presence.ts';

let directory: string;
let file: string;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'llmbench-lease-'));
  file = join(directory, '.schedule.json');
});

afterEach(() => rm(directory, { recursive: true }));

test('is held until it is released', async () => {
  const lease = new ScheduleLease(directory);
  expect([await lease.isHeld(), await lease.isHeld()]).toEqual([true, true]);
  await lease.release();
  expect(await readdir(directory)).not.toContain('.schedule.json');
});

test('is not taken from a process elsewhere that touches it, and is when that has ended', async () => {
  await writeFile(file, JSON.stringify({ pid: process.pid, start_time: '000000000000.1' }));
  const lease = new ScheduleLease(directory);
  expect(await lease.isHeld()).toBe(false);
  await lease.release();
  expect(await readdir(directory)).toContain('.schedule.json');
  const past = new Date(Date.now() - 120_000);
  await utimes(file, past, past);
  expect(await lease.isHeld()).toBe(true);
  await lease.release();
});

// Elsewhere a later process with the same ID looks the same.
(process.platform === 'linux' ? test : test.skip)(
  'is taken from a process that has ended (requires Linux)',
  async () => {
    const { pid, start_time } = ownIdentity();
    await writeFile(file, JSON.stringify({ pid, start_time: `${start_time}0` }));
    const lease = new ScheduleLease(directory);
    expect(await lease.isHeld()).toBe(true);
    await lease.release();
  },
);

test('a file of others is replaced', async () => {
  await writeFile(file, 'x');
  const lease = new ScheduleLease(directory);
  expect(await lease.isHeld()).toBe(true);
  await lease.release();
});
