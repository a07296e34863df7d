import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { expect, test } from '@jest/globals';
import { CliError, ExitCode } from '../failure.ts';
import { run } from './simulate.ts';

async function failure(argv: readonly string[]): Promise<CliError> {
  const error = await run(argv).catch((reason: unknown) => reason);
  if (error instanceof CliError) return error;
  throw new Error(`no CliError: ${String(error)}`);
}

test('a port that is taken is named, with what to do', async () => {
  const taken = createServer();
  await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve));
  const { port } = taken.address() as AddressInfo;
  try {
    const { message, exitCode } = await failure(['--port', String(port)]);
    expect(message).toBe(
      `127.0.0.1:${port} is in use: stop the program that listens there or choose another port (0 selects a free one)`,
    );
    expect(exitCode).toBe(ExitCode.refused);
  } finally {
    await new Promise((resolve) => taken.close(resolve));
  }
});

test('drafts are only of systems that count them, and of a length and a ratio', async () => {
  expect((await failure(['--system', 'sglang', '--drafts', '3:0.7'])).message).toBe(
    '--system sglang has no --drafts: remove one of them',
  );
  expect((await failure(['--plain', '--drafts', '3:0.7'])).message).toBe('--plain has no --drafts: remove one of them');
  for (const wrong of ['3', '0:0.5', '3:1.5', '3:-1'])
    expect((await failure(['--drafts', wrong])).message).toMatch(/TOKENS:RATIO/);
});

test('an address of another machine is named', async () => {
  const { message } = await failure(['--host', '192.0.2.1', '--port', '0']);
  expect(message).toBe('cannot listen on 192.0.2.1:0: 192.0.2.1 is not an address of this machine');
});
