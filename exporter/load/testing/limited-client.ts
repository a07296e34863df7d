import { setTimeout as sleep } from 'node:timers/promises';
import type { RequestRecord } from '../../../core/run/record.ts';
import { oneRequest } from './one-request.ts';
import { GOOD_STREAM, scriptedServer, streamOf } from './scripted-server.ts';
import { TRANSPORTS } from './transport-kinds.ts';

/** What became of many requests at once, by outcome, reason and message, and of one after them. */
export interface LimitedOutcome {
  readonly atOnce: Readonly<Record<string, number>>;
  readonly afterwards: RequestRecord['outcome'];
}

/** Long enough that no connection is free again while the others are opened. */
const RESPONSE_AFTER_MS = 1000;

/**
 * A program: `node limited-client.ts TRANSPORT REQUESTS [ORIGIN]` sends so many requests at once, and then one, and prints a
 * `LimitedOutcome`. Without an origin it has a server of its own. For tests that take something away from its process.
 */
const [, , kind = '', requests = '0', given] = process.argv;
const open = TRANSPORTS.find(([name]) => name === kind)?.[1];
if (open === undefined) throw new Error(`there is no transport ${kind}`);
const server = given === undefined ? await slowServer() : null;
const transport = open({ origin: given ?? server?.origin ?? '' });
const reported = await Promise.all(Array.from({ length: Number(requests) }, () => oneRequest(transport)));
const atOnce: Record<string, number> = {};
for (const { closed } of reported) {
  const { outcome, reason } = closed.record;
  const words = [outcome, reason, closed.message].filter((word) => word !== null).join(' ');
  atOnce[words] = (atOnce[words] ?? 0) + 1;
}
const { closed } = await oneRequest(transport);
await transport.close();
await server?.close();
process.stdout.write(`${JSON.stringify({ atOnce, afterwards: closed.record.outcome } satisfies LimitedOutcome)}\n`);

async function slowServer() {
  return scriptedServer(async (socket) => {
    await sleep(RESPONSE_AFTER_MS);
    if (!socket.destroyed) socket.write(streamOf(GOOD_STREAM));
  });
}
