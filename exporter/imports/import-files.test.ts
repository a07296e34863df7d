import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { describe, expect, test } from '@jest/globals';
import { NO_CONVERSATION, type RequestRecord } from '../../core/run/record.ts';
import { requestRecord } from '../publish/fixtures/run.ts';
import { editRun } from '../store/changes/edit-run.ts';
import { ImportNotes, ImportRefusal } from './import-notes.ts';
import type { ImportedRun, Importer } from './importer.ts';
import { readJsonDocument } from './reading/read-document.ts';
import { isObject } from './reading/fields.ts';
import { statedDistribution } from './stated/stated-measures.ts';
import { distributionOf, importedRun, importInto, inTemporaryFolder } from './testing/import-folder.ts';

/** The smallest importer there can be: `{"tiny": 1, "runs": [mean TTFT in ms, …]}`, one run per number. */
const TINY: Importer = {
  tool: 'tiny',
  recognize: ({ head }) => (head.keys.includes('tiny') ? { format: 'tiny' } : null),
  async *read(group, context) {
    for (const { file } of group.files) {
      const notes = new ImportNotes();
      const document = await readJsonDocument(file, notes, context);
      const means = isObject(document) && Array.isArray(document['runs']) ? document['runs'] : [];
      for (const [i, mean] of means.entries()) {
        if (typeof mean !== 'number') throw new ImportRefusal(`run ${i} has no number`);
        yield run({ part: means.length === 1 ? null : String(i), notes }, mean);
      }
    }
  },
};

function run(changes: Partial<ImportedRun>, meanMs: number): ImportedRun {
  return {
    part: null,
    tool: { name: 'tiny', version: '1' },
    format: { name: 'tiny', schema_version: null },
    scenario: null,
    target: { origin: null, system: null, system_version: null },
    key: { model: 'm' },
    status: 'completed',
    failure: null,
    start: '2026-01-02T03:04:05.000Z',
    records: null,
    stated: {
      window_seconds: 10,
      requests: { ok: 5, error: 0, timeout: null, cancelled: null },
      errors: {},
      measures: [
        statedDistribution(
          { measure: 'time_to_first_token', definition: 'sent_to_first_content_chunk' },
          { n: 5, mean: meanMs },
          1e-3,
        ),
      ],
    },
    servers: null,
    notes: new ImportNotes(),
    ...changes,
  };
}

const imported = async (folder: string, files: Readonly<Record<string, string>>, importer = TINY) => {
  const results = join(folder, 'results');
  await mkdir(results, { recursive: true });
  for (const [name, text] of Object.entries(files)) await writeFile(join(results, name), text);
  return importInto(join(folder, 'runs'), [results], { importers: [importer] });
};

test('each run has the time of its import and its place in it: files by their numbers, and runs by their place in the file', () =>
  inTemporaryFolder(async (folder) => {
    const before = new Date().toISOString();
    const files = { 'r10.json': '{"tiny": 1, "runs": [30]}', 'r9.json': '{"tiny": 1, "runs": [10, 20]}' };
    const { report, store } = await imported(folder, files);
    const sources = await Promise.all(
      report.outcomes.map(async (outcome) =>
        outcome.status === 'imported' ? await store.readRun(outcome.run_id) : null,
      ),
    );
    expect(sources.map((each) => [each?.source?.files[0], each?.source?.position])).toEqual([
      ['r9.json', 0],
      ['r9.json', 1],
      ['r10.json', 2],
    ]);
    const at = sources[0]?.source?.imported_at ?? '';
    expect(sources.map((each) => each?.source?.imported_at)).toEqual([at, at, at]);
    expect([before <= at, at <= new Date().toISOString()]).toEqual([true, true]);
  }));

