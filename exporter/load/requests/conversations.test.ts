import { describe, expect, jest, test } from '@jest/globals';
import { allFindings, findingLines } from '../responses/response-findings.ts';
import { type Conversation, type Dataset, turnInOrder } from '../datasets/dataset.ts';
import { syntheticDataset } from '../datasets/synthetic-dataset.ts';
import type { ConversationShape } from '../datasets/synthetic-dataset.ts';
import type { Message } from '../endpoints/endpoint.ts';
import { RunControls } from '../phases/run-controls.ts';
import { benchmarkPlan, benchmarkRun } from '../testing/benchmark-run.ts';
import type { BenchmarkRun, PlanChanges } from '../testing/benchmark-run.ts';
import { response, delta, readThenWait, reasoning, sse, streamOf, usage } from '../testing/scripted-server.ts';
import type { Script } from '../testing/scripted-server.ts';

const shape = (turns: number, delay = 0): ConversationShape => ({
  turns: { mean: turns, stddev: 0 },
  delay: { mean: delay, stddev: 0, ratio: 1 },
});

function run(
  conversations: ConversationShape,
  changes: PlanChanges,
  script: Script,
  controls?: RunControls,
): Promise<BenchmarkRun> {
  const { form } = benchmarkPlan({});
  const dataset = syntheticDataset({ inputTokens: 5, outputTokens: 8, seed: 1, conversations });
  return benchmarkRun({ ...changes, form: { ...form, dataset } }, script, controls);
}

const messagesOf = (body: string): readonly Message[] => (JSON.parse(body) as { messages: Message[] }).messages;
const answering = (text: string): string =>
  streamOf([sse(delta(text)), sse(delta(' too')), sse(delta('', 'stop')), sse(usage(7, 2)), sse('[DONE]')]);
/** Answers with the number of the turn. */
const counting: Script = (socket, { body }) => socket.write(answering(`turn ${messagesOf(body).length}`));

