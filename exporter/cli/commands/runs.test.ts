import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { lstat, mkdtemp, readFile, readlink, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { addRun } from '../../store/changes/add-run.ts';
import { addedRun } from '../../store/fixtures/added-run.ts';
import { openStore } from '../../store/run-store.ts';
import type { RunStore } from '../../store/run-store.ts';
import { CliError } from '../failure.ts';
import { storeSweep } from '../../sweeps/testing/store-sweep.ts';
import { run as report } from './report.ts';
import { run } from './runs.ts';
import { runListing } from './runs/run-listing.ts';
import { damagedRun } from '../../store/index/rows.ts';

let directory: string;
let store: RunStore;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'llmbench-runs-'));
  ({ store } = await openStore(directory));
  await addRun(store, addedRun('20260101-old', { start: '2026-01-01T00:00:00.000Z' }));
  await addRun(store, addedRun('20260102-new', { start: '2026-01-02T00:00:00.000Z', tags: ['kept'] }));
});

afterEach(async () => {
  jest.restoreAllMocks();
  await rm(directory, { recursive: true });
});

/** What the command prints, and its exit code. */
async function runs(...argv: string[]): Promise<{ code: number; out: string; err: string }> {
  let [out, err] = ['', ''];
  jest.spyOn(process.stdout, 'write').mockImplementation((text) => {
    out += String(text);
    return true;
  });
  jest.spyOn(process.stderr, 'write').mockImplementation((text) => ((err += String(text)), true));
  try {
    const [name = 'list', ...rest] = argv;
    return { code: await run([name, ...rest, '--runs-dir', directory]), out, err };
  } finally {
    jest.restoreAllMocks();
  }
}

describe('show of a group', () => {
  beforeEach(() =>
    storeSweep(store, {
      name: 'sweep',
      group: 'g-1',
      loads: [1, 8, 64],
      capacity: 32,
      ttftObjective: 1,
      scenario: 'chat',
    }),
  );

  test('is one table with a row per load', async () => {
    const { code, out } = await runs('show', 'g-1');
    expect(code).toBe(0);
    const rows = out.split('\n').filter((line) => /^(1|8 \+|64)\s+/.test(line));
    expect(rows.map((row) => row.split(/ {2,}/).slice(0, 3))).toEqual([
      ['1', '40', '0'],
      ['8 +', '320', '0'],
      ['64', '2,560', '0'],
    ]);
    expect(out).toContain('TTFT p99 <= 1 s: + met up to 8, not met from 64');
  });

  test('for machines: the steps as the API has them', async () => {
    const { out } = await runs('show', 'g-1', '--json');
    expect(JSON.parse(out)).toMatchObject({
      name: 'g-1',
      sweeps: [{ steps: [{ load: 1 }, { load: 8 }, { load: 64 }] }],
    });
  });

  test('a scenario at several loads is one as well, and at one load it is not', async () => {
    expect((await runs('show', 'scenario:chat')).out).toContain('8 +');
    await expect(runs('show', 'scenario:example')).rejects.toThrow(/scenario:example is not a sweep/);
    await expect(runs('show', 'scenario:none')).rejects.toThrow(/no run of scenario "none"/);
  });

  test('its report has the curves and needs no network', async () => {
    jest.spyOn(process.stdout, 'write').mockReturnValue(true);
    expect(await report(['g-1', '--gpus', '8', '--runs-dir', directory])).toBe(0);
    const page = await readFile(join(directory, 'g-1.report.html'), 'utf8');
    expect(page).toContain('Tokens/s per user and per GPU');
    expect(page).not.toMatch(/<(script|link|img|iframe)\b|\bsrc=/i);
    // The reports of its runs are beside it.
    const links = [...page.matchAll(/href="([^"]*)"/g)].map(([, link]) => link);
    expect(links).toEqual(links.map(() => expect.stringMatching(/^[\w-]+\/report\.html$/)));
    // It is no run.
    expect((await runs('list', '--json')).out).not.toContain('report.html');
  });

  test('a report of a group in the format of another tool is refused', async () => {
    await expect(report(['g-1', '--export', 'aiperf', '--runs-dir', directory])).rejects.toThrow(/single run/);
  });

  test('its runs are exported together', async () => {
    const { out } = await runs('export', 'g-1', '--rows', 'measures');
    const ids = new Set(out.trim().split('\n').slice(1).map((line) => line.split(',')[0])); // prettier-ignore
    expect([...ids].sort()).toEqual(['sweep-1-0', 'sweep-64-0', 'sweep-8-0']);
  });

  test('its steps are exported as CSV, a row per load', async () => {
    const { out } = await runs('export', 'g-1', '--rows', 'steps');
    const [head = '', ...rows] = out.trim().split('\n');
    expect(head).toMatch(/^name,source,load_mode,load,runs,objective,ok,error,timeout,cancelled,request_throughput,/);
    expect(rows.map((row) => row.split(',').slice(1, 7))).toEqual([
      ['g-1', 'concurrency', '1', '1', 'met', '40'],
      ['g-1', 'concurrency', '8', '1', 'met', '320'],
      ['g-1', 'concurrency', '64', '1', 'not_met', '2560'],
    ]);
  });
});

