/**
 * How exactly sessions of agents are sent: order, waits and times of every request as a server saw them. The server is
 * the truth: it writes down when each request arrived and when each response ended, and an error is how much later than
 * planned, after the last response that it waits for, a request arrived. Answers take 30 ms and 9 more tokens of 5 ms.
 * AIPerf reads the same file. GuideLLM has no file with texts and agents: it gets conversations, and llmbench the same.
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
import { Unavailable } from './workshop.ts';

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

/** Three turns of a user. */
function conversationPlan(session: number): readonly Planned[] {
  const [first, second, third] = [0, 1, 2].map((turn) => `session ${session} user turn ${turn}`) as [
    string,
    string,
    string,
  ];
  return [
    { text: first, after: [], delay_ms: 0, history: [] },
    { text: second, after: [first], delay_ms: 50, history: [first] },
    { text: third, after: [second], delay_ms: 50 + 10 * session, history: [first, second] },
  ];
}

const everySession = <T>(of: (session: number) => T): T[] =>
  Array.from({ length: SESSIONS }, (_, session) => of(session));

const jsonl = (lines: readonly object[]): string => lines.map((line) => JSON.stringify(line)).join('\n');

const turnOf = ({ text, delay_ms }: Planned): object => ({
  messages: [{ role: 'user', content: text }],
  max_tokens: TOKENS,
  delay: delay_ms,
});

/** Conversations as a `dag_jsonl` that starts nothing. */
const conversationFile = (): string =>
  jsonl(everySession((session) => ({ session_id: String(session), turns: conversationPlan(session).map(turnOf) })));

/** The same as GuideLLM reads them, with a delay in seconds after each turn but the last. */
const guideLlmFile = (): string =>
  jsonl(
    everySession((session) => {
      const columns = conversationPlan(session).flatMap(({ text, delay_ms }, turn) => [
        [`prompt_${turn}`, text],
        [`output_tokens_count_${turn}`, TOKENS],
        ...(turn === 0 ? [] : [[`requeue_delay_${turn - 1}`, delay_ms / 1000]]),
      ]);
      return Object.fromEntries(columns) as object;
    }),
  );

