import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { ResultFile } from '../../core/run/result.ts';
import { distributionOf, importedRun, importInto, inTemporaryFolder } from './testing/import-folder.ts';

const FIXTURES = new URL('.', import.meta.url).pathname;
const VLLM = join(FIXTURES, 'vllm/fixtures/detailed.json');
const GUIDELLM = join(FIXTURES, 'guidellm/fixtures/v2.json');

/** Imports bytes as a file; returns the result and the contents of the store and its folder. */
async function afterImport(bytes: Uint8Array | string, name = 'result.json') {
  return inTemporaryFolder(async (folder) => {
    await writeFile(join(folder, name), bytes);
    const all = await importInto(join(folder, 'runs'), [join(folder, name)]);
    const ids = await all.store.runIds();
    const texts = await Promise.all(
      ids.flatMap((id) => ['run.json', 'result.json'].map((file) => readFile(join(folder, 'runs', id, file)))),
    );
    return {
      outcomes: all.report.outcomes,
      unrecognized: all.report.unrecognized,
      runs: await Promise.all(ids.map((_, i) => importedRun(all, i))),
      texts,
      beside: (await readdir(folder)).sort(),
      unfinished: await readdir(join(folder, 'runs', '.unfinished')).catch(() => []),
    };
  });
}

const changedVllm = async (changes: Readonly<Record<string, unknown>>): Promise<string> =>
  JSON.stringify({ ...(JSON.parse(await readFile(VLLM, 'utf8')) as object), ...changes });

const figures = ({ measures }: ResultFile): ResultFile['measures'] => measures;

describe('a file that is not as it was written', () => {
  test.each([
    ['vllm', VLLM],
    ['guidellm', GUIDELLM],
  ])('cut at any byte: %s is refused with its place, and nothing is imported', async (_, path) => {
    const bytes = await readFile(path);
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 4000, max: bytes.toString().trimEnd().length - 1 }), async (end) => {
        const { outcomes, runs, unfinished } = await afterImport(bytes.subarray(0, end));
        expect(outcomes).toMatchObject([{ status: 'refused', reason: expect.stringMatching(/cut off|incomplete/) }]);
        expect([runs, unfinished]).toEqual([[], []]);
      }),
      { numRuns: 5 },
    );
  });

  test('an empty file is no result', async () => {
    expect(await afterImport('')).toMatchObject({ outcomes: [], unrecognized: ['result.json'], runs: [] });
  });

  test('a byte order mark, CR LF, UTF-16 and gzip are the same result', async () => {
    const text = await readFile(VLLM, 'utf8');
    const [plain] = (await afterImport(text)).runs;
    for (const bytes of [
      `\uFEFF${text}`,
      `${text.trimEnd()}\r\n`,
      Buffer.from(`\uFEFF${text}`, 'utf16le'),
      gzipSync(text),
    ]) {
      const [other] = (await afterImport(bytes)).runs;
      expect(other && figures(other.result)).toEqual(plain && figures(plain.result));
      expect(other?.records).toEqual(plain?.records);
    }
  });
});

describe('numbers that JSON does not have', () => {
  test('Infinity and NaN are read, and what is written is JSON', async () => {
    const bytes = await readFile(join(FIXTURES, 'sglang/fixtures/native.jsonl'), 'utf8');
    expect(bytes).toContain('"request_rate": Infinity');
    const { runs, texts } = await afterImport(bytes.replace(/"mean_ttft_ms": [0-9.]+/, '"mean_ttft_ms": NaN'));
    expect(runs[0]?.run.comparison_key.load).toMatchObject({ mode: 'concurrency' });
    for (const text of texts) expect(() => JSON.parse(text.toString()) as unknown).not.toThrow();
  });

  test('a number beyond all doubles is unknown', async () => {
    const text = (await changedVllm({ duration: '@' })).replace('"@"', '1e400');
    const { runs } = await afterImport(text.replace('"ttfts":[', '"ttfts":[1e999,'));
    expect(runs[0]?.result.measures).not.toContainEqual(expect.objectContaining({ value: Infinity }));
    expect(runs[0]?.run.source?.notes).toContainEqual(expect.stringContaining('not of one length'));
  });
});

