import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { complaints } from '../../http/api/fixtures/openapi.ts';
import { storeJudgedRun } from '../../judge/testing/judged-run.ts';
import { openStore, type RunStore } from '../../store/run-store.ts';
import { run as baseline } from './baseline.ts';
import { run as check } from './check.ts';
import { run as compare } from './compare.ts';
import { run as history } from './history.ts';
import { run as importResults } from './import.ts';
import { run as regression } from './regression.ts';

/** Where the description of the API has `schemas/comparison.schema.json`. */
const COMPARISON = '/paths/~1compare/get/responses/200/content/application~1json/schema';

let directory: string;
let store: RunStore;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'llmbench-judge-'));
  ({ store } = await openStore(directory));
});

afterEach(async () => {
  jest.restoreAllMocks();
  await rm(directory, { recursive: true });
});

/** Six runs tagged `before`, and six tagged `after` whose first tokens come later by the factor. */
async function twoBuilds(factor: number): Promise<void> {
  for (let i = 0; i < 6; i++) {
    const noise = 1 + 0.005 * Math.sin(i * 2.3);
    await storeJudgedRun(store, `before-${i}`, i, { ttft: 0.1 * noise, tags: ['before'] });
    await storeJudgedRun(store, `after-${i}`, 10 + i, { ttft: 0.1 * factor * noise, tags: ['after'] });
  }
}

async function output(
  command: (argv: readonly string[]) => Promise<number>,
  ...argv: string[]
): Promise<{ code: number; out: string; err: string }> {
  let [out, err] = ['', ''];
  jest.spyOn(process.stdout, 'write').mockImplementation((text) => ((out += String(text)), true));
  jest.spyOn(process.stderr, 'write').mockImplementation((text) => ((err += String(text)), true));
  try {
    return { code: await command([...argv, '--runs-dir', directory]), out, err };
  } finally {
    jest.restoreAllMocks();
  }
}

