import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { ConfigurationError } from '../../errors/expected-error.ts';
import { distributionOf, importedRun, importInto, inTemporaryFolder, scalarOf } from '../testing/import-folder.ts';
import { mappedImporter } from './mapped.ts';
import { parseMapping } from './mapping.ts';

const REQUESTS = `
tool: my-bench
model: m/one
concurrency: 2
streaming: true
times: unix
ignore: [prompt]
columns:
  started: {field: sent, unit: s}
  ttft: {field: time_to_first_token, unit: ms}
  total: {field: request_latency, unit: ms}
  out: {field: output_tokens}
  status: {field: http_status}
`;

const CSV = [
  'started,ttft,total,out,status,prompt,mystery',
  '1700000000.000,50,150,11,200,"a, ""quoted""\ntext",1',
  '1700000000.250,70,270,21,200,b,2',
  '1700000000.300,,10,,503,c,3',
  '1700000000.400,abc,110,6,200,d,4',
  'short,row',
  '',
].join('\r\n');

const imported = (folder: string, text: string, mapping = REQUESTS, name = 'table.csv') =>
  writeFile(join(folder, name), text).then(() =>
    importInto(join(folder, 'runs'), [join(folder, name)], {
      importers: [mappedImporter(parseMapping(mapping, 'm.yml'))],
    }),
  );

test('a CSV with a row per request', () =>
  inTemporaryFolder(async (folder) => {
    const { run, result } = await importedRun(await imported(folder, CSV));
    expect(run).toMatchObject({
      start: '2023-11-14T22:13:20.000Z',
      tool: { name: 'my-bench', version: null },
      comparison_key: { model: 'm/one', load: { concurrency: 2 }, endpoint_type: null },
    });
    expect(run.source?.unknown).toContain('endpoint_type');
    expect(result.requests).toEqual({ ok: 3, error: 1, timeout: 0, cancelled: 0 });
    expect(result.errors).toEqual({ http_5xx: 1 });
    expect(distributionOf(result, 'time_to_first_token').mean).toBeCloseTo(0.06, 9);
    // 100 ms ÷ 10 tokens and 200 ms ÷ 20.
    expect(distributionOf(result, 'inter_token_latency').mean).toBeCloseTo(0.01, 9);
    expect(run.source?.notes).toEqual([
      '1 × values read as unknown: not a number (first: row 5, time_to_first_token)',
      '1 × rows left out: not as many fields as columns (first: row 6)',
      'not understood: mystery',
    ]);
  }));