describe('names and texts of a file', () => {
  test('a label that escapes, breaks lines or is no UTF-8 is text and nothing else', async () => {
    const hostile = '../../etc/cron.d/x\u0000"} 1\nfake_metric 1\n#\u001b[2J';
    const text = await changedVllm({ label: hostile, model_id: 'CON@' });
    const bytes = Buffer.from(text);
    bytes[bytes.indexOf('CON@') + 3] = 0xff;
    const { runs, texts, beside } = await afterImport(bytes, 'NUL.json');
    expect(beside).toEqual(['NUL.json', 'runs']);
    const [imported] = runs;
    expect(imported?.run.run_id).toMatch(/^undated-[a-z0-9]{10}$/);
    expect(imported?.run.comparison_key.model).toBe('CON\u{FFFD}');
    // One line, whatever it is shown on.
    expect(imported?.run.scenario).not.toMatch(/\p{Cc}/u);
    for (const each of texts) expect(each.equals(Buffer.from(each.toString('utf8')))).toBe(true);
  });

  test('keys of prototypes are keys', async () => {
    const text = (await changedVllm({ extra: 1 })).replace(
      '"extra":1',
      '"__proto__":{"polluted":1,"completed":7},"constructor":{"prototype":{"polluted":2}}',
    );
    const { runs } = await afterImport(text);
    expect(runs[0]?.result.requests.ok).toBe(12);
    expect(runs[0]?.run.source?.notes).toContain('not understood: __proto__, constructor');
    expect('polluted' in {}).toBe(false);
  });
});

describe('files that exhaust', () => {
  test.each(['[', '{"a":'])('a million %s are refused', async (bracket) => {
    const deep = (await changedVllm({ extra: 1 })).replace('"extra":1', `"extra":${bracket.repeat(1_000_000)}`);
    const { outcomes } = await afterImport(deep);
    expect(outcomes).toMatchObject([
      { status: 'refused', reason: expect.stringMatching(/nested more than 200 deep at byte \d+/) },
    ]);
  });

  test('of ten thousand unknown names a few are listed', async () => {
    const names = Object.fromEntries(Array.from({ length: 10_000 }, (_, i) => [`name_${i}`, i]));
    const { runs } = await afterImport(await changedVllm(names));
    const notes = runs[0]?.run.source?.notes ?? [];
    expect(notes.join('').length).toBeLessThan(5000);
    expect(notes).toContainEqual(expect.stringMatching(/^not understood: name_0, name_1, .* and \d+ more$/));
  });
});

test('a hundred thousand models of a server: a limited number of series is kept, and the others are counted', () =>
  inTemporaryFolder(async (folder) => {
    const start_ns = 1_795_279_610n * 1_000_000_000n;
    const ns = (second: number): bigint => start_ns + BigInt(second) * 1_000_000_000n;
    const running = Array.from({ length: 100_000 }, (_, i) => ({ labels: { model_name: `model-${i}` }, value: 1 }));
    const page = JSON.stringify({ 'vllm:num_requests_running': running });
    const scrapes = [0, 1, 2].map(
      (second) => `{"endpoint_url":"http://h:8000/metrics","timestamp_ns":${ns(second)},"metrics":${page}}`,
    );
    await writeFile(join(folder, 'server_metrics_export.jsonl'), scrapes.join('\n'));
    const metrics = '{"request_latency":{"value":1500,"unit":"ms"}}';
    const metadata = `{"request_start_ns":${ns(0)},"request_end_ns":${ns(2)},"benchmark_phase":"profiling"}`;
    await writeFile(join(folder, 'profile_export.jsonl'), `{"metadata":${metadata},"metrics":${metrics}}\n`);
    const imported = await importInto(join(folder, 'runs'), [folder]);
    const { run, result } = await importedRun(imported);
    const targets = result.servers?.targets ?? [];
    expect(targets).toMatchObject([{ system: 'vllm', dropped_series: 20_000 }]);
    expect(targets[0]?.notes).toContain('at least 20000 series are not stored: the limit on series was reached');
    const path = join(imported.store.pathOf(run.run_id), 'servers.json');
    const { series } = JSON.parse(await readFile(path, 'utf8')) as { series: readonly unknown[] };
    expect(series).toHaveLength(20_000);
  }));

test('the distribution of a file that was changed in one gap is another', async () => {
  const text = await readFile(VLLM, 'utf8');
  const [before] = (await afterImport(text)).runs;
  const [after] = (await afterImport(text.replace(/("itls": ?\[\[)[0-9.]+/, '$1' + '9.5'))).runs;
  expect(before && after && distributionOf(after.result, 'inter_chunk_latency').max).toBe(9.5);
});
