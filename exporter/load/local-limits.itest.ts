import { execFile, execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { GOOD_STREAM, scriptedServer, streamOf } from './testing/scripted-server.ts';
import type { ScriptedServer } from './testing/scripted-server.ts';
import type { LimitedOutcome } from './testing/limited-client.ts';
import { TRANSPORTS } from './testing/transport-kinds.ts';

const CLIENT = fileURLToPath(new URL('./testing/limited-client.ts', import.meta.url));
const KINDS = TRANSPORTS.map(([name]) => name);
const run = promisify(execFile);

async function limitedClient(program: string, args: readonly string[], script: string): Promise<LimitedOutcome> {
  const { stdout } = await run(program, [...args, 'sh', '-c', script]);
  return JSON.parse(stdout) as LimitedOutcome;
}

function sum(counts: LimitedOutcome['atOnce'], of: (words: string) => boolean): number {
  return Object.entries(counts).reduce((all, [words, count]) => all + (of(words) ? count : 0), 0);
}

describe('out of file descriptors', () => {
  const FILES = 60;
  const REQUESTS = 100;
  let server: ScriptedServer;

  beforeAll(async () => {
    server = await scriptedServer(async (socket) => {
      await sleep(1000);
      if (!socket.destroyed) socket.write(streamOf(GOOD_STREAM));
    });
  });
  afterAll(() => server.close());

  test.each(KINDS)('%s: it is not an error of the server, and the client continues', async (kind) => {
    const script = `ulimit -n ${FILES}; exec "${process.execPath}" "${CLIENT}" ${kind} ${REQUESTS} ${server.origin}`;
    const { atOnce, afterwards } = await limitedClient('env', [], script);
    const limited =
      'error other EMFILE: this process has reached its limit of open files (ulimit -n); the server is not at fault';
    expect(Object.keys(atOnce).sort()).toEqual([limited, 'ok']);
    expect(atOnce['ok']).toBeLessThan(FILES);
    expect((atOnce['ok'] ?? 0) + (atOnce[limited] ?? 0)).toBe(REQUESTS);
    expect(afterwards).toBe('ok');
  });
});

/** A network of its own, in which a machine may be given few local ports, is a matter of rights. */
const OWN_NETWORK = ['-rn'];
const FEW_PORTS = 'ip link set lo up && echo "40000 40007" > /proc/sys/net/ipv4/ip_local_port_range';
const mayHaveNetwork = ((): boolean => {
  try {
    execFileSync('unshare', [...OWN_NETWORK, 'sh', '-c', FEW_PORTS], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
})();

(mayHaveNetwork ? describe : describe.skip)('no more local ports', () => {
  const PORTS = 8;
  const REQUESTS = 20;

  test.each(KINDS)('%s: it is not an error of the server, and the client continues', async (kind) => {
    const script = `${FEW_PORTS} && exec "${process.execPath}" "${CLIENT}" ${kind} ${REQUESTS}`;
    const { atOnce, afterwards } = await limitedClient('unshare', OWN_NETWORK, script);
    const ok = atOnce['ok'] ?? 0;
    expect(ok).toBeGreaterThan(0);
    expect(ok).toBeLessThanOrEqual(PORTS);
    expect(
      sum(atOnce, (words) => words.startsWith('error other EADDRNOTAVAIL: this machine has no free local port')),
    ).toBe(REQUESTS - ok);
    expect(afterwards).toBe('ok');
  });
});
