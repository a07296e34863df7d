import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, expect, test } from '@jest/globals';
import { ownIdentity, processState } from './process-identity.ts';

/** Elsewhere there is no start time of a process in /proc. */
const onLinux = process.platform === 'linux' ? test : test.skip;

describe('processState', () => {
  test('this process is alive', () => {
    expect(processState(ownIdentity())).toBe(process.platform === 'linux' ? 'alive' : 'elsewhere');
  });

  onLinux('the same id with another start is another process (requires Linux)', () => {
    const { pid, start_time } = ownIdentity();
    expect(processState({ pid, start_time: `${start_time}0` })).toBe('gone');
  });

  test('a process that ended is gone', async () => {
    const child = spawn(process.execPath, ['--version'], { stdio: 'ignore' });
    const { pid = 0 } = child;
    await once(child, 'close');
    const [where = ''] = ownIdentity().start_time.split('.');
    expect(processState({ pid, start_time: `${where}.1` })).toBe('gone');
  });

  onLinux('a process of another container or boot cannot be checked (requires Linux)', () => {
    expect(processState({ pid: process.pid, start_time: '000000000000.1' })).toBe('elsewhere');
  });

  test('without /proc a process that exists may be another one', () => {
    expect(processState({ pid: process.pid, start_time: 'epoch.1' })).toBe('elsewhere');
  });
});
