import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from '@jest/globals';
import { namedArguments, wholeNumber } from './script-options.ts';

const RECORD = fileURLToPath(new URL('real-servers/record.ts', import.meta.url));

/** Exit code and output of a script that reads its command line with `readScriptOptions`. */
function record(...args: string[]): Promise<{ code: unknown; stdout: string; stderr: string }> {
  return new Promise((resolve) => {
    execFile(process.execPath, [RECORD, ...args], (error, stdout, stderr) =>
      resolve({ code: error?.code ?? 0, stdout, stderr }),
    );
  });
}

describe('the command line of a script', () => {
  test('--help prints the usage to stdout, whatever else is given', async () => {
    const { code, stdout, stderr } = await record('--wrong', '--help');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(/^usage: node scripts\/real-servers\/record\.ts/);
  });

  test.each([
    [['vllm'], 'FILE is required'],
    [[], 'SERVER and FILE are required'],
    [['vllm', 'file', 'more'], "unexpected argument 'more'"],
    [['nothing', 'file'], "unknown server 'nothing': must be "],
    [['vllm', 'file', '--requests', '1e1000'], "--requests '1e1000' must be a whole number of at least 1"],
    [['vllm', 'file', '--request', '5'], "Unknown option '--request'"],
  ])('%j: the reason and the usage, exit code 2', async (args, reason) => {
    const { code, stdout, stderr } = await record(...args);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr.startsWith(reason)).toBe(true);
    expect(stderr).toContain('\nusage: node ');
  });
});

test.each(['', ' ', '1.5', 'x', '-1', '65536'])('%j is no port', (text) => {
  expect(() => wholeNumber('port', text, { min: 0, max: 65_535 })).toThrow(
    `--port '${text}' must be a whole number from 0 to 65535`,
  );
});

test('arguments by name', () => {
  expect(namedArguments(['a', 'b'], ['FROM', 'TO'])).toEqual({ FROM: 'a', TO: 'b' });
  expect(namedArguments([], [])).toEqual({});
});
