import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { Agent, request } from 'node:http';
import type { IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';

import { afterAll, beforeAll, expect, test } from '@jest/globals';

import { readPage } from './metrics/testing/read-page.ts';

const STREAMS = 2000;
const OUTPUT_TOKENS = 6;

// Steps of four seconds, in which all that came meanwhile is taken up: the first stream lives for six of them, so the last
// has most of that time to begin.
const PROGRAM = `
  import { startSimulator } from ${JSON.stringify(new URL('./main.ts', import.meta.url).href)};
  const engine = { maxNumSeqs: ${STREAMS}, maxNumBatchedTokens: 1e6, stepBaseMilliseconds: 4000, jitterRatio: 0,
    prefillMillisecondsPerToken: 0, decodeMillisecondsPerSequence: 0, speculation: null };
  const { url } = await startSimulator({ system: 'vllm', engine });
  console.log(url);
`;

interface Response {
  readonly status: number | undefined;
  readonly tokens: number;
  readonly id: string | undefined;
  readonly isComplete: boolean;
}

let simulator: ChildProcess;
let url: string;

beforeAll(async () => {
  const args = ['--input-type=module', '--eval', PROGRAM];
  simulator = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const [line] = (await once(simulator.stdout ?? simulator, 'data')) as [Buffer];
  url = line.toString().trim();
});

afterAll(async () => {
  if (simulator.exitCode !== null) return;
  const ended = once(simulator, 'exit');
  simulator.kill('SIGKILL');
  await ended;
});

test('one process holds 2,000 streams at once, and each is complete', async () => {
  const agent = new Agent({ maxSockets: Infinity });
  let open = 0;
  let mostOpen = 0;
  const responses = await Promise.all(
    Array.from({ length: STREAMS }, async (_, i) => {
      const response = await ask(agent, `Stream ${i}`);
      mostOpen = Math.max(mostOpen, ++open);
      const body = await text(response);
      open--;
      return responseOf(response, body);
    }),
  );
  agent.destroy();
  expect(mostOpen).toBe(STREAMS);
  const complete = responses.filter(
    ({ status, tokens, isComplete }) => status === 200 && tokens === OUTPUT_TOKENS && isComplete,
  );
  expect(complete).toHaveLength(STREAMS);
  expect(new Set(responses.map(({ id }) => id)).size).toBe(STREAMS);

  const page = readPage(await (await fetch(`${url}/metrics`)).text());
  expect(page.value('vllm:request_success_total', { finished_reason: 'length' })).toBe(STREAMS);
  expect(page.value('vllm:generation_tokens_total')).toBe(STREAMS * OUTPUT_TOKENS);
  expect(page.value('http_requests_total', { handler: '/v1/chat/completions', status: '2xx' })).toBe(STREAMS);
  expect(page.value('vllm:num_requests_running') + page.value('vllm:num_requests_waiting')).toBe(0);
});

/** Resolves when the response begins, which is with its first token. */
async function ask(agent: Agent, content: string): Promise<IncomingMessage> {
  const sent = request(`${url}/v1/chat/completions`, {
    agent,
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
  });
  sent.end(
    JSON.stringify({
      model: 'sim-model',
      messages: [{ role: 'user', content }],
      stream: true,
      max_tokens: OUTPUT_TOKENS,
    }),
  );
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  return response;
}

function responseOf({ statusCode, headers }: IncomingMessage, body: string): Response {
  const id = headers['x-request-id'];
  return {
    status: statusCode,
    tokens: body.match(/"content": ?"[^"]/g)?.length ?? 0,
    isComplete: body.endsWith('data: [DONE]\n\n'),
    id: typeof id === 'string' ? id : undefined,
  };
}
