import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { requestedRuns } from './requested-runs.ts';

let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'llmbench-scenario-'));
});
afterAll(() => rm(directory, { recursive: true }));

const PLAIN = ['--url', 'localhost:8000', '--model', 'm', '--request-count', '5'];

async function loads(argv: readonly string[], environment: NodeJS.ProcessEnv = {}) {
  const { requests, steps } = await requestedRuns(argv, environment);
  return { steps, loads: requests.map(({ measure, inputTokens }) => [measure.load.concurrency, inputTokens]) };
}

async function file(text: string): Promise<string> {
  const path = join(directory, `${Math.random().toString(36).slice(2)}.yaml`);
  await writeFile(path, text);
  return path;
}

test('one load is one run', async () => {
  expect(await loads([...PLAIN, '--concurrency', '3'])).toEqual({ steps: 1, loads: [[3, 550]] });
});

test('a sweep and its repeats', async () => {
  const { steps, loads: found } = await loads([...PLAIN, '--concurrency', '1,2', '--num-profile-runs', '2']);
  expect(steps).toBe(2);
  expect(found.map(([concurrency]) => concurrency)).toEqual([1, 2, 1, 2]);
});

describe('--sweep auto', () => {
  const AUTO = ['--url', 'localhost:8000', '--model', 'm', '--benchmark-duration', '5', '--sweep', 'auto'];

  test('is a group of all loads that it may need', async () => {
    const { steps, loads: found } = await loads([...AUTO, '--concurrency', '2', '--sweep-max', '16']);
    expect(steps).toBe(4);
    expect(found.map(([concurrency]) => concurrency)).toEqual([2, 4, 8, 16]);
    expect((await loads(AUTO)).loads.map(([concurrency]) => concurrency)).toEqual([
      ...[1, 2, 4, 8, 16, 32, 64, 128, 256, 512],
    ]);
  });

  test('the command of a run measures its load alone', async () => {
    const { requests } = await requestedRuns([...AUTO, '--sweep-max', '2'], {});
    expect(requests[1]?.commandLine).toEqual([
      ...['llmbench', 'run', '--url', 'localhost:8000', '--model', 'm', '--concurrency', '2'],
      ...['--benchmark-duration', '5'],
    ]);
  });

  test('in a scenario file', async () => {
    const path = await file('url: localhost:8000\nmodel: m\nbenchmark-duration: 5\nsweep: auto\nsweep-max: 4\n');
    expect((await loads(['--config', path])).loads.map(([concurrency]) => concurrency)).toEqual([1, 2, 4]);
  });

  test.each([
    [['--request-rate', '5'], '--request-rate cannot be used with --sweep: it varies the concurrency'],
    [['--stages', 'rate=5:60s'], '--stages cannot be used with --sweep: it varies the concurrency'],
    [['--concurrency', '1,2'], '--sweep auto requires one --concurrency'],
    [['--concurrency', '8', '--sweep-max', '4'], '--sweep auto begins at 8, above --sweep-max 4'],
    [['--num-profile-runs', '2'], '--num-profile-runs cannot be used with --sweep: it has no repeats'],
    [['--request-count', '100'], '100 requests are less than the highest concurrency'],
  ])('%j is refused', async (more, message) => {
    await expect(requestedRuns([...AUTO, ...more], {})).rejects.toThrow(message);
  });

  test('a matrix is refused', async () => {
    const path = await file(
      'url: localhost:8000\nmodel: m\nbenchmark-duration: 5\nsweep: auto\nmatrix:\n  isl: [1, 2]\n',
    );
    await expect(requestedRuns(['--config', path], {})).rejects.toThrow('--sweep auto cannot be used with a matrix');
  });
});

