import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { RunList, RunLibrary } from '../../publish/views/run-library.ts';
import { openStore, type RunStore } from '../../store/run-store.ts';
import { deleteRun } from '../../store/changes/delete-run.ts';
import { storeSweep } from '../../sweeps/testing/store-sweep.ts';
import { tokenAccess } from '../access/access.ts';
import { hostCheck } from '../allowed-host.ts';
import { listen, type Listening } from '../listen.ts';
import { createApi } from './api.ts';
import { complaints, PROBLEM } from './fixtures/openapi.ts';

let store: RunStore;
let server: Listening;

/** A group of two repeats on 8 GPUs with an objective, one on 4 GPUs as stated, a scenario at two loads, and one at a single load. */
beforeAll(async () => {
  ({ store } = await openStore(await mkdtemp(join(tmpdir(), 'llmbench-sweeps-'))));
  await storeSweep(store, {
    ...{ name: 'new', group: 'group-1', loads: [1, 4, 16, 64, 256], capacity: 32, repeats: 2, gpus: 8, day: 2 },
    ttftObjective: 1,
  });
  await storeSweep(store, { name: 'old', group: null, loads: [2, 8], capacity: 16 });
  await storeSweep(store, { name: 'single', group: null, loads: [4], capacity: 16, day: 1 });
  await storeSweep(store, { name: 'torn', group: 'group-2', loads: [1, 2, 3], capacity: 16, day: 1, statedGpus: 4 });
  await writeFile(join(store.pathOf('torn-3-0'), 'result.json'), '{');
  const problem = (): void => undefined;
  const api = createApi({
    library: new RunLibrary(store, new RunList(store), problem),
    ...{ version: '0.1.0', access: tokenAccess({ token: null }), problem },
    hostCheck: hostCheck({ host: '127.0.0.1', allowedHosts: [] }),
  });
  server = await listen(api, { host: '127.0.0.1', port: 0 });
});

afterAll(async () => {
  await server.close();
  await rm(store.directory, { recursive: true });
});

interface Page {
  readonly sweeps: readonly { readonly sweep_id: string; readonly source: { readonly name: string } }[];
}

async function get(path: string): Promise<{ status: number; body: Record<string, unknown> }> {
  const response = await fetch(`${server.url}${path}`);
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}

async function idOf(name: string): Promise<string> {
  const { body } = await get('/sweeps');
  const found = (body as unknown as Page).sweeps.find(({ source }) => source.name === name);
  if (found === undefined) throw new Error(`no sweep ${name}`);
  return found.sweep_id;
}

describe('GET /sweeps', () => {
  test('groups and scenarios with several loads, newest first', async () => {
    const { status, body } = await get('/sweeps');
    expect(status).toBe(200);
    expect(complaints('/components/schemas/SweepPage', body)).toEqual([]);
    expect(body).toMatchObject({
      sweeps: [
        {
          source: { kind: 'group', name: 'group-1' },
          ...{ load_mode: 'concurrency', loads: [1, 4, 16, 64, 256], runs: 10, gpus: 8, has_objectives: true },
          within_objective: { holds: 16, fails: 64, monotonic: true },
        },
        { source: { kind: 'group', name: 'group-2' }, loads: [1, 2], gpus: 4 },
        { source: { kind: 'scenario', name: 'old' }, loads: [2, 8], gpus: null, within_objective: null },
      ],
      ...{ page: 1, total: 3, omitted_runs: 0 },
      unreadable_runs: [{ run_id: 'torn-3-0' }],
    });
    expect(JSON.stringify(body)).not.toContain(store.directory);
  });

  test('is paginated and filtered', async () => {
    expect((await get('/sweeps?limit=1&page=3')).body).toMatchObject({
      sweeps: [{ source: { name: 'old' } }],
      total: 3,
    });
    expect((await get('/sweeps?group=group-1')).body).toMatchObject({ total: 1 });
    expect((await get('/sweeps?scenario=single')).body).toMatchObject({ total: 0 });
    expect((await get('/sweeps?nonsense=1')).status).toBe(400);
  });
});

describe('GET /sweeps/{sweep_id}', () => {
  test('a step per load with mean and range over its repeats', async () => {
    const { status, body } = await get(`/sweeps/${await idOf('group-1')}`);
    expect(status).toBe(200);
    expect(complaints('/components/schemas/Sweep', body)).toEqual([]);
    expect(body['steps']).toMatchObject([
      {
        load: 1,
        runs: [{ run_id: 'new-1-0' }, { run_id: 'new-1-1' }],
        requests: { ok: 80 },
        values: { output_token_throughput: { n: 2 }, goodput: { n: 2 } },
        slos: [{ measure: 'time_to_first_token', stat: 'p99', limit: 1, met: 2, not_met: 0 }],
        objective: 'met',
      },
      { load: 4, objective: 'met' },
      { load: 16, objective: 'met' },
      { load: 64, objective: 'not_met' },
      { load: 256, objective: 'not_met' },
    ]);
  });

  test('its id stays when a run is removed', async () => {
    const id = await idOf('group-2');
    await deleteRun(store, 'torn-3-0');
    expect(await idOf('group-2')).toBe(id);
    expect((await get('/sweeps')).body).toMatchObject({ unreadable_runs: [] });
  });

  test('an unknown one is 404', async () => {
    const { status, body } = await get('/sweeps/none');
    expect(status).toBe(404);
    expect(complaints(PROBLEM, body)).toEqual([]);
  });
});
