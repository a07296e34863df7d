import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Bench, BenchContext, Row } from './bench.ts';
import { outputOf, startProgram } from './child-program.ts';

const LAUNCHER = fileURLToPath(new URL('../bin/llmbench.js', import.meta.url));
const HALF_A_SECOND = { by: 'value', atMost: 500 } as const;
const CHUNK = JSON.stringify({ choices: [{ index: 0, delta: { content: 'a' }, finish_reason: 'stop' }] });
const USAGE = JSON.stringify({ choices: [], usage: { prompt_tokens: 1, completion_tokens: 1 } });
const ANSWER = `data: ${CHUNK}\n\ndata: ${USAGE}\n\ndata: [DONE]\n\n`;

/**
 * The question: how long does one wait from the command to the first request of the load?
 * Measured from the start of the process to the arrival of the second generation request: the first is the probe.
 * Compared with starting a bare node, which is part of it.
 * It does not show: what a tokenizer or a dataset on a disk adds.
 */
export const firstRequest: Bench = {
  name: 'first-request',
  question: 'how long is it from the command to the first request of the load?',
  measure: async (context: BenchContext): Promise<readonly Row[]> => {
    const ours: number[] = [];
    await timeToFirstRequest(context);
    for (let round = 0; round < context.rounds; round++) ours.push(await timeToFirstRequest(context));
    return [{ what: 'from the command to the first request', unit: 'ms', ours, peer: null, target: HALF_A_SECOND }];
  },
};

async function timeToFirstRequest(context: BenchContext): Promise<number> {
  const runsDirectory = await mkdtemp(join(context.workshop.folder, 'first-request-'));
  const arrivals_ms: number[] = [];
  const server = createServer((request, response) => {
    if (request.method !== 'POST') return void response.writeHead(404).end();
    arrivals_ms.push(performance.now());
    response.writeHead(200, { 'content-type': 'text/event-stream' }).end(ANSWER);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const options = ['--url', `http://127.0.0.1:${port}`, '--model', 'm', '--isl', '40', '--osl', '1'];
  const start_ms = performance.now();
  const child = startProgram(
    process.execPath,
    [LAUNCHER, 'run', '--json', ...options, '--request-count', '3', '--runs-dir', runsDirectory],
    { stdio: ['ignore', 'pipe', 'pipe'] },
  );
  try {
    await outputOf(child, 'llmbench run');
  } finally {
    await new Promise((resolve) => server.close(resolve));
    await rm(runsDirectory, { recursive: true, force: true });
  }
  const first = arrivals_ms[1];
  if (first === undefined) throw new Error('only the probe was sent');
  return first - start_ms;
}