describe('a scenario file', () => {
  const MATRIX = 'model: m\nurl: localhost:8000\nrequest-count: 5\nmatrix:\n  isl: [10, 20]\n  concurrency: [1, 2]\n';

  test('its matrix', async () => {
    const { loads: found } = await loads(['--config', await file(MATRIX)]);
    expect(found).toEqual([
      [1, 10],
      [2, 10],
      [1, 20],
      [2, 20],
    ]);
  });

  test('what a flag or the environment gives is not varied', async () => {
    const path = await file(MATRIX);
    expect((await loads(['--config', path, '--isl', '7'])).loads).toEqual([
      [1, 7],
      [2, 7],
    ]);
    expect((await loads([], { LLMBENCH_CONFIG: path, LLMBENCH_CONCURRENCY: '9' })).loads).toEqual([
      [9, 10],
      [9, 20],
    ]);
  });

  test('mistakes name the file', async () => {
    const path = await file('concurrency: many\n');
    await expect(loads(['--config', path])).rejects.toThrow(
      `${path}: concurrency is 'many' and must be a whole number`,
    );
    await expect(loads(['--config', '/nowhere/x.yaml'])).rejects.toThrow('--config: /nowhere/x.yaml cannot be read');
  });
});

test.each([
  [['--slo', 'ttfx<3'], "--slo 'ttfx<3', character 1: the name of a measure"],
  [['--goodput', 'time_to_first_token'], "--goodput 'time_to_first_token', character 20"],
  [['--num-profile-runs', '2', '--run-id', 'x'.repeat(63)], '--run-id is too long'],
])('%j is refused', async (argv, message) => {
  await expect(requestedRuns([...PLAIN, ...argv], {})).rejects.toThrow(message);
});

describe('more runs than one command may have are refused before they are expanded', () => {
  const TEN = JSON.stringify(Array.from({ length: 10 }, (_, i) => i + 1));
  const keys = ['isl', 'osl', 'concurrency', 'request-count', 'random-seed', 'isl-stddev', 'osl-stddev'];

  test('a matrix of ten million', async () => {
    const path = await file(
      `model: m\nurl: localhost:8000\nmatrix:\n${keys.map((key) => `  ${key}: ${TEN}\n`).join('')}`,
    );
    await expect(requestedRuns(['--config', path], {})).rejects.toThrow(
      'the matrix describes 10000000 runs; at most 10000 with one command',
    );
  });

  test('lists and repeats', async () => {
    const list = Array.from({ length: 101 }, (_, i) => i + 1).join();
    const argv = [...PLAIN, '--concurrency', list, '--num-profile-runs', '100'];
    await expect(requestedRuns(argv, {})).rejects.toThrow('describe 10100 runs; at most 10000 with one command');
  });
});

describe('without --model', () => {
  const UNNAMED = ['--url', 'localhost:8000', '--request-count', '5'];
  const askedFor: (string | undefined)[] = [];
  const source = (request: { url: string }): Promise<string> => {
    askedFor.push(request.url);
    return Promise.resolve('meta/llama');
  };
  beforeEach(() => void askedFor.splice(0));

  test('the runs use the model of the source, and their commands name it', async () => {
    const { requests } = await requestedRuns([...UNNAMED, '--concurrency', '1,2'], {}, source);
    expect(requests.map(({ model }) => model)).toEqual(['meta/llama', 'meta/llama']);
    expect(requests[0]?.commandLine?.join(' ')).toMatch(/--model meta\/llama/);
    expect(askedFor).toEqual(['localhost:8000']);
  });

  test('a model from the environment or a file is used', async () => {
    const path = await file('model: m\nconcurrency: 1\n');
    await requestedRuns([...UNNAMED, '--concurrency', '1'], { LLMBENCH_MODEL: 'm' }, source);
    await requestedRuns([...UNNAMED, '--config', path], {}, source);
    expect(askedFor).toEqual([]);
  });

  test('what else is wrong is reported before anything is requested', async () => {
    await expect(requestedRuns([...UNNAMED, '--stages', 'nonsense'], {}, source)).rejects.toThrow('--stages');
    await expect(requestedRuns(['--concurrency', '1'], {}, source)).rejects.toThrow('--url is required');
    expect(askedFor).toEqual([]);
  });

  test('without a source it is required', async () => {
    await expect(requestedRuns([...UNNAMED, '--concurrency', '1'], {})).rejects.toThrow('--model is required');
  });
});
