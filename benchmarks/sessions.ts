/**
 * How exactly sessions of agents are sent: order, waits and times of every request as a server saw them. The server is
 * the truth: it writes down when each request arrived and when each response ended, and an error is how much later than
 * planned, after the last response that it waits for, a request arrived. Answers take 30 ms and 9 more tokens of 5 ms.
 * AIPerf gets the same file.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { mkdtemp, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { percentile } from '../core/stats/percentiles.ts';
import type { ResultFile } from '../core/run/result.ts';
import { inTurn, type Bench, type BenchContext, type Row } from './bench.ts';
import { runProgram } from './child-program.ts';

const LAUNCHER = fileURLToPath(new URL('../bin/llmbench.js', import.meta.url));
/** AIPerf downloads one unless it is given one of this machine. */
const TOKENIZER = fileURLToPath(new URL('../exporter/load/tokenizers/fixtures/bpe', import.meta.url));
const AIPERF = 'aiperf==0.13.0';
const SESSIONS = 10;
const FIRST_TOKEN_MS = 30;
const TOKENS = 10;
const TOKEN_MS = 5;

/** A request of a session, by the text of its message. */
interface Planned {
  readonly text: string;
  /** Texts of those that it waits for. */
  readonly after: readonly string[];
  /** After the last of them. */
  readonly delay_ms: number;
  /** Texts of the earlier turns that its messages begin with. */
  readonly history: readonly string[];
}

/**
 * A parent of three turns that starts two agents, of two turns and of one, and waits for both. The turn that waits has no
 * delay: AIPerf does not apply that of a turn that joins.
 */
function sessionPlan(session: number): readonly Planned[] {
  const at = (agent: string, turn: number): string => `session ${session} ${agent} turn ${turn}`;
  const [first, second, third] = [at('parent', 0), at('parent', 1), at('parent', 2)];
  const [looks, reads] = [at('looker', 0), at('reader', 0)];
  const closer = at('looker', 1);
  return [
    { text: first, after: [], delay_ms: 0, history: [] },
    { text: looks, after: [first], delay_ms: 0, history: [] },
    { text: closer, after: [looks], delay_ms: 40, history: [looks] },
    { text: reads, after: [first], delay_ms: 0, history: [] },
    { text: second, after: [first, closer, reads], delay_ms: 0, history: [first] },
    { text: third, after: [second], delay_ms: 50 + 10 * session, history: [first, second] },
  ];
}

/** The sessions as AIPerf's `dag_jsonl`. */
function dagFile(): string {
  const lines = Array.from({ length: SESSIONS }, (_, session) => {
    const plan = sessionPlan(session);
    const turn = (at: number, more: object = {}): object => ({
      messages: [{ role: 'user', content: plan[at]?.text }],
      max_tokens: TOKENS,
      delay: plan[at]?.delay_ms,
      ...more,
    });
    const [parent, looker, reader] = ['parent', 'looker', 'reader'].map((agent) => `${session}-${agent}`);
    return [
      { session_id: parent, turns: [turn(0, { spawns: [looker, reader] }), turn(4), turn(5)] },
      { session_id: looker, turns: [turn(1), turn(2)] },
      { session_id: reader, turns: [turn(3)] },
    ];
  });
  return lines
    .flat()
    .map((line) => JSON.stringify(line))
    .join('\n');
}

/** A request as the server saw it. */
interface Seen {
  readonly text: string;
  readonly arrived_ms: number;
  ended_ms: number;
  /** Contents of the messages before the last one. */
  readonly history: readonly string[];
}

const answerTo = (text: string): readonly string[] =>
  Array.from({ length: TOKENS }, (_, token) => (token === 0 ? `answer to ${text}` : ` ${token}`));

/** Answers chat completions, and writes down all that follow the last `clear`. */
class TruthServer {
  seen: Seen[] = [];
  readonly #server = createServer((request, response) => void this.#answer(request, response));

  async start(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  stop(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const arrived_ms = performance.now();
    let body = '';
    for await (const piece of request) body += String(piece);
    if (request.method !== 'POST') {
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify({ object: 'list', data: [{ id: 'm', object: 'model' }] }));
      return;
    }
    const contents = (JSON.parse(body) as { messages: readonly { content: unknown }[] }).messages.map(({ content }) =>
      contentText(content),
    );
    const text = contents.at(-1) ?? '';
    const seen: Seen = { text, arrived_ms, ended_ms: Infinity, history: contents.slice(0, -1) };
    this.seen.push(seen);
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const event = (fields: object): void =>
      void response.write(
        `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', model: 'm', ...fields })}\n\n`,
      );
    for (const [token, content] of answerTo(text).entries()) {
      await sleep(Math.max(0, arrived_ms + FIRST_TOKEN_MS + token * TOKEN_MS - performance.now()));
      event({ choices: [{ index: 0, delta: { role: 'assistant', content }, finish_reason: null }] });
    }
    event({ choices: [{ index: 0, delta: {}, finish_reason: 'length' }] });
    event({ choices: [], usage: { prompt_tokens: 5, completion_tokens: TOKENS, total_tokens: 5 + TOKENS } });
    seen.ended_ms = performance.now();
    response.end('data: [DONE]\n\n');
  }
}

/** Some clients send lists of parts. */
function contentText(content: unknown): string {
  if (typeof content === 'string') return content;
  return Array.isArray(content) ? content.map((part: { readonly text?: string }) => part.text ?? '').join('') : '';
}

/** What the server saw of a run, against the plan. */
interface Fidelity {
  /** How much later than planned the requests with predecessors arrived, in milliseconds. */
  readonly errors_ms: readonly number[];
  /** Requests that are missing, or came twice. */
  readonly miscounted: number;
  /** Requests that arrived before a response that they wait for had ended. */
  readonly early: number;
  /** Requests whose messages are not the plan's, with the answers of the server. */
  readonly wrongHistories: number;
}