test('one bad file does not hold up the others; a second import changes nothing', () =>
  inTemporaryFolder(async (folder) => {
    const files = {
      'a.json': '{"tiny": 1, "runs": [20]}',
      'b.json': '{"tiny": 1, "runs": ["x"]}',
      'c.json': '{"tiny": 1, "runs": [30',
      'd.json': '{"tiny": 1, "runs": [40]}',
      'e.json': '{"else": 1}',
    };
    const first = await imported(folder, files);
    expect(first.report).toMatchObject({ unrecognized: ['e.json'], passedOver: [] });
    expect(first.report.outcomes).toMatchObject([
      { status: 'imported', name: 'a.json' },
      { status: 'refused', name: 'b.json', reason: 'run 0 has no number' },
      { status: 'refused', name: 'c.json', reason: 'c.json: it is cut off at character 23' },
      { status: 'imported', name: 'd.json' },
    ]);
    const { run: file, result } = await importedRun(first);
    expect(distributionOf(result, 'time_to_first_token').mean).toBeCloseTo(0.02, 12);
    expect(file.run_id).toMatch(/^20260102T030405Z-[a-z0-9]{10}$/);
    expect(file.source?.unknown).toEqual([
      'endpoint_type',
      'load',
      'cancellation',
      'stop',
      'warmup',
      'dataset_plan_sha256',
      'sampling',
      'streaming',
    ]);
    const again = await imported(folder, files);
    expect(again.report.outcomes.map(({ status }) => status)).toEqual(['known', 'refused', 'refused', 'known']);
    expect(await again.store.runIds()).toHaveLength(2);
  }));

/** A result of `vllm bench serve` without lists, saved at a time without a zone after a minute of load. */
const benchResult = (date: string): string =>
  JSON.stringify({
    ...{
      date,
      backend: 'vllm',
      model_id: 'm',
      num_prompts: 500,
      max_concurrency: 2,
      duration: 60,
      completed: 500,
      failed: 0,
    },
    ...{ request_throughput: 8.3, mean_ttft_ms: 50, median_ttft_ms: 49, p99_ttft_ms: 90, total_input_tokens: 1000 },
  });

test('importing again with a time zone gives a run its start: it keeps its id, its scenario, its tags and its place', () =>
  inTemporaryFolder(async (folder) => {
    const runs = join(folder, 'runs');
    const paths = [join(folder, 'night.json'), join(folder, 'day.json')];
    for (const [i, path] of paths.entries()) await writeFile(path, benchResult(`2026080${i + 1}-120000`));
    const first = await importInto(runs, paths, { scenario: 'nightly', tags: ['a'] });
    const [undated] = first.report.outcomes;
    if (undated?.status !== 'imported') throw new Error('nothing was imported');
    expect(undated.notes).toContain(
      'the time in the file has no time zone: importing again with --time-zone gives the run its start',
    );
    const before = await first.store.readRun(undated.run_id);
    await editRun(first.store, undated.run_id, (each) => ({ ...each, tags: ['a', 'kept'] }));
    const second = await importInto(runs, paths, { timeZone: 'Europe/Berlin' });
    expect(second.report.outcomes).toMatchObject([
      { status: 'updated', run_id: undated.run_id, what: 'start time' },
      { status: 'updated', what: 'start time' },
    ]);
    const after = await first.store.readRun(undated.run_id);
    // Named `day`, it was saved on the second at noon, and took a minute.
    expect(after).toMatchObject({
      ...{
        start: '2026-08-02T09:59:00.000Z',
        end: '2026-08-02T10:00:00.000Z',
        scenario: 'nightly',
        tags: ['a', 'kept'],
      },
      source: { imported_at: before.source?.imported_at, position: before.source?.position },
    });
    expect((await first.store.readResult(undated.run_id)).window.start).toBe('2026-08-02T09:59:00.000Z');
    const again = await importInto(runs, paths, { timeZone: 'Europe/Berlin' });
    expect(again.report.outcomes.map(({ status }) => status)).toEqual(['known', 'known']);
    expect(await again.store.runIds()).toHaveLength(2);
  }));

