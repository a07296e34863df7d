import { Writable } from 'node:stream';
import { describe, expect, test } from '@jest/globals';
import { systemResponses } from '../dialects/dialect.ts';
import { DIALECTS } from '../dialects/table.ts';
import { Engine } from '../engine/engine.ts';
import { DEFAULT_ENGINE_PARAMETERS } from '../engine/parameters.ts';
import { MonotonicClock } from './engine-driver.ts';
import { StreamReply } from './reply.ts';
import { TruthRecord } from './truth-log.ts';

/** A client that reads only when it is reported to. */
class SlowSocket extends Writable {
  readonly received: string[] = [];
  #read: (() => void) | null = null;

  constructor() {
    super({ highWaterMark: 1, decodeStrings: false });
  }

  override _write(chunk: string, _encoding: BufferEncoding, callback: () => void): void {
    this.received.push(chunk);
    this.#read = callback;
  }

  async read(): Promise<void> {
    this.#read?.();
    await new Promise((resolve) => setImmediate(resolve));
  }
}

interface Written {
  readonly due: number[];
  readonly written: number[];
}

function setUp(outputTokens: number) {
  const engine = new Engine(DEFAULT_ENGINE_PARAMETERS);
  const request = { id: 'r', arrival_ns: 0, promptTokens: 5, outputTokens };
  engine.submit(request);
  const clock = new MonotonicClock();
  const socket = new SlowSocket();
  const truth = new TruthRecord(request);
  let ended = 0;
  const reply = new StreamReply({
    response: socket,
    texts: systemResponses(DIALECTS.vllm).stream({ id: 'r', created: 1, model: 'm' }, true),
    includeUsage: true,
    nextWord: () => ' x',
    clock,
    truth,
    ended: () => ended++,
  });
  const events = engine.advanceTo(1e12);
  const tokens = events.flatMap((event) => (event.kind === 'token' ? [event] : []));
  const finished = events.find((event) => event.kind === 'finished');
  return {
    reply,
    socket,
    tokens,
    finished,
    ended: () => ended,
    truth: () => JSON.parse(truth.toJson(clock)) as Written,
  };
}

describe('back-pressure', () => {
  test('while the client does not read, tokens wait; then they are sent together, each as its own event', async () => {
    const { reply, socket, tokens, finished, truth, ended } = setUp(4);
    for (const token of tokens.slice(0, 3)) {
      reply.token(token);
      reply.flush();
    }
    expect(socket.received).toHaveLength(1);
    expect(truth()).toMatchObject({ written: [expect.any(Number)] });
    expect(truth().due).toHaveLength(3);

    await socket.read();
    expect(socket.received).toHaveLength(2);
    expect(socket.received[1]?.match(/"content":" x"/g)).toHaveLength(2);
    expect(truth().written).toHaveLength(3);

    const last = tokens[3];
    if (last === undefined || finished === undefined) throw new Error('the engine gave too few events');
    reply.token(last);
    reply.finished(finished);
    reply.flush();
    expect(ended()).toBe(0);
    await socket.read();
    expect(ended()).toBe(1);
    expect(socket.received.at(-1)).toMatch(/"finish_reason":"length".*"usage".*data: \[DONE\]\n\n$/s);
  });
});
