import { afterEach, describe, expect, test } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import { NOT_TRACED } from '../../../core/run/record.ts';
import type { RequestRecord } from '../../../core/run/record.ts';
import { oneRequest } from '../testing/one-request.ts';
import {
  GOOD_STREAM,
  httpChunk,
  LAST_CHUNK,
  readThenWait,
  scriptedServer,
  STREAM_HEAD,
  streamOf,
} from '../testing/scripted-server.ts';
import type { Script } from '../testing/scripted-server.ts';
import { TRANSPORTS } from '../testing/transport-kinds.ts';

const MS = 1e6;
const toClose: { close(): Promise<void> }[] = [];

afterEach(async () => {
  for (const thing of toClose.splice(0).reverse()) await thing.close();
});

describe.each(TRANSPORTS)('HTTP phases over %s', (_name, open) => {
  /** The records of requests that follow each other over one transport. */
  async function recordsOf(script: Script, requests: number, trace: boolean): Promise<RequestRecord[]> {
    const server = await scriptedServer(script);
    const transport = open({ origin: server.origin, trace });
    toClose.push(server, transport);
    const records: RequestRecord[] = [];
    for (let i = 0; i < requests; i++) records.push((await oneRequest(transport)).closed.record);
    return records;
  }

  test('waiting ends with the first byte of the body, receiving with the last', async () => {
    const [record] = await recordsOf(
      async (socket) => {
        await sleep(40);
        socket.write(STREAM_HEAD);
        await sleep(40);
        for (const event of GOOD_STREAM) {
          socket.write(httpChunk(event));
          await readThenWait(10);
        }
        socket.write(LAST_CHUNK);
      },
      1,
      true,
    );
    expect(record?.outcome).toBe('ok');
    // The server waits 80 ms before the body, and 40 ms between its first and its last piece; a timer may fire 1 ms early.
    expect(record?.http_waiting_ns).toBeGreaterThanOrEqual(78 * MS);
    expect(record?.http_receiving_ns).toBeGreaterThanOrEqual(36 * MS);
    expect(record?.http_data_received_bytes).toBe(GOOD_STREAM.join('').length);
    expect(record?.http_data_sent_bytes).toBeGreaterThan(0);
  });

  test('the phases follow each other and fill the time of the request', async () => {
    const [record] = await recordsOf((socket) => socket.write(streamOf(GOOD_STREAM)), 1, true);
    if (record === undefined) throw new Error('no record');
    const { http_blocked_ns, http_connecting_ns, http_sending_ns, http_waiting_ns, http_receiving_ns } = record;
    const parts = [http_blocked_ns, http_connecting_ns, http_sending_ns, http_waiting_ns, http_receiving_ns];
    for (const part of parts) expect(part).toBeGreaterThanOrEqual(0);
    const sum = parts.reduce<number>((all, part) => all + (part ?? NaN), 0);
    expect(sum).toBeLessThanOrEqual(record.end_ns - record.sent_ns);
    // An address is not looked up, and plain http has no handshake.
    expect(record).toMatchObject({ http_dns_lookup_ns: null, http_tls_handshaking_ns: null });
  });

  test('over an open connection nothing is connected', async () => {
    const [first, second] = await recordsOf((socket) => socket.write(streamOf(GOOD_STREAM)), 2, true);
    expect(first?.http_connecting_ns).toBeGreaterThan(0);
    expect(second).toMatchObject({ connection_reused: true, http_connecting_ns: null, outcome: 'ok' });
    expect(second?.http_sending_ns).toBeGreaterThanOrEqual(0);
    expect(second?.http_blocked_ns).toBeGreaterThanOrEqual(0);
  });

  test('a request that was sent again: the time lost is in "blocked", the phases are those of the second time', async () => {
    const [, again] = await recordsOf(
      async (socket, { position }) => {
        if (position !== 1) return socket.write(streamOf(GOOD_STREAM));
        await sleep(30);
        return socket.resetAndDestroy();
      },
      2,
      true,
    );
    expect(again).toMatchObject({ connection_retried: true, outcome: 'ok' });
    expect(again?.http_blocked_ns).toBeGreaterThanOrEqual(28 * MS);
    expect(again?.http_connecting_ns).toBeGreaterThan(0);
  });

  test('nothing is reported unless it was requested', async () => {
    const [record] = await recordsOf((socket) => socket.write(streamOf(GOOD_STREAM)), 1, false);
    expect(record).toMatchObject(NOT_TRACED);
  });
});