function fidelity(seen: readonly Seen[], plans: readonly Planned[]): Fidelity {
  const byText = Map.groupBy(seen, ({ text }) => text);
  const errors_ms: number[] = [];
  let [miscounted, early, wrongHistories] = [0, 0, 0];
  for (const { text, after, delay_ms, history } of plans) {
    const [found, ...again] = byText.get(text) ?? [];
    if (found === undefined || again.length > 0) miscounted += 1;
    if (found === undefined) continue;
    const expected = history.flatMap((earlier) => [earlier, answerTo(earlier).join('')]);
    if (found.history.join('\n') !== expected.join('\n')) wrongHistories += 1;
    if (after.length === 0) continue;
    const ended_ms = Math.max(...after.map((earlier) => byText.get(earlier)?.[0]?.ended_ms ?? Infinity));
    if (found.arrived_ms < ended_ms) early += 1;
    else errors_ms.push(found.arrived_ms - ended_ms - delay_ms);
  }
  const strange = seen.filter(({ text }) => !plans.some((planned) => planned.text === text)).length;
  return { errors_ms, miscounted: miscounted + strange, early, wrongHistories };
}

/** Of the probe before a run. */
const ofPlan = (seen: readonly Seen[]): readonly Seen[] => seen.filter(({ text }) => text.startsWith('session '));

async function measure(context: BenchContext): Promise<readonly Row[]> {
  const { workshop } = context;
  const server = new TruthServer();
  const url = await server.start();
  try {
    const folder = await mkdtemp(join(workshop.folder, 'sessions-'));
    const file = join(folder, 'dag.jsonl');
    await writeFile(file, dagFile());
    const plans = Array.from({ length: SESSIONS }, (_, session) => sessionPlan(session)).flat();
    const reported: number[] = [];
    const sent = async (run: () => Promise<unknown>): Promise<Fidelity> => {
      server.seen = [];
      await run();
      return fidelity(ofPlan(server.seen), plans);
    };
    const results = await inTurn(
      context.rounds,
      {
        llmbench: () =>
          sent(async () => {
            const options = [
              '--url',
              url,
              '--model',
              'm',
              '--runs-dir',
              folder,
              '--no-server-metrics',
              '--history',
              'live',
            ];
            const load = [
              '--input-file',
              file,
              '--concurrency',
              String(SESSIONS),
              '--conversation-num',
              String(SESSIONS),
            ];
            const { stdout } = await runProgram(process.execPath, [LAUNCHER, 'run', '--json', ...options, ...load]);
            reported.push(delayP99_ms(JSON.parse(stdout) as ResultFile));
            // The request before the run has the text of the last session's first one.
            server.seen.shift();
          }),
        AIPerf: () =>
          sent(async () => {
            const program = join(dirname(await workshop.python([AIPERF])), 'aiperf');
            const options = ['--url', url, '--model', 'm', '--endpoint-type', 'chat', '--streaming'];
            const file_ = [
              '--input-file',
              file,
              '--custom-dataset-type',
              'dag_jsonl',
              '--dataset-sampling-strategy',
              'sequential',
            ];
            const load = ['--concurrency', String(SESSIONS), '--conversation-num', String(SESSIONS)];
            const more = ['--tokenizer', TOKENIZER, '--use-server-token-count', '--ui', 'none', '--no-gpu-telemetry'];
            await runProgram(
              program,
              ['profile', ...options, ...file_, ...load, ...more, '--output-artifact-dir', join(folder, 'aiperf')],
              { timeoutSeconds: 300, cwd: folder },
            );
          }),
      },
      context,
    );
    const [ours, aiperf] = [results.get('llmbench') ?? [], results.get('AIPerf')];
    const row = (what: string, unit: string, value: (each: Fidelity) => number, target: Row['target']): Row => ({
      ...{ what, unit, target },
      ours: ours.map(value),
      peer: aiperf?.map(value) ?? null,
    });
    const exact = { by: 'value', atMost: 0 } as const;
    context.note(`${plans.length} requests of ${SESSIONS} sessions with two agents each; the peer is ${AIPERF}`);
    if (reported.length > 0)
      context.note(`schedule_delay p99 that llmbench reports: ${reported.map((ms) => ms.toFixed(1)).join(', ')} ms`);
    return [
      row('schedule error, p50', 'ms', ({ errors_ms }) => sortedPercentile(errors_ms, 0.5), { by: 'ratio', atMost: 1 }),
      row('schedule error, p99', 'ms', ({ errors_ms }) => sortedPercentile(errors_ms, 0.99), {
        by: 'ratio',
        atMost: 1,
      }),
      row('requests missing or repeated', 'requests', ({ miscounted }) => miscounted, exact),
      row('sent before what they wait for', 'requests', ({ early }) => early, exact),
      row('other messages than planned', 'requests', ({ wrongHistories }) => wrongHistories, exact),
    ];
  } finally {
    server.stop();
  }
}

const sortedPercentile = (values: readonly number[], q: number): number =>
  percentile(
    values.toSorted((a, b) => a - b),
    q,
  );

function delayP99_ms({ measures }: ResultFile): number {
  const found = measures.find((each) => each.measure === 'schedule_delay' && each.population === 'ok');
  return found?.kind === 'distribution' ? (found.percentiles.p99.value ?? NaN) * 1000 : NaN;
}

export const sessions: Bench = {
  name: 'sessions',
  question: 'are sessions of agents sent in their order, with their waits, and at their times?',
  measure,
};