test('importing again records the time of the import where an earlier version did not', () =>
  inTemporaryFolder(async (folder) => {
    const path = join(folder, 'bench.json');
    await writeFile(path, benchResult('20260801-120000'));
    const { report, store } = await importInto(join(folder, 'runs'), [path]);
    const [outcome] = report.outcomes;
    if (outcome?.status !== 'imported') throw new Error('nothing was imported');
    const older = { imported_at: null, position: null };
    await editRun(store, outcome.run_id, (each) => ({ ...each, source: each.source && { ...each.source, ...older } }));
    const again = await importInto(join(folder, 'runs'), [path]);
    expect(again.report.outcomes).toMatchObject([{ status: 'updated', what: 'time of import' }]);
    expect((await store.readRun(outcome.run_id)).source).toMatchObject({
      imported_at: expect.any(String),
      position: 0,
    });
  }));

test('a scenario and tags that are given are those of all runs, so that directories of any name can be compared', () =>
  inTemporaryFolder(async (folder) => {
    const results = join(folder, 'results');
    await mkdir(results);
    for (const mean of [20, 30]) await writeFile(join(results, `${mean}.json`), `{"tiny": 1, "runs": [${mean}]}`);
    const both = await importInto(join(folder, 'runs'), [results], {
      importers: [TINY],
      scenario: 'nightly',
      tags: ['gpu-a'],
    });
    const runs = [await importedRun(both, 0), await importedRun(both, 1)].map(({ run }) => run);
    expect(runs.map(({ scenario }) => scenario)).toEqual(['nightly', 'nightly']);
    expect(runs.map(({ tags }) => tags)).toEqual([['gpu-a'], ['gpu-a']]);
  }));

test('the same content under another name is the same run', () =>
  inTemporaryFolder(async (folder) => {
    await imported(folder, { 'a.json': '{"tiny": 1, "runs": [20]}' });
    const { report } = await imported(folder, { 'b.json': '{"tiny": 1, "runs": [20]}' });
    expect(report.outcomes.map(({ status }) => status)).toEqual(['known', 'known']);
  }));

test('several runs of one file: what an import that was cut short left out comes with the next', () =>
  inTemporaryFolder(async (folder) => {
    const file = { 'a.json': '{"tiny": 1, "runs": [20, 30, 40]}' };
    let read = 0;
    const breaking: Importer = {
      ...TINY,
      async *read(group, context) {
        for await (const each of TINY.read(group, context)) {
          if (++read === 3) throw new ImportRefusal('cut short');
          yield each;
        }
      },
    };
    const first = await imported(folder, file, breaking);
    expect(first.report.outcomes.map(({ status }) => status)).toEqual(['imported', 'imported', 'refused']);
    const again = await imported(folder, file);
    expect(again.report.outcomes).toMatchObject([
      { status: 'known', name: 'a.json (0)' },
      { status: 'known', name: 'a.json (1)' },
      { status: 'imported', name: 'a.json (2)' },
    ]);
  }));