describe('dates and times of ISO 8601', () => {
  const ISO = REQUESTS.replace('times: unix\n', '').replace('unit: s}', 'unit: iso}');
  const rows = (...times: string[]): string =>
    ['started,ttft,total,out,status,prompt', ...times.map((time) => `${time},50,150,11,200,x`), ''].join('\n');

  test.each([
    [['2026-08-01T12:00:00.250Z', '2026-08-01T12:00:00Z'], null, '2026-08-01T12:00:00.000Z'],
    [['2026-08-01 14:00:00.25+02:00', '2026-08-01T12:00:00+00:00'], null, '2026-08-01T12:00:00.000Z'],
    [['20260801T140000.250+0200', '20260801T120000Z'], null, '2026-08-01T12:00:00.000Z'],
    [['2026-08-01T07:30:00.25-0430', '2026-08-01T10:00:00-02'], null, '2026-08-01T12:00:00.000Z'],
    [['"2026-08-01 14:00:00,250"', '2026-08-01 14:00:00'], 'Europe/Berlin', '2026-08-01T12:00:00.000Z'],
    // Without a zone it is known how far apart they are, and not when.
    [['2026-08-01T12:00:00.250', '2026-08-01T12:00:00'], null, null],
  ])('%j in the zone %p', (times, timeZone, start) =>
    inTemporaryFolder(async (folder) => {
      await writeFile(join(folder, 'table.csv'), rows(...times));
      const importers = [mappedImporter(parseMapping(ISO, 'm.yml'))];
      const all = await importInto(join(folder, 'runs'), [join(folder, 'table.csv')], { importers, timeZone });
      const { run, records } = await importedRun(all);
      expect(run.start).toBe(start);
      // A number of nanoseconds since 1970 is exact to 256.
      expect(records.map(({ sent_ns }) => Math.round(sent_ns / 1000))).toEqual([250_000, 0]);
      expect(run.source?.notes.join().includes('has no time zone')).toBe(start === null);
    }),
  );

  test('microseconds are kept, and what is no time is left out', () =>
    inTemporaryFolder(async (folder) => {
      const text = rows('2026-08-01T12:00:00.000000Z', '2026-08-01T12:00:00.000512Z', '2026-08-01', 'noon');
      const { run, records } = await importedRun(await imported(folder, text, ISO));
      expect(records.map(({ sent_ns }) => Math.round(sent_ns / 1000))).toEqual([0, 512]);
      expect(run.source?.notes).toContain(
        '2 × values read as unknown: not a date and time of ISO 8601 (first: row 4, sent)',
      );
    }));

  test('of one row per run: its start', () =>
    inTemporaryFolder(async (folder) => {
      const mapping =
        'rows: runs\nrequests: n\nstart: when\ncolumns:\n  tput: {measure: request_throughput, definition: ok_requests_over_wall_time}\n';
      const text = 'when,n,tput\n2026-08-01T12:00:00Z,5,3\n2026-08-02T12:00:00,5,4\n';
      const all = await imported(folder, text, mapping);
      expect((await importedRun(all)).run.start).toBe('2026-08-01T12:00:00.000Z');
      const { run } = await importedRun(all, 1);
      expect(run.start).toBeNull();
      expect(run.source?.notes.join()).toContain('--time-zone');
    }));

  test.each([
    [ISO.replace('streaming: true', 'times: relative'), "times is 'relative', which has no dates"],
    [ISO.replace('unit: ms', 'unit: iso'), "unit is 'iso' and must be one of s, ms, us, ns"],
    [`start: when${ISO}`, 'start is of rows: runs'],
  ])('%# is refused', (mapping, message) => {
    expect(() => parseMapping(mapping, 'm.yml')).toThrow(message);
  });
});

test('requests of a warm-up and of a cool-down are in no measure', () =>
  inTemporaryFolder(async (folder) => {
    const mapping = `${REQUESTS}  part: {field: phase}\n`;
    const rows = ['warmup', 'measure', 'measure', 'cooldown'].map(
      (part, i) => `170000000${i},50,${part === 'measure' ? 150 : 900},11,200,x,${part}`,
    );
    const text = ['started,ttft,total,out,status,prompt,part', ...rows].join('\n');
    const { run, result, records } = await importedRun(await imported(folder, text, mapping));
    expect(records.map(({ phase }) => phase)).toEqual(['warmup', 'measure', 'measure', 'cooldown']);
    expect(run.phases.map(({ phase }) => phase)).toEqual(['warmup', 'measure', 'cooldown']);
    expect(result.requests.ok).toBe(2);
    expect(distributionOf(result, 'request_latency').max).toBeCloseTo(0.15, 9);
  }));

test('a phase of another name is measured, with a note', () =>
  inTemporaryFolder(async (folder) => {
    const mapping = `${REQUESTS}  part: {field: phase}\n`;
    const rows = ['Warmup', 'warm-up', 'measure', ''].map((part, i) => `170000000${i},50,150,11,200,x,${part}`);
    const text = ['started,ttft,total,out,status,prompt,part', ...rows].join('\n');
    const { run, records } = await importedRun(await imported(folder, text, mapping));
    expect(records.map(({ phase }) => phase)).toEqual(['warmup', 'measure', 'measure', 'measure']);
    expect(run.source?.notes).toContain('1 × requests of the phase warm-up, which are measured (first: row 3)');
  }));

test('a request without a response, and a redirected one, is not ok', () =>
  inTemporaryFolder(async (folder) => {
    const mapping = `${REQUESTS}  err: {field: error}\n`;
    const rows = ['200,', '204,', '302,', '0,', '0,connect_refused', '0,none', '503,connect_refused'].map(
      (response, i) => `170000000${i},50,150,11,x,${response}`,
    );
    const text = ['started,ttft,total,out,prompt,status,err', ...rows].join('\n');
    const { result } = await importedRun(await imported(folder, text, mapping));
    expect(result.requests).toEqual({ ok: 2, error: 5, timeout: 0, cancelled: 0 });
    expect(result.errors).toEqual({ redirect: 1, other: 2, connect_refused: 1, http_5xx: 1 });
  }));