describe('list', () => {
  test('newest first, with what is known', async () => {
    const { code, out } = await runs('list');
    expect(code).toBe(0);
    expect(out.split('\n').map((line) => line.split(/ {2,}/)[0])).toEqual(['run', '20260102-new', '20260101-old', '']);
    const [head, newest] = out.split('\n').map((line) => line.split(/ {2,}/));
    expect(Object.fromEntries((head ?? []).map((name, i) => [name, newest?.[i]]))).toEqual({
      run: '20260102-new',
      'start (UTC)': '2026-01-02 00:00',
      window: '1 s',
      scenario: 'example',
      model: 'example-model',
      load: 'c2',
      ok: '4',
      failed: '1',
      status: 'completed',
      tags: 'kept',
    });
  });

  test('JSON has the figures of each run, null where there are none', async () => {
    const [newest] = JSON.parse((await runs('list', '--json')).out) as Record<string, unknown>[];
    expect(newest).toMatchObject({
      run_id: '20260102-new',
      start: '2026-01-02T00:00:00.000Z',
      figures: {
        window_seconds: 1,
        requests: { ok: 4, error: 1, timeout: 0, cancelled: 0 },
        request_throughput: 7,
        output_token_throughput: null,
        time_to_first_token_seconds: null,
        slos: null,
      },
    });
  });

  test('a run whose result cannot be read is listed without figures', async () => {
    await writeFile(join(directory, '20260102-new', 'result.json'), '');
    const { out } = await runs('list');
    expect(out).toMatch(/20260102-new +2026-01-02 00:00 +– +example/);
  });

  test('conditions, a limit and what it leaves out', async () => {
    expect((await runs('list', '--where', 'tag=kept')).out).not.toContain('20260101-old');
    expect((await runs('list', '--limit', '1')).out).toContain('… and 1 older (--limit)');
    expect((await runs('list', '--where', 'model=none')).out).toBe(`no runs match in ${directory}\n`);
    expect(JSON.parse((await runs('list', '--json', '--limit', '1')).out)).toMatchObject([{ tags: ['kept'] }]);
  });

  test('a damaged run is named and the rest is listed', async () => {
    await writeFile(join(directory, '20260101-old', 'run.json'), '');
    const { code, out } = await runs('list');
    expect(code).toBe(0);
    expect(out).toContain('20260102-new');
    expect(out).toMatch(/20260101-old {2}cannot be read: .*is damaged: it is not JSON/);
  });

  test('a line fits the terminal, ids stay whole and control characters are shown', () => {
    const hostile = {
      ...damagedRun('20261121T190000Z-abcdefghij', ''),
      damage: null,
      scenario: `\u001b[2J${'x'.repeat(90)}`,
    };
    const [head = '', line = ''] = runListing([hostile], 80);
    expect(head.length).toBeLessThanOrEqual(80);
    expect(line.length).toBeLessThanOrEqual(80);
    expect(line).toContain('20261121T190000Z-abcdefghij');
    expect(line).toContain('\\u001b[2Jxxx');
    expect(line).toContain('…');
  });
});