describe('records', () => {
  const withRecords = (records: AsyncIterable<RequestRecord>): Importer => ({
    ...TINY,
    async *read() {
      yield await Promise.resolve(run({ records }, 20));
    },
  });

  test('that break off leave nothing behind', () =>
    inTemporaryFolder(async (folder) => {
      const breaking = Readable.from(
        (function* () {
          yield requestRecord();
          throw new ImportRefusal('the disk took the rest');
        })(),
      );
      const { report, store } = await imported(folder, { 'a.json': '{"tiny": 1}' }, withRecords(breaking));
      expect(report.outcomes).toMatchObject([{ status: 'refused', reason: 'the disk took the rest' }]);
      expect(await store.runIds()).toEqual([]);
      expect(await readdir(join(store.directory, '.unfinished'))).toEqual([]);
    }));

  test('that cannot be true are left out and reported', () =>
    inTemporaryFolder(async (folder) => {
      const good = requestRecord();
      const records = [
        good,
        { ...good, index: 1, end_ns: good.sent_ns - 1 },
        { ...good, index: 2, first_content_ns: good.sent_ns - 5 },
        { ...good, index: 3, chunk_offsets_ns: [30, 20] },
        { ...good, index: 4, output_tokens: -1 },
        { ...good, index: 5, sent_ns: 2 ** 60, end_ns: 2 ** 60 },
        { ...good, index: 6, chunk_offsets_ns: [10, 1e300] },
        { ...good, index: 7, http_receiving_ns: 1e300 },
        { ...good, index: 8, http_status: 1e300 },
      ];
      const report = await imported(folder, { 'a.json': '{"tiny": 1}' }, withRecords(Readable.from(records)));
      const { run: file, records: stored } = await importedRun(report);
      const unknown = {
        model: null,
        image_tokens: null,
        audio_tokens: null,
        documents: null,
        images: null,
        image_bytes: null,
        audio_ns: null,
        audio_bytes: null,
        request_bytes: null,
        tcp_connect_ns: null,
      };
      expect(stored).toEqual([{ ...good, stage: null, ...NO_CONVERSATION, ...unknown, trace_id: null }]);
      expect(file.source?.notes.filter((note) => note.includes('left out'))).toEqual([
        '1 × records left out: it ended before it was sent (first: request 1)',
        '1 × records left out: negative time to first token (first: request 2)',
        '1 × records left out: its chunks are not in order of time (first: request 3)',
        '1 × records left out: a token count is not a whole number of 0 or more (first: request 4)',
        '3 × records left out: a time is not a whole number of nanoseconds (first: request 5)',
        '1 × records left out: its HTTP status or requested length is not a whole number of 0 or more (first: request 8)',
      ]);
    }));
});

describe('the share of failed requests', () => {
  type Requests = ImportedRun['stated']['requests'];
  const NOTHING: Requests = { ok: null, error: null, timeout: null, cancelled: null };

  async function shareOf(requests: Partial<Requests>, changes: Partial<ImportedRun> = {}) {
    const base = run(changes, 20);
    const stated = { ...base.stated, ...changes.stated, requests: { ...NOTHING, ...requests } };
    const importer: Importer = {
      ...TINY,
      async *read() {
        yield await Promise.resolve({ ...base, stated });
      },
    };
    return inTemporaryFolder(async (folder) => {
      const { run: file, result } = await importedRun(await imported(folder, { 'a.json': '{"tiny": 1}' }, importer));
      const measures = result.measures.filter(({ measure }) => measure === 'error_ratio');
      return { measures, result, file };
    });
  }

  test.each([
    [{ ok: 300, error: 200 }, 0.4],
    [{ ok: 60, error: 30, timeout: 10, cancelled: 5 }, 0.4],
    [{ ok: 0, error: 3 }, 1],
    [{ ok: 5, error: 0 }, 0],
  ])('of %j is %d', async (requests, expected) => {
    const { measures } = await shareOf(requests);
    expect(measures).toMatchObject([
      { value: expected, population: 'all', definition: 'error_and_timeout_over_ok_error_timeout' },
    ]);
  });

  test('is unknown without one of the counts, and without requests', async () => {
    expect((await shareOf({ ok: 5 })).measures).toEqual([]);
    expect((await shareOf({ error: 5 })).measures).toEqual([]);
    expect((await shareOf({ ok: 0, error: 0 })).measures).toMatchObject([{ value: null }]);
  });

  test('a run whose failed requests are counted is comparable with one where nothing failed and nothing was counted', async () => {
    expect((await shareOf({ ok: 5, error: 0 })).file.fingerprint).toBe((await shareOf({ ok: 5 })).file.fingerprint);
  });

  test('counts failed requests that the tool counted and did not record; figures over all requests are then unknown', async () => {
    const ok = requestRecord();
    const failed = { ...ok, index: 1, outcome: 'error', reason: 'http_5xx', http_status: 503 } as const;
    const whole = await shareOf({ ok: 1, error: 1 }, { records: Readable.from([ok, failed]) });
    expect(whole.measures).toMatchObject([{ value: 0.5 }]);
    expect(
      whole.result.measures.some(
        ({ measure, population }) => measure === 'effective_concurrency' && population === 'all',
      ),
    ).toBe(true);
    const { measures, result, file } = await shareOf({ ok: 1, error: 3 }, { records: Readable.from([ok, failed]) });
    expect(measures).toMatchObject([{ value: 0.75 }]);
    expect(result.requests).toMatchObject({ ok: 1, error: 3 });
    expect(result.measures.filter(({ population }) => population === 'all')).toEqual(measures);
    expect(distributionOf(result, 'request_latency').n).toBe(1);
    expect(file.source?.notes).toContain(
      'the tool counted 3 failed requests, the records hold 1: figures over all requests are left out',
    );
  });
});