/** The sessions as AIPerf's `dag_jsonl`. */
function dagFile(): string {
  const lines = everySession((session) => {
    const turns = sessionPlan(session).map(turnOf);
    const [parent, looker, reader] = ['parent', 'looker', 'reader'].map((agent) => `${session}-${agent}`);
    return [
      { session_id: parent, turns: [{ ...turns[0], spawns: [looker, reader] }, turns[4], turns[5]] },
      { session_id: looker, turns: [turns[1], turns[2]] },
      { session_id: reader, turns: [turns[3]] },
    ];
  });
  return jsonl(lines.flat());
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

async function measure(context: BenchContext): Promise<readonly Row[]> {
  const server = new TruthServer();
  const url = await server.start();
  try {
    const folder = await mkdtemp(join(context.workshop.folder, 'sessions-'));
    const written = async (name: string, text: string): Promise<string> => {
      await writeFile(join(folder, name), text);
      return join(folder, name);
    };
    const dag = await written('dag.jsonl', dagFile());
    const conversations = await written('conversations.jsonl', conversationFile());
    const forGuideLlm = await written('guidellm.jsonl', guideLlmFile());
    const compared = async (
      plan: (session: number) => readonly Planned[],
      what: string,
      programs: Readonly<Record<string, () => Promise<unknown>>>,
    ): Promise<readonly Row[]> => {
      const sent = (run: () => Promise<unknown>) => async (): Promise<Fidelity> => {
        server.seen = [];
        await run();
        return fidelity(server.seen, everySession(plan).flat());
      };
      const competitors = Object.entries(programs).map(([name, run]) => [name, sent(run)] as const);
      return rowsOf(what, await inTurn(context.rounds, Object.fromEntries(competitors), context));
    };
    const own = (file: string) => async (): Promise<void> => {
      const options = ['--url', url, '--model', 'm', '--runs-dir', folder, '--no-server-metrics', '--history', 'live'];
      const load = ['--input-file', file, '--concurrency', String(SESSIONS), '--conversation-num', String(SESSIONS)];
      const { stdout } = await runProgram(process.execPath, [LAUNCHER, 'run', '--json', ...options, ...load]);
      context.note(
        `schedule_delay p99 that llmbench reports: ${delayP99_ms(JSON.parse(stdout) as ResultFile).toFixed(1)} ms`,
      );
      // The request before the run has the text of the last session's first one.
      server.seen.shift();
    };
    return [
      ...(await compared(sessionPlan, 'agents', { llmbench: own(dag), AIPerf: () => aiperf(context, url, dag) })),
      ...(await compared(conversationPlan, 'turns', {
        llmbench: own(conversations),
        GuideLLM: () => guideLlm(url, forGuideLlm, folder),
      })),
    ];
  } finally {
    server.stop();
  }
}

async function aiperf({ workshop }: BenchContext, url: string, file: string): Promise<void> {
  const program = join(dirname(await workshop.python([AIPERF])), 'aiperf');
  const options = ['--url', url, '--model', 'm', '--endpoint-type', 'chat', '--streaming', '--tokenizer', TOKENIZER];
  const input = [
    '--input-file',
    file,
    '--custom-dataset-type',
    'dag_jsonl',
    '--dataset-sampling-strategy',
    'sequential',
  ];
  const load = ['--concurrency', String(SESSIONS), '--conversation-num', String(SESSIONS)];
  const more = ['--use-server-token-count', '--ui', 'none', '--no-gpu-telemetry', '--output-artifact-dir'];
  await runProgram(program, ['profile', ...options, ...input, ...load, ...more, join(dirname(file), 'aiperf')], {
    timeoutSeconds: 300,
    cwd: dirname(file),
  });
}

/** Of the PATH: it brings gigabytes of libraries for GPUs, which a bench must not install unasked. */
async function guideLlm(url: string, file: string, folder: string): Promise<void> {
  const options = [
    ...['--backend', `kind=openai_http,target=${url},model=m,request_format=/v1/chat/completions`],
    ...['--profile', `kind=concurrent,streams=${SESSIONS}`, '--constraint', `kind=max_requests,count=${3 * SESSIONS}`],
    ...['--data', `kind=json_file,path=${file}`, '--tokenizer', `kind=huggingface_auto,model=${TOKENIZER}`],
  ];
  try {
    await runProgram('guidellm', ['run', ...options, '--disable-console'], { timeoutSeconds: 300, cwd: folder });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT')
      throw new Unavailable('no guidellm on the PATH: `pip install guidellm==0.8.1`');
    throw error;
  }
}

function rowsOf(what: string, results: ReadonlyMap<string, readonly Fidelity[]>): readonly Row[] {
  const [ours = [], peer = null] = [...results]
    .sort(([a], [b]) => Number(b === 'llmbench') - Number(a === 'llmbench'))
    .map(([, measured]) => measured);
  const row = (name: string, unit: string, target: Row['target'], value: (each: Fidelity) => number): Row => ({
    ...{ what: `${what}: ${name}`, unit, target },
    ours: ours.map(value),
    peer: peer?.map(value) ?? null,
  });
  const exact = { by: 'value', atMost: 0 } as const;
  const least = { by: 'ratio', atMost: 1 } as const;
  return [
    row('schedule error, p50', 'ms', least, ({ errors_ms }) => sortedPercentile(errors_ms, 0.5)),
    row('schedule error, p99', 'ms', least, ({ errors_ms }) => sortedPercentile(errors_ms, 0.99)),
    row('missing or repeated', 'requests', exact, ({ miscounted }) => miscounted),
    row('before what they wait for', 'requests', exact, ({ early }) => early),
    row('other messages', 'requests', exact, ({ wrongHistories }) => wrongHistories),
  ];
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