test('JSON lines and a JSON list with relative times have no start time', () =>
  inTemporaryFolder(async (folder) => {
    const rows = [
      { started: 5, ttft: 1, total: 2, out: 3, status: 200 },
      { started: 6, ttft: 1, total: 4, out: 3, status: 200 },
    ];
    const relative = REQUESTS.replace('times: unix', 'times: relative');
    const lines = rows.map((row) => JSON.stringify(row)).join('\n');
    const first = await importedRun(await imported(folder, `${lines}\n`, relative, 'rows.jsonl'));
    expect(first.run.start).toBeNull();
    expect(first.result.window.seconds).toBeCloseTo(1.004, 9);
    const list = await importedRun(await imported(folder, JSON.stringify(rows), relative, 'rows.json'));
    expect(list.records).toEqual(first.records);
  }));

test('a CSV with a row per run', () =>
  inTemporaryFolder(async (folder) => {
    const mapping = `
rows: runs
requests: n
columns:
  p99: {measure: time_to_first_token, statistic: p99, unit: ms, definition: sent_to_first_content_chunk}
  mean: {measure: time_to_first_token, statistic: mean, unit: ms, definition: sent_to_first_content_chunk}
  rps: {measure: request_throughput, definition: ok_requests_over_wall_time}
`;
    const csv = 'n,p99,mean,rps\n100,250,80.5,12\n200,300,90,15\n';
    const report = await imported(folder, csv, mapping);
    expect(report.report.outcomes).toHaveLength(2);
    const { result } = await importedRun(report);
    expect(result.requests.ok).toBe(100);
    expect(distributionOf(result, 'time_to_first_token')).toMatchObject({
      n: 100,
      mean: 0.0805,
      percentiles: { p99: { value: 0.25 }, p50: { value: null } },
    });
    expect(scalarOf(result, 'request_throughput')).toMatchObject({
      value: 12,
      definition: 'ok_requests_over_wall_time',
    });
  }));

test('a row per run without a count of requests has its figures, and no count', () =>
  inTemporaryFolder(async (folder) => {
    const mapping = `
rows: runs
requests: n
columns:
  p99: {measure: time_to_first_token, statistic: p99, unit: ms, definition: sent_to_first_content_chunk}
  rps: {measure: request_throughput, definition: ok_requests_over_wall_time}
`;
    const rows = [',130,6', ' ,130,6', '-5,130,6', '3.5,130,6', 'abc,130,6', '0x10,130,6', '20, ,0x10'];
    const report = await imported(folder, `n,p99,rps\n${rows.join('\n')}\n`, mapping);
    for (const index of [0, 1, 2, 3, 4, 5]) {
      const { run, result } = await importedRun(report, index);
      expect(result.requests.ok).toBeNull();
      expect(distributionOf(result, 'time_to_first_token')).toMatchObject({
        n: null,
        percentiles: { p99: { value: 0.13 } },
      });
      expect(scalarOf(result, 'request_throughput').value).toBe(6);
      const reasons = run.source?.notes.filter((note) => /not a (whole )?number/.test(note));
      expect(reasons).toHaveLength(index < 2 ? 0 : 1);
    }
    const { result } = await importedRun(report, 6);
    expect(result.requests.ok).toBe(20);
    expect(result.measures.map(({ measure }) => measure)).toEqual(['request_throughput']);
    expect(scalarOf(result, 'request_throughput').value).toBeNull();
  }));

test('rows without a run, and columns that are not mapped, are in the notes of the runs', () =>
  inTemporaryFolder(async (folder) => {
    const mapping = `
rows: runs
requests: n
columns: {rps: {measure: request_throughput, definition: ok_requests_over_wall_time}}
`;
    const report = await imported(folder, 'n,rps,gpu\n100,12,a\n5\n200,15,b\n', mapping);
    expect(report.report.outcomes).toHaveLength(2);
    for (const index of [0, 1]) {
      const { run } = await importedRun(report, index);
      expect(run.source?.notes).toContain('1 × rows left out: not as many fields as columns (first: row 3)');
      expect(run.source?.notes).toContain('not understood: gpu');
    }
  }));

