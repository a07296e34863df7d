import { expect, test } from '@jest/globals';
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { checkOpenFiles, openFilesLimit } from './open-files.ts';
import { RefusedError } from './refusal.ts';

test('a load that needs more connections than the process may have is refused, with the remedy', () => {
  expect(() => checkOpenFiles(2000, 1024)).toThrow(RefusedError);
  expect(() => checkOpenFiles(2000, 1024)).toThrow('this process may have 1024 open files: `ulimit -n 2064`');
  expect(() => checkOpenFiles(960, 1024)).not.toThrow();
});

test('nothing is refused where one of the two is unknown', () => {
  expect(() => checkOpenFiles(null, 1024)).not.toThrow();
  expect(() => checkOpenFiles(100_000, null)).not.toThrow();
});

(existsSync('/proc/self/limits') ? test : test.skip)('the limit is that of the shell', () => {
  const module = fileURLToPath(new URL('open-files.ts', import.meta.url));
  const script = `import(${JSON.stringify(module)}).then((m) => console.log(m.openFilesLimit()))`;
  const { stdout } = spawnSync('bash', ['-c', 'ulimit -n 300; "$0" -e "$1"', process.execPath, script], {
    encoding: 'utf8',
    env: { PATH: process.env.PATH },
  });
  expect(stdout.trim()).toBe('300');
  expect(openFilesLimit()).toBeGreaterThan(0);
});