describe('the columns of the list', () => {
  const figures = {
    window_seconds: 20.7,
    requests: { ok: 136, error: 0, timeout: 0, cancelled: 0 },
    request_throughput: 6.6,
    output_token_throughput: 421,
    time_to_first_token_seconds: { n: 136, p50: 0.332, p99: 0.342 },
    inter_token_latency_seconds: { n: 136, p50: 0.0141, p99: 0.0184 },
    request_latency_seconds: null,
    client: 'ok',
    slos: 'not_met',
  } as const;
  const listed = {
    ...damagedRun('20261121T190000Z-abcdefghij', ''),
    damage: null,
    start: '2026-11-21T19:00:00.000Z',
    status: 'completed',
    scenario: 'nightly',
    model: 'meta-llama/Llama-3.1-8B-Instruct',
    tool: 'llmbench',
    system: 'vllm',
    concurrency: 16,
    figures,
  } as const;

  test('are all there where there is room', () => {
    const cells = runListing([listed], Infinity).map((line) => line.split(/ {2,}/));
    expect(cells[0]).toEqual(
      'run,start (UTC),window,scenario,model,system,load,ok,TTFT p50,TTFT p99,ITL p50,tokens/s,status,SLO'.split(','),
    );
    expect(cells[1]?.slice(2)).toEqual(
      '20.7 s,nightly,meta-llama/Llama-3.1-8B-Instruct,vllm,c16,136,332 ms,342 ms,14.1 ms,421,completed,NOT MET'.split(
        ',',
      ),
    );
  });

  test.each([80, 100, 120, 160, 200])('fit %d columns and keep what matters most', (width) => {
    const [head = '', line = ''] = runListing([listed], width);
    expect(Math.max(head.length, line.length)).toBeLessThanOrEqual(width);
    for (const kept of ['run', 'load', 'ok', 'TTFT p50', 'TTFT p99', 'tokens/s', 'status'])
      expect(head).toContain(kept);
    expect(line).toContain('20261121T190000Z-abcdefghij');
  });

  test('show verdicts in color below the head, and keep the width', () => {
    const paint = (text: string): string => (text === 'NOT MET' ? 'n<>OT MET' : text);
    const plain = runListing([listed], Infinity);
    const painted = runListing([listed], Infinity, paint);
    expect(painted).toEqual(plain.map((line) => line.replace('NOT MET', 'n<>OT MET')));
    expect(plain.join('')).toContain('NOT MET');
  });

  test('tell runs apart that differ only in their dataset', () => {
    const run = (run_id: string, dataset: string | null) => ({ ...listed, run_id, dataset });
    const [, one = '', two = ''] = runListing([run('a', 'ISL 64, OSL 32'), run('b', 'ISL 256, OSL 32')], 160);
    expect(one).toMatch(/c16 +ISL 64 +136/);
    expect(two).toMatch(/c16 +ISL 256 +136/);
    const alike = [run('a', 'ISL 64, OSL 32'), run('b', 'ISL 64, OSL 32'), run('before', null)];
    expect(runListing(alike, 160)[0]).not.toContain('dataset');
  });

  test('say where requests failed', () => {
    const failed = { ...listed, figures: { ...figures, requests: { ...figures.requests, error: 2, timeout: 1 } } };
    const [head = '', , line = ''] = runListing([listed, failed], 100);
    expect(line.slice(head.indexOf('failed'), head.indexOf('failed') + 6).trim()).toBe('3');
  });
});

describe('which run', () => {
  test.each([
    ['latest', '20260102-new'],
    ['20260101', '20260101-old'],
    ['20260102-new', '20260102-new'],
  ])('%s is %s', async (name, runId) => {
    expect((await runs('show', name)).out).toContain(`${join(directory, runId)}\n`);
  });

  test.each([
    ['2026', 'is a prefix of several runs: 20260102-new, 20260101-old'],
    ['x', 'no run "x" in'],
    ['', 'no run "" in'],
    ['../20260101-old', 'no run "../20260101-old" in'],
  ])('%j is refused', async (name, message) => {
    await expect(runs('show', name)).rejects.toThrow(CliError);
    await expect(runs('show', name)).rejects.toThrow(message);
  });

  test('none is refused', async () => {
    for (const command of ['show', 'tag', 'delete', 'export']) {
      await expect(runs(command)).rejects.toThrow('RUN is required');
    }
    await expect(runs('lsit')).rejects.toThrow("'lsit' is not one of list, show");
  });
});