test('an object may lack a column that others have', () =>
  inTemporaryFolder(async (folder) => {
    const rows = [
      { started: 1700000000, ttft: 50, total: 150, out: 11 },
      { started: 1700000001, total: 10, status: 503 },
    ];
    const lines = rows.map((row) => JSON.stringify(row)).join('\n');
    const { result } = await importedRun(await imported(folder, `${lines}\n`, REQUESTS, 'rows.jsonl'));
    expect(result.requests).toMatchObject({ ok: 1, error: 1 });
    expect(result.errors).toEqual({ http_5xx: 1 });
  }));

test('a mapped column that the file lacks is refused', () =>
  inTemporaryFolder(async (folder) => {
    const { report } = await imported(folder, 'started,total\n1,2\n');
    expect(report.outcomes).toMatchObject([
      { status: 'refused', reason: 'table.csv has no column "ttft", "out", "status"' },
    ]);
  }));

describe('mappings that are refused', () => {
  test.each([
    ['columns: {a: {field: sent}}', 'm.yml:1: columns.a.unit is missing: one of s, ms, us, ns'],
    ['columns: {a: {field: sentt, unit: s}}', "m.yml:1: columns.a.field is 'sentt' and must be one of sent, due"],
    ['colums: {}', 'm.yml:1: colums is not a known key; the keys are rows, tool'],
    ['columns: {}', 'columns is empty'],
    ['columns: {a: {field: sent, unit: s}, b: {field: sent, unit: s}}', 'columns has two columns that are "sent"'],
    ['columns: {a: {field: sent, unit: s}}', 'columns has no column that is "end" or "request_latency"'],
    ['columns: {a: {field: output_tokens, unit: s}}', 'm.yml:1: columns.a.unit is not a known key; the keys are field'],
    [
      'tokens: guess\ncolumns: {a: {field: sent, unit: s}}',
      "m.yml:1: tokens is 'guess' and must be one of usage, tokenizer",
    ],
    [
      'rows: runs\nrequests: n\ncolumns:\n  a: {measure: request_latency, statistic: p99, unit: s}',
      'm.yml:4: columns.a.definition of request_latency is required',
    ],
    [
      'rows: runs\ncolumns: {a: {measure: request_throughput, definition: ok_requests_over_window}}',
      'requests is missing: with rows: runs it names the column',
    ],
    ['a: 1\na: 2', 'm.yml:2: '],
    ['- 1', 'm.yml: the file must be a mapping'],
  ])('%j', (text, message) => {
    expect(() => parseMapping(text, 'm.yml')).toThrow(ConfigurationError);
    expect(() => parseMapping(text, 'm.yml')).toThrow(message);
  });
});

test.each([
  ['other.csv', 'x,y\n1,2\n', 'but "x", "y"'],
  ['semicolons.csv', 'started;total\n1;2\n', 'but "started;total"'],
  [
    'nested.json',
    '{"meta": {}, "results": [{"started": 1}]}',
    'but "meta", "results"; rows are the objects of a JSON list',
  ],
])('%s has no mapped column: it is named with the columns that it has', (name, text, reason) =>
  inTemporaryFolder(async (folder) => {
    const { report } = await imported(folder, text, REQUESTS, name);
    expect(report).toMatchObject({ outcomes: [], unrecognized: [name], mappable: [] });
    expect(report.unmapped).toHaveLength(1);
    expect(report.unmapped[0]).toContain(
      `${name} has none of the mapped columns "started", "ttft", "total", "out" and 1 more, ${reason}`,
    );
  }),
);

test('an empty file has no mapped column', () =>
  inTemporaryFolder(async (folder) => {
    const { report } = await imported(folder, '\n', REQUESTS, 'empty.csv');
    expect(report.unmapped).toEqual(['empty.csv is empty']);
  }));