describe('conversations', () => {
  test("each turn contains the server's answers to the earlier turns", async () => {
    const { outcome, recorder, server } = await run(shape(3), { requestCount: 9, concurrency: 1 }, counting);
    expect(outcome).toMatchObject({ status: 'completed' });
    expect(outcome.phases[0]).toMatchObject({ sent: 9, positions: 9, requests: { ok: 9 } });
    const sent = server.requests.map(({ body }) => messagesOf(body));
    expect(sent.map((messages) => messages.length)).toEqual([1, 3, 5, 1, 3, 5, 1, 3, 5]);
    const last = sent[5] ?? [];
    expect(last.map(({ role }) => role)).toEqual(['user', 'assistant', 'user', 'assistant', 'user']);
    expect([last[1]?.content, last[3]?.content]).toEqual(['turn 1 too', 'turn 3 too']);
    expect(last.slice(0, 3)).toEqual(sent[4]);
    expect(recorder.records.map((record) => record.index)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8]);
    const { records } = recorder;
    expect(records.map(({ conversation, turn }) => [conversation, turn])).toEqual(
      [0, 3, 6].flatMap((first) => [1, 2, 3].map((turn) => [first, turn])),
    );
    expect(records[4]).toMatchObject({ conversation_requests: 3, agent: null, think_ns: 0, tool_ns: null });
    // No text of a prompt or a response stays anywhere.
    expect(JSON.stringify(recorder.records)).not.toContain('turn 1');
  });

  test('reasoning that used up max_tokens is the message, and it is said', async () => {
    const thinking = [sse(reasoning('so')), sse(reasoning(' far')), sse(delta('', 'length')), sse(usage(7, 2))];
    const { outcome, server } = await run(shape(3), { requestCount: 6, concurrency: 1 }, (socket) =>
      socket.write(streamOf(thinking)),
    );
    const sent = server.requests.map(({ body }) => messagesOf(body));
    expect(sent[2]?.map(({ role }) => role)).toEqual(['user', 'assistant', 'user', 'assistant', 'user']);
    expect([sent[2]?.[1]?.content, sent[2]?.[3]?.content]).toEqual(['so far', 'so far']);
    expect(findingLines(allFindings(outcome.phases))).toEqual([
      'conversations: 4 responses had reasoning that used up max_tokens and no other text: the reasoning is the message in the next turn; a larger --osl makes room',
    ]);
  });

  test('a response without any text has no message, since servers refuse empty ones', async () => {
    const call = { tool_calls: [{ index: 0, function: { name: 'f', arguments: '{}' } }] };
    const calling = [sse({ choices: [{ index: 0, delta: call, finish_reason: 'tool_calls' }] }), sse(usage(7, 2))];
    const { outcome, server } = await run(shape(3), { requestCount: 3, concurrency: 1 }, (socket) =>
      socket.write(streamOf(calling)),
    );
    const sent = server.requests.map(({ body }) => messagesOf(body));
    expect(sent[2]?.map(({ role }) => role)).toEqual(['user', 'user', 'user']);
    expect(findingLines(allFindings(outcome.phases))).toEqual([
      'conversations: 2 responses had no text: the next turn leaves the message out',
    ]);
  });

  test('one conversation per slot, and the last one ends with the requests', async () => {
    const { outcome, recorder, server } = await run(shape(4), { requestCount: 10, concurrency: 2 }, counting);
    expect(outcome.phases[0]).toMatchObject({ sent: 10, positions: 10, requests: { ok: 10 } });
    expect(recorder.mostInFlight).toBe(2);
    expect(recorder.records.map((record) => record.index).sort((a, b) => a - b)).toEqual([...Array(10).keys()]);
    expect(server.requests.filter(({ body }) => messagesOf(body).length === 1)).toHaveLength(3);
  });

  test('a turn is due when its user is ready', async () => {
    const { recorder } = await run(shape(2, 0.05), { requestCount: 4, concurrency: 1 }, counting);
    const [first, second, third] = recorder.of('measure');
    expect((second?.due_ns ?? NaN) - (first?.end_ns ?? NaN)).toBe(50e6);
    expect(second?.sent_ns).toBeGreaterThanOrEqual(second?.due_ns ?? NaN);
    // The slot's next conversation begins at once.
    expect((third?.due_ns ?? NaN) - (second?.end_ns ?? NaN)).toBeLessThan(49e6);
  });

  test('later turns wait for others to prefill as well', async () => {
    let prefilling = 0;
    let most = 0;
    const slow: Script = (socket, { body }) => {
      most = Math.max(most, ++prefilling);
      setTimeout(() => {
        prefilling--;
        socket.write(answering(`turn ${messagesOf(body).length}`));
      }, 5);
    };
    const changes = { requestCount: 12, concurrency: 4, prefillConcurrency: 1 };
    const { outcome, recorder } = await run(shape(3), changes, slow);
    expect(outcome.phases[0]?.requests.ok).toBe(12);
    expect(most).toBe(1);
    // The wait is seen: the turns of the other users were due while one prefilled.
    expect(Math.max(...recorder.of('measure').map(({ sent_ns, due_ns }) => sent_ns - due_ns))).toBeGreaterThan(4e6);
  });

  test('a pause of more than the 24.8 days that a timer can wait is one pause', async () => {
    const timers = jest.spyOn(globalThis, 'setTimeout');
    const { outcome } = await run(
      shape(2, 30 * 86_400),
      { requestCount: 4, concurrency: 2, durationSeconds: 0.2 },
      counting,
    );
    const longest_ms = timers.mock.calls.reduce((longest, [, wait_ms = 0]) => Math.max(longest, wait_ms), 0);
    timers.mockRestore();
    expect(outcome.phases[0]?.sent).toBe(2);
    expect(longest_ms).toBe(2 ** 31 - 1);
  });

  test('Ctrl-C ends conversations whose next turn waits for others to prefill', async () => {
    const controls = new RunControls();
    const script: Script = (socket, { position }) => {
      // The third request prefills for ever: the second turns of the first two users wait for it.
      if (position < 2) socket.write(answering('x'));
      else setTimeout(() => controls.drain(), 20).unref();
      if (position >= 2) setTimeout(() => socket.write(answering('late')), 60);
    };
    const changes = { requestCount: 30, concurrency: 3, prefillConcurrency: 1 };
    const { outcome } = await run(shape(10), changes, script, controls);
    expect(outcome).toMatchObject({ status: 'aborted' });
    expect(outcome.phases[0]?.sent).toBeLessThan(10);
  });

  test('a conversation whose turn failed is not continued, and indexes stay unique in the phases after', async () => {
    const failing: Script = (socket, request) => {
      if (request.position === 1) socket.write(response('500 X', 'text/plain', ''));
      else counting(socket, request);
    };
    const { outcome, recorder } = await run(
      shape(3),
      { requestCount: 6, concurrency: 1, warmup: { requestCount: 6, concurrency: 1 } },
      failing,
    );
    expect(outcome.phases.map(({ sent, positions }) => [sent, positions])).toEqual([
      [5, 6],
      [6, 6],
    ]);
    const indexes = recorder.records.map((record) => record.index);
    expect(indexes).toEqual([0, 1, 3, 4, 5, 6, 7, 8, 9, 10, 11]);
  });

  test('drain: pauses of users are not awaited', async () => {
    const controls = new RunControls();
    const draining: Script = (socket, request) => {
      counting(socket, request);
      if (request.position === 2) void readThenWait(0).then(() => controls.drain());
    };
    const { outcome, recorder } = await run(shape(5, 3600), { requestCount: 50, concurrency: 3 }, draining, controls);
    expect(outcome.status).toBe('aborted');
    expect(recorder.records).toHaveLength(3);
    expect(recorder.inFlight).toBe(0);
  });

  test('the end of the duration ends them too', async () => {
    const { outcome } = await run(
      shape(5, 3600),
      { requestCount: null, durationSeconds: 0.2, concurrency: 3 },
      counting,
    );
    expect(outcome).toMatchObject({ status: 'completed' });
    expect(outcome.phases[0]?.requests.ok).toBe(3);
  });
});