describe('show', () => {
  test('facts, then the result', async () => {
    const { out } = await runs('show', 'latest');
    expect(out).toContain('load        concurrency 2, 10 requests, after a warm-up of 1 request\n');
    expect(out).toContain('requests    ok 4 · error 1');
    expect(JSON.parse((await runs('show', 'latest', '--json')).out)).toEqual(await store.readResult('20260102-new'));
  });
});

describe('tag', () => {
  test('gives and takes away', async () => {
    expect((await runs('tag', 'latest', '+b', '+a', '-kept')).out).toBe('20260102-new  a, b\n');
    expect((await store.readRun('20260102-new')).tags).toEqual(['a', 'b']);
    expect((await runs('verify')).out).toBe('2 ok\n');
  });

  test.each(['+a/b', '+', `+${'x'.repeat(65)}`])('%j is refused', async (tag) => {
    await expect(runs('tag', 'latest', tag)).rejects.toThrow(CliError);
  });
});

describe('delete and prune', () => {
  test('stdin is not a terminal', async () => {
    await expect(runs('delete', 'latest')).rejects.toThrow('pass --yes');
    expect(await store.runIds()).toHaveLength(2);
  });

  test('delete', async () => {
    expect((await runs('delete', 'latest', '--yes')).out).toBe('20260102-new  deleted\n');
    expect(await store.runIds()).toEqual(['20260101-old']);
  });

  test('prune says first what it would do', async () => {
    await addRun(store, addedRun('20251231-older', { start: '2025-12-31T00:00:00.000Z' }));
    const { out } = await runs('prune', '--keep-last', '0', '--keep-tagged', '--dry-run');
    expect(out).toContain('2 runs would be deleted, 1 kept\n');
    expect(await store.runIds()).toHaveLength(3);
    await runs('prune', '--keep-last', '0', '--keep-tagged', '--yes');
    expect(await store.runIds()).toEqual(['20260102-new']);
    expect((await runs('prune', '--keep-last', '1')).out).toBe('nothing to delete: the rules keep the 1 run\n');
  });

  test('a run whose order is not known is not taken for the newest, nor pruned for its age', async () => {
    await addRun(store, addedRun('undated-a', { start: null }));
    await addRun(store, addedRun('undated-b', { start: null }));
    const kept = await runs('prune', '--keep-last', '1', '--dry-run');
    expect(kept.out).toContain('1 run would be deleted, 3 kept\n');
    expect(kept.err).toMatch(/^2 runs kept, because .* it is not known how old they are/);
    expect((await runs('show', 'latest', '--json')).out).toContain('"20260102-new"');
    await runs('prune', '--keep-days', '0', '--yes');
    await expect(runs('show', 'latest')).rejects.toThrow(
      'latest: the order of 2 runs is not known, without a start time or a time of import: undated-b, undated-a; name the runs',
    );
  });

  test('without a rule nothing is pruned', async () => {
    await expect(runs('prune', '--yes')).rejects.toThrow('--keep-last N or --keep-days N is required');
    await expect(runs('prune', '--keep-tagged', '--yes')).rejects.toThrow('--keep-last N or --keep-days N is required');
  });
});

describe('verify', () => {
  test('finds damaged runs, and sets them aside on request', async () => {
    const path = join(directory, '20260101-old', 'result.json');
    await writeFile(path, (await readFile(path, 'utf8')).replace('"ok":4', '"ok":5'));
    const { code, out } = await runs('verify');
    expect([code, out]).toEqual([1, '20260101-old  result.json differs from its checksum\n1 ok · 1 damaged\n']);
    await runs('verify', '--set-aside');
    expect(await store.runIds()).toEqual(['20260102-new']);
    expect(await readFile(join(directory, '.damaged', '20260101-old', 'result.json'), 'utf8')).toContain('"ok":5');
  });
});

