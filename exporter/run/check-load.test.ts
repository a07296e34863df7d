import { ExpectedError } from '../errors/expected-error.ts';
import { expect, test } from '@jest/globals';
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { readOptions } from '../cli/options/options.ts';
import { RUN_OPTIONS, runRequests } from '../cli/options/run-options.ts';
import { checkLoad, checkLoadIsMeant, checkOpenFiles, openFilesLimit } from './planned-load.ts';

const ELSEWHERE = 'http://192.0.2.1:8000';

test.each([
  [{ inFlight: 65, steps: 1 }, '65 concurrent requests to http://192.0.2.1:8000'],
  [{ inFlight: null, steps: 1 }, 'a load without a --concurrency limit'],
  [{ inFlight: 8, steps: 3 }, 'a sweep of 3 loads to http://192.0.2.1:8000'],
])('%j elsewhere needs a confirmation', (load, message) => {
  expect(() => checkLoadIsMeant(ELSEWHERE, load, false)).toThrow(ExpectedError);
  expect(() => checkLoadIsMeant(ELSEWHERE, load, false)).toThrow(message);
  expect(() => checkLoadIsMeant(ELSEWHERE, load, true)).not.toThrow();
  for (const origin of ['http://localhost:1', 'http://127.0.0.9:1', 'http://[::1]:1']) {
    expect(() => checkLoadIsMeant(origin, load, false)).not.toThrow();
  }
});

test('the load of the warm-up counts too', () => {
  const argv = ['--url', ELSEWHERE, '--model', 'm', '--request-count', '9', '--concurrency', '4'];
  const check = (...more: string[]): void =>
    runRequests(readOptions(RUN_OPTIONS, [...argv, ...more], {})).forEach((request) => checkLoad(request, 1, false));
  expect(() => check()).not.toThrow();
  expect(() => check('--warmup-request-count', '500', '--warmup-concurrency', '65')).toThrow(
    '65 concurrent requests to http://192.0.2.1:8000, which is another machine: confirm with --yes',
  );
});

test('64 at a time need none', () => {
  expect(() => checkLoadIsMeant(ELSEWHERE, { inFlight: 64, steps: 1 }, false)).not.toThrow();
});

test('a load that needs more connections than the process may have is refused, with the remedy', () => {
  expect(() => checkOpenFiles(2000, 1024)).toThrow(ExpectedError);
  expect(() => checkOpenFiles(2000, 1024)).toThrow('the limit of open files is 1024: `ulimit -n 2064`');
  expect(() => checkOpenFiles(960, 1024)).not.toThrow();
});

test('nothing is refused where one of the two is unknown', () => {
  expect(() => checkOpenFiles(null, 1024)).not.toThrow();
  expect(() => checkOpenFiles(100_000, null)).not.toThrow();
});

(existsSync('/proc/self/limits') ? test : test.skip)('the limit is that of the shell', () => {
  const module = fileURLToPath(new URL('planned-load.ts', import.meta.url));
  const script = `import(${JSON.stringify(module)}).then((m) => console.log(m.openFilesLimit()))`;
  const { stdout } = spawnSync('bash', ['-c', 'ulimit -n 300; "$0" -e "$1"', process.execPath, script], {
    encoding: 'utf8',
    env: { PATH: process.env.PATH },
  });
  expect(stdout.trim()).toBe('300');
  expect(openFilesLimit()).toBeGreaterThan(0);
});