describe('a graph of requests', () => {
  /** A parent calls two agents at once, of which one has two turns, and goes on when both have ended. */
  const places = [
    { after: [], turn: 1, agent: 1 },
    { after: [0], turn: 1, agent: 2, toolSeconds: 0.02 },
    { after: [0], turn: 1, agent: 3 },
    { after: [2], turn: 2, agent: 3, thinkSeconds: 0.03 },
    { after: [1, 3], turn: 2, agent: 1, toolSeconds: 0.01, recordedSeconds: 0.5 },
  ].map((place) => ({ thinkSeconds: 0, toolSeconds: null, recordedSeconds: null, ...place }));
  const graphRun = (changes: PlanChanges, script: Script, placed = places): Promise<BenchmarkRun> => {
    const { form } = benchmarkPlan({});
    const agents: Conversation = {
      requests: placed.length,
      place: (number) => placed[number] ?? turnInOrder(number, 0),
      request: (number, responses) => ({ prompt: `${number}: ${JSON.stringify(responses)}`, max_tokens: 4 }),
    };
    const dataset: Dataset = {
      planSha256: '',
      size: null,
      request: () => agents.request(0, []),
      conversation: () => agents,
    };
    return benchmarkRun({ ...changes, form: { ...form, dataset } }, script);
  };
  const answer: Script = (socket, { position }) => socket.write(answering(`answer ${position}`));

  test('a request waits for the responses that it needs, and for its pauses, and for nothing else', async () => {
    const { outcome, recorder, server } = await graphRun({ requestCount: 10, concurrency: 1 }, answer);
    expect(outcome.phases[0]).toMatchObject({ sent: 10, positions: 10, requests: { ok: 10 } });
    const records = recorder.records.toSorted((a, b) => a.index - b.index);
    const [parent, first, second, third, joined] = records;
    expect((first?.due_ns ?? NaN) - (parent?.end_ns ?? NaN)).toBe(20e6);
    expect(second?.due_ns).toBe(parent?.end_ns);
    expect((third?.due_ns ?? NaN) - (second?.end_ns ?? NaN)).toBe(30e6);
    const both_ns = Math.max(first?.end_ns ?? NaN, third?.end_ns ?? NaN);
    expect((joined?.due_ns ?? NaN) - both_ns).toBe(10e6);
    expect(joined).toMatchObject({ conversation: 0, turn: 2, agent: 1, think_ns: 0, tool_ns: 10e6 });
    expect(joined?.planned_ns).toBe((parent?.due_ns ?? NaN) + 500e6);
    // Another conversation takes the slot when all of this one has ended.
    expect(records[5]?.due_ns).toBe(joined?.end_ns);
    const last = JSON.parse(server.requests[4]?.body ?? '') as { messages: Message[] };
    expect(last.messages[0]?.content).toMatch(
      /^4: \["answer 0 too","answer \d too","answer \d too","answer \d too"\]$/,
    );
  });

  test('an agent that fails ends the conversation: what is in flight ends, nothing more is sent', async () => {
    const failing: Script = (socket, { body }) =>
      socket.write(body.includes('"2:') ? response('500 X', 'text/plain', '') : answering('x'));
    // Whatever the machine does, the other agent is not due yet when this one fails.
    const later = places.map((place) => (place.agent === 2 ? { ...place, toolSeconds: 3600 } : place));
    const { recorder } = await graphRun({ requestCount: 5, concurrency: 1 }, failing, later);
    expect(recorder.records.map(({ agent, outcome }) => [agent, outcome])).toEqual([
      [1, 'ok'],
      [3, 'error'],
    ]);
  });
});