describe('export', () => {
  test('CSV and JSONL have the same rows', async () => {
    const csv = (await runs('export', 'latest', '20260101-old')).out.trimEnd().split('\n');
    expect(csv).toHaveLength(11);
    expect(csv[0]).toMatch(/^run_id,index,phase,stage,conversation,turn,.*,due_ns,/);
    const jsonl = (await runs('export', 'latest', '--format', 'jsonl')).out.trimEnd().split('\n');
    expect(JSON.parse(jsonl[1] ?? '')).toMatchObject({
      run_id: '20260102-new',
      index: 1,
      chunk_offsets_ns: [20e6, 45000001, 90e6],
    });
    const measures = (await runs('export', 'latest', '--rows', 'measures')).out;
    expect(measures).toContain(
      '20260102-new,request_throughput,requests_per_second,ok_requests_over_window,client,ok,sent,scalar,7,',
    );
  });

  test('Parquet that another reader understands', async () => {
    const path = join(directory, 'out.parquet');
    await expect(runs('export', 'latest', '--format', 'parquet')).rejects.toThrow('--output');
    await runs('export', 'latest', '--format', 'parquet', '--output', path);
    const { asyncBufferFromFile, parquetReadObjects } = await import('hyparquet');
    const { zstdDecompressSync } = await import('node:zlib');
    const compressors = { ZSTD: (bytes: Uint8Array) => zstdDecompressSync(bytes) };
    const rows = await parquetReadObjects({ file: await asyncBufferFromFile(path), compressors });
    expect(rows).toHaveLength(5);
    expect(rows[1]).toMatchObject({
      run_id: '20260102-new',
      index: 1n,
      outcome: 'ok',
      chunk_offsets_ns: [20_000_000n, 45_000_001n, 90_000_000n],
    });
  });
});

describe('export --output', () => {
  const exportTo = (path: string, ...more: string[]): ReturnType<typeof runs> =>
    runs('export', 'latest', '--output', path, ...more);

  test('to a FIFO: its reader gets the rows, and the FIFO stays', async () => {
    const path = join(directory, 'fifo');
    execFileSync('mkfifo', [path]);
    const read = readFile(path, 'utf8');
    await exportTo(path);
    expect(await read).toBe((await runs('export', 'latest')).out);
    expect((await lstat(path)).isFIFO()).toBe(true);
    await expect(exportTo(path, '--format', 'parquet')).rejects.toThrow(
      'is not a regular file, which Parquet requires',
    );
  });

  test('to a symbolic link: its target is replaced, and the link stays', async () => {
    const [path, target] = [join(directory, 'link'), join(directory, 'target.csv')];
    await writeFile(target, 'old');
    await symlink('target.csv', path);
    await exportTo(path);
    expect(await readFile(target, 'utf8')).toBe((await runs('export', 'latest')).out);
    expect(await readlink(path)).toBe('target.csv');
  });

  (existsSync('/dev/full') ? test : test.skip)(
    'to a full device: one line, exit code 1, and the device stays',
    async () => {
      const failure = await exportTo('/dev/full').then(
        () => null,
        (error: unknown) => error,
      );
      const message = '--output /dev/full cannot be written: the disk is full (ENOSPC)';
      expect(failure).toMatchObject({ message, exitCode: 1 });
      expect((await lstat('/dev/full')).isCharacterDevice()).toBe(true);
    },
  );
});

test.each([[], ['--format', 'aiperf']])(
  'export --output to where no file can be: the path is named (%p)',
  async (...format) => {
    const path = join(directory, 'file');
    await writeFile(path, '');
    await expect(runs('export', 'latest', '--output', join(path, 'x'), ...format)).rejects.toThrow(
      `--output ${join(path, 'x')} cannot be written: a part of the path is not a directory (ENOTDIR)`,
    );
    await rm(path);
  },
);

test('an empty store and one that does not exist are reported', async () => {
  await rm(directory, { recursive: true });
  expect((await runs('list')).out).toBe(`no finished runs in ${directory}\n`);
  expect((await runs('verify')).out).toBe('0 ok\n');
  await store.checkWritable();
});