describe('compare', () => {
  test('a build that is 20 % slower has regressed: exit code 99, effect, interval, runs and margin', async () => {
    await twoBuilds(1.2);
    const { code, out } = await output(compare, 'tag:before', 'tag:after');
    expect(code).toBe(99);
    expect(out).toMatch(/^verdict {5}regressed\nscenario {4}nightly\nreason {6}Regressed: time to first token p50/);
    expect(out).toMatch(
      /time to first token p50 \* +regressed +100 ms +120 ms +\+20 % +\+\S+ % to \+\S+ % +±5 % .* 6 \+ 6\n/,
    );
    expect(out).toMatch(/error ratio \* +unchanged/);
  });

  test('the same build twice is unchanged: exit code 0', async () => {
    await twoBuilds(1);
    const { code, out, err } = await output(compare, 'tag:before', 'tag:after');
    expect([code, err]).toEqual([0, '']);
    expect(out).toMatch(/^verdict {5}unchanged\n/);
  });

  test('too few runs: undecided passes with a warning and the command for what is missing, or fails with --undecided fail', async () => {
    await twoBuilds(1.2);
    const few = ['tag:before+last:2', 'tag:after+last:2'];
    const { code, out, err } = await output(compare, ...few);
    expect(code).toBe(0);
    expect(out).toMatch(/to decide:\n {2}llmbench run --url \S+ --scenario nightly .*# 3 runs of A and 3 runs of B\n/);
    expect(err).toMatch(/^warning: the verdict is undecided, which passes/);
    expect((await output(compare, ...few, '--undecided', 'fail')).code).toBe(99);
  });

  test('JSON has the verdicts with the values of each run', async () => {
    await twoBuilds(1.2);
    const { out } = await output(compare, 'tag:before', 'tag:after', '--json');
    const parsed = JSON.parse(out) as { measures: { measure: string; values: { a: number[]; median_b: number } }[] };
    const ttft = parsed.measures.find(({ measure }) => measure === 'time_to_first_token');
    expect(ttft?.values.a).toHaveLength(6);
    expect(ttft?.values.median_b).toBeCloseTo(0.12, 3);
  });

  test('a measure and a margin of one’s own', async () => {
    await twoBuilds(1.2);
    const rules = ['--gate', 'itl:p50', '--margin', 'itl:p50=1'];
    const { code, out } = await output(compare, 'tag:before', 'tag:after', ...rules);
    expect(code).toBe(0);
    expect(out).toMatch(/inter-token latency p50 \* +unchanged .*±1 %/);
  });

  test('a result that was changed by hand is not compared, judged or used as baseline', async () => {
    await twoBuilds(1);
    await output(baseline, 'accept', 'tag:before');
    for (const id of ['before-2', 'after-2']) {
      const path = join(store.pathOf(id), 'result.json');
      await writeFile(path, (await readFile(path, 'utf8')).replaceAll('"value":0.1', '"value":0.05'));
    }
    const reason = 'its result.json differs from its checksum; `llmbench runs verify` lists such runs';
    await expect(output(compare, 'before-2', 'tag:after')).rejects.toThrow(`before-2 cannot be read: ${reason}`);
    await expect(output(check, 'after-2')).rejects.toThrow(`after-2 cannot be read: ${reason}`);
    const { out, err } = await output(check, 'after-3');
    expect(out + err).toContain(`baseline run before-2 is not used: ${reason}`);
    expect((await output(history, 'nightly')).err).toContain(`after-2 is not shown: ${reason}`);
  });

  test('two engines under the same load are compared on purpose', async () => {
    for (let i = 0; i < 6; i++) {
      const noise = 1 + 0.005 * Math.sin(i * 2.3);
      await storeJudgedRun(store, `a-${i}`, 2 * i, { ttft: 0.1 * noise, scenario: 'chat-a' });
      await storeJudgedRun(store, `b-${i}`, 2 * i + 1, { ttft: 0.12 * noise, scenario: 'chat-b' });
    }
    const blocked = await output(compare, 'scenario:chat-a', 'scenario:chat-b');
    expect(blocked.out).toContain(
      'blocked by  The runs are of 2 scenarios: chat-a, chat-b. To compare them on purpose: --across-scenarios.\n',
    );
    const { code, out } = await output(compare, 'scenario:chat-a', 'scenario:chat-b', '--across-scenarios');
    expect(code).toBe(99);
    expect(out).toContain('\nscenario    chat-a (A), chat-b (B)\n');
    expect(out).toContain('\naccepted    The runs are of 2 scenarios: chat-a, chat-b.\n');
    expect(out).toContain('\neffect: the median of the ratios of each run of B to each run of A');
  });

  test.each([
    [['tag:before'], 'two sets of runs are required'],
    [['tag:before', 'tag:none'], 'no run matches tag:none'],
    [['before', 'tag:after'], 'before is a prefix of several runs: '],
    [['before', 'tag:after'], '; did you mean tag:before?'],
    [['nightly+last:3', 'tag:after'], '; did you mean scenario:nightly?'],
    [['Nightly', 'tag:after'], /^no run "Nightly" in \S+; did you mean scenario:nightly\?$/],
    [['tag:nightly', 'tag:after'], /^no run matches tag:nightly in \S+; did you mean scenario:nightly\?$/],
    [['tag:befor+last:3', 'tag:after'], 'did you mean tag:before?'],
    [['tags:before', 'tag:after'], 'did you mean tag:before?'],
    [['xyzzy', 'tag:after'], '`llmbench runs` lists them'],
    [['tag:before', 'tag:before'], 'is in both sets'],
    [['tag:before', 'last:x'], 'last:N requires a positive integer'],
    [['tag:before', 'tag:after', '--margin', 'x'], '--margin is'],
    [['tag:before', 'tag:after', '--margin', 'time_to_first_tokn=3'], 'did you mean'],
    [['tag:before', 'tag:after', '--gate', 'ttft:p51'], 'one of mean, p50, p90, p99, value'],
    [['tag:before+last:1', 'tag:after', '--paired'], 'paired requires as many runs in A as in B; there are 1 and 6'],
  ])('%j is refused', async (argv, message) => {
    await twoBuilds(1.2);
    await expect(output(compare, ...argv)).rejects.toThrow(message);
  });

  test('failed requests of imports without records: counts are enough', async () => {
    const noise = (i: number): number => 1 + 0.005 * Math.sin(i * 2.3);
    const result = (i: number, failed: number): string =>
      JSON.stringify({
        ...{ backend: 'vllm', model_id: 'm', date: `2026080${i + 1}-120000`, num_prompts: 500, max_concurrency: 2 },
        ...{ duration: 60, completed: 500 - failed, failed, request_throughput: 5, output_throughput: 80 * noise(i) },
        ...{ mean_ttft_ms: 50 * noise(i), median_ttft_ms: 50 * noise(i), p99_ttft_ms: 90 * noise(i) },
      });
    for (let i = 0; i < 5; i++)
      for (const [tag, failed] of [
        ['a', 0],
        ['b', 200 + i],
      ] as const) {
        const path = join(directory, `${tag}${i}.json`);
        await writeFile(path, result(i, failed));
        await output(importResults, path, '--scenario', 's', '--tag', tag, '--time-zone', 'UTC');
      }
    const { code, out } = await output(compare, 'tag:a', 'tag:b');
    expect(code).toBe(99);
    expect(out).toMatch(/reason {6}Regressed: error ratio is worse/);
  });
});

describe('baseline and check', () => {
  test('accept, show, check and drop', async () => {
    await twoBuilds(1.2);
    const accepted = await output(baseline, 'accept', 'tag:before', '--reason', 'first', '--author', 'me');
    expect(accepted.out).toBe('accepted 6 runs; the baseline of nightly has 6 runs, 0 pinned\n');
    expect((await output(baseline, 'show', 'nightly')).out).toMatch(/accept +6 runs +me +first\n/);
    const { code, out } = await output(check, 'after-0');
    expect(code).toBe(0);
    expect(out).toMatch(/^verdict {5}suspect\n/);
    expect(out).toMatch(/llmbench check --scenario nightly .*--confirm \d+ -- --url/);
    expect((await output(check, 'after-0', '--undecided', 'fail')).code).toBe(99);
    await output(baseline, 'drop', 'before-5', '--reason', 'maintenance');
    expect((await output(baseline, 'show', 'nightly', '--json')).out).toContain('"dropped": [\n    "before-5"\n  ]');
  });

  test('without a baseline: no empty table, and the stored runs are proposed', async () => {
    await twoBuilds(1);
    const { out } = await output(check, 'after-5');
    expect(out).not.toContain('measure  verdict');
    expect(out).toContain(`to decide:\n  llmbench baseline accept scenario:nightly --runs-dir ${directory} `);
  });

  test('a baseline that is too small grows by new runs, not by those that were left out of it', async () => {
    await twoBuilds(1);
    await output(baseline, 'accept', 'tag:before+last:4');
    const { out } = await output(check, 'after-5');
    expect(out).toMatch(
      /to decide:\n {2}llmbench run .* # 1 run, then: llmbench baseline accept scenario:nightly\+last:1 /,
    );
  });

  test('the newest of imports without a start time is the one that was imported last', async () => {
    const columns =
      'p50: { measure: time_to_first_token, statistic: p50, unit: s, definition: sent_to_first_content_chunk }';
    await writeFile(
      join(directory, 'map.yaml'),
      `rows: runs\ntool: my\nmodel: m\nscenario: u\nrequests: n\ncolumns:\n  ${columns}\n`,
    );
    const importRows = async (name: string, rows: readonly string[]) => {
      await writeFile(join(directory, name), `n,p50\n${rows.join('\n')}\n`);
      return output(importResults, join(directory, name), '--mapping', join(directory, 'map.yaml'));
    };
    const accepted = Array.from({ length: 20 }, (_, i) => Math.round(20_000 + 100 * Math.sin(i * 2.3)) / 1e5);
    await importRows(
      'old.csv',
      accepted.map((p50) => `400,${p50}`),
    );
    await output(baseline, 'accept', 'scenario:u');
    await importRows('new.csv', ['400,0.4']);
    const { out, err } = await output(check, '--scenario', 'u', '--json');
    const parsed = JSON.parse(out) as { verdict: string; measures: { values: { a: number[]; b: number[] } }[] };
    expect(parsed.verdict).toBe('suspect');
    expect(parsed.measures[0]?.values.b).toEqual([0.4]);
    // The rows of the file, in their order.
    expect(parsed.measures[0]?.values.a).toEqual(accepted);
    expect(err).toContain('21 of 21 runs have no start time: their order is that of the import\n');
  });

  test('the command after a faster run makes runs that are judged with it', async () => {
    await twoBuilds(0.8);
    await output(baseline, 'accept', 'tag:before');
    const undecided = await output(check, 'after-0');
    expect(undecided.out).toMatch(/^verdict {5}undecided\n/);
    expect(undecided.out).toContain('No regression found');
    expect(undecided.out).toMatch(/# 2 runs, then: llmbench check --scenario nightly --runs-dir /);
  });

  test('an accepted run is judged only when it is named', async () => {
    await twoBuilds(1);
    await output(baseline, 'accept', 'scenario:nightly');
    for (const selected of [['--scenario', 'nightly'], ['latest'], ['scenario:nightly+last:3']]) {
      await expect(output(check, ...selected)).rejects.toThrow(/^nothing to judge: after-5 is in the baseline/);
    }
    expect((await output(check, 'after-5')).code).toBe(0);
  });

  test('accept says what checks can see', async () => {
    await twoBuilds(1);
    const { err } = await output(baseline, 'accept', 'tag:before', '--detect', '10%');
    expect(err).toMatch(/scatters by .* %: one run is suspect from \+.*3 runs find \+/);
    expect(err).toContain('to find +10 % in one night use 3 runs per night (--num-profile-runs 3)');
  });

  test('the next runs confirm: exit code 99', async () => {
    await twoBuilds(1.2);
    await output(baseline, 'accept', 'tag:before');
    let code = 0;
    for (let i = 0; i < 6 && code === 0; i++) ({ code } = await output(check, `after-${i}`));
    expect(code).toBe(99);
  });

  test('an open regression fails every later check in every format, until somebody acknowledges it', async () => {
    await twoBuilds(1.2);
    await output(baseline, 'accept', 'tag:before');
    const gate = ['--gate', 'time_to_first_token:p50'];
    expect((await output(check, [0, 1, 2, 3, 4].map((i) => `after-${i}`).join(','), ...gate)).code).toBe(99);
    // Preflight: it says nothing about the server.
    await storeJudgedRun(store, 'saturated', 20, { ttft: 0.1, client: 'saturated' });
    const since = 'regressed since after-0 \\(5 runs ago\\), time to first token p50 \\+\\d+(\\.\\d)? %';
    for (const [format, headline] of [
      ['text', `state       ${since}`],
      ['markdown', '^### 🔴 llmbench: regressed — nightly'],
      ['junit', `<failure message="${since}">`],
      ['json', '"state": "regressed"'],
    ] as const) {
      const { code, out, err } = await output(check, 'saturated', ...gate, '--format', format);
      expect([code, out, err]).toEqual([
        99,
        expect.stringMatching(new RegExp(headline)),
        expect.stringMatching(new RegExp(`^nightly: ${since}\n$`)),
      ]);
      if (format === 'json') expect(complaints(COMPARISON, JSON.parse(out))).toEqual([]);
    }
    const known = ['--reason', 'known until the upgrade', '--author', 'ana'];
    expect((await output(regression, 'acknowledge', 'nightly', ...known)).code).toBe(0);
    const { code, out, err } = await output(check, 'saturated', ...gate);
    expect(code).toBe(0);
    expect(out).toMatch(/; acknowledged on \S+ by ana: known until the upgrade\n/);
    expect(err).toContain('warning: the verdict is undecided, which passes');
  });

  test.each([
    [['drop', 'before-0'], '--reason is required'],
    [['accept', 'absent'], 'no run "absent"'],
    [['show', 'absent'], 'no run of scenario absent'],
    [['show'], 'usage: llmbench baseline'],
    [['forget', 'before-0'], 'usage: llmbench baseline'],
  ])('baseline %j is refused', async (argv, message) => {
    await twoBuilds(1);
    await expect(output(baseline, ...argv)).rejects.toThrow(message);
  });

  test('a check of nothing, of two scenarios, or with confirmations that cannot be made, is refused', async () => {
    await expect(output(check)).rejects.toThrow('no run in');
    await twoBuilds(1);
    await storeJudgedRun(store, 'other', 1, { ttft: 1, scenario: 'other' });
    await expect(output(check, 'other,after-1')).rejects.toThrow('must be of one scenario');
    await expect(output(check, '--confirm', '2')).rejects.toThrow('after --');
  });
});