test('names of a file that would write into a terminal or break a label are made plain', () =>
  inTemporaryFolder(async (folder) => {
    const hostile: Importer = {
      ...TINY,
      async *read() {
        const tool = { name: 'tiny', version: '1\n# HELP x' };
        yield await Promise.resolve(run({ tool, key: { model: 'm\n"\u001b[2J' }, scenario: 'a\nb' }, 20));
      },
    };
    const { run: file } = await importedRun(await imported(folder, { 'a.json': '{"tiny": 1}' }, hostile));
    expect(file.comparison_key.model).toBe('m\u{FFFD}"\u{FFFD}[2J');
    expect(file.tool.version).toBe('1\u{FFFD}# HELP x');
    expect(file.scenario).toBe('a\u{FFFD}b');
  }));

test('an aborted import stops, and keeps the runs that it had stored', () =>
  inTemporaryFolder(async (folder) => {
    const results = join(folder, 'results');
    await mkdir(results);
    for (const mean of [1, 2, 3]) await writeFile(join(results, `${mean}.json`), `{"tiny": 1, "runs": [${mean}]}`);
    const stopping = new AbortController();
    const onProgress = { planned: () => undefined, read: () => undefined, done: () => stopping.abort() };
    const stopped = importInto(join(folder, 'runs'), [results], {
      importers: [TINY],
      signal: stopping.signal,
      onProgress,
    });
    await expect(stopped).rejects.toThrow(/abort/i);
    const { store } = await importInto(join(folder, 'runs'), [], { importers: [TINY] });
    expect(await store.runIds()).toHaveLength(1);
  }));

test('progress reaches the planned total, for any number of passes over a file, imported before or not', () =>
  inTemporaryFolder(async (folder) => {
    // Over several lines, as one document: it is not kept, and read as often as it is needed.
    const text = await readFile(new URL('vllm/fixtures/detailed.json', import.meta.url).pathname, 'utf8');
    const path = join(folder, 'result.json');
    await writeFile(path, `{\n${text.slice(text.indexOf('{') + 1)}`);
    const reported = async (): Promise<{ planned: number; read: number[] }> => {
      let planned = 0;
      const read: number[] = [];
      const onProgress = {
        planned: (bytes: number) => void (planned = bytes),
        read: (bytes: number) => void read.push(bytes),
        done: () => undefined,
      };
      await importInto(join(folder, 'runs'), [path], { onProgress });
      return { planned, read };
    };
    const { size } = await stat(path);
    const first = await reported();
    // For the hash, and three times for the lists; a line would be looked for before.
    expect(first.planned).toBe(5 * size);
    expect(first.read).toEqual([size, size, size, size, size]);
    const again = await reported();
    expect(again.read.reduce((sum, bytes) => sum + bytes, 0)).toBe(again.planned);
  }));
