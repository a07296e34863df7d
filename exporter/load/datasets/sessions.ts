import type { JsonObject, Message } from '../endpoints/endpoint.ts';
import { isObject } from '../endpoints/endpoint.ts';
import type { Conversation, Dataset, TurnPlace } from './dataset.ts';
import { entryOrder, filePlanSha256, longestOutput, requireEntries, type FileDatasetOptions } from './file-dataset.ts';
import { readLines } from './input-lines.ts';
import { InputRow } from './row.ts';
import { DEFAULT_OUTPUT_TOKENS } from './synthetic-dataset.ts';

/** Values of `--history`: which answers the later requests of a session repeat. */
export const HISTORIES = ['recorded', 'live'] as const;
export type History = (typeof HISTORIES)[number];

/** Settings for sessions, besides the file. */
export interface SessionOptions extends FileDatasetOptions {
  /** `--session-delay-ratio`: the pauses of users are multiplied by it; times of tools are not. */
  readonly delayRatio: number;
  /** `recorded`: the file's answers where it has them, else the server's. */
  readonly history: History;
}

/** A request of a session as its file has it. */
interface PlannedRequest {
  readonly place: TurnPlace;
  /** Number of the request whose messages and answer precede its own; null: none. */
  readonly continues: number | null;
  readonly messages: readonly Message[];
  /** Null: not recorded. */
  readonly answer: Message | null;
  readonly outputTokens: number | null;
  readonly tools: readonly JsonObject[] | null;
}

const ROLES = ['system', 'developer', 'user', 'assistant', 'tool'] as const;

/**
 * `sessions`: a session of agents per line, whose requests form a graph; `schemas/session.schema.json` has its fields. A
 * request waits for those in `after`, and its messages follow those of the request that it `continues` and the answer to
 * it. Throws a `ConfigurationError`.
 */
export async function sessions(options: SessionOptions): Promise<Dataset> {
  const { file, strategy, seed, delayRatio, history } = options;
  const { texts, sha256 } = await readLines(file);
  const all = requireEntries(texts, file).map((text) => plannedSession(InputRow.parse(file, text), delayRatio));
  const order = entryOrder(strategy, all.length, seed);
  const conversation = (phase: string, position: number): Conversation =>
    sessionOf(all[order(phase, position)] ?? [], options);
  return {
    planSha256: filePlanSha256('sessions', sha256, options, { delayRatio, history }),
    fileSha256: sha256,
    size: all.length,
    longestOutputTokens: longestOutput(
      all.flat().map(({ outputTokens }) => outputTokens),
      options,
    ),
    hasTools: all.flat().some(usesTools),
    request: (phase, position) => conversation(phase, position).request(0, []),
    conversation,
  };
}

function plannedSession(session: InputRow, delayRatio: number): readonly PlannedRequest[] {
  const rows = session.rows('requests');
  const numbers = new Map<string, number>();
  const agents = new Map<string, { readonly number: number; turns: number }>();
  const names = rows.map((row) => row.string('agent') ?? '');
  const hasAgents = new Set(names).size > 1;
  const start_ms = rows[0]?.milliseconds('start_ms') ?? null;
  return rows.map((row, number): PlannedRequest => {
    const earlier = (id: unknown, key: string): number =>
      numbers.get(String(id)) ?? row.refuse(`${key} is '${String(id)}' and must be the id of an earlier request`);
    const continued = row.string('continues');
    const continues = continued === null ? null : earlier(continued, 'continues');
    const after = row.names('after')?.map((id) => earlier(id, 'after'));
    const name = names[number] ?? '';
    const agent = agents.get(name) ?? { number: agents.size + 1, turns: 0 };
    agents.set(name, agent);
    agent.turns += 1;
    const id = row.string('id') ?? String(number);
    if (numbers.has(id)) row.refuse(`id is '${id}', as that of an earlier request`);
    numbers.set(id, number);
    const own_ms = row.milliseconds('start_ms');
    const tool_ms = row.milliseconds('tool_ms');
    return {
      place: {
        after: after ?? (continues === null ? (number === 0 ? [] : [number - 1]) : [continues]),
        thinkSeconds: ((row.milliseconds('think_ms') ?? 0) / 1000) * delayRatio,
        toolSeconds: tool_ms === null ? null : tool_ms / 1000,
        turn: agent.turns,
        agent: hasAgents ? agent.number : null,
        recordedSeconds: own_ms === null || start_ms === null ? null : (own_ms - start_ms) / 1000,
      },
      continues,
      messages: row.rows('messages').map(messageOf),
      answer: row.has('answer') ? answerOf(row) : null,
      outputTokens: row.tokens('output_length') ?? row.tokens('max_tokens'),
      tools: row.has('tools') ? row.rows('tools').map(({ json }) => json) : null,
    };
  });
}

function usesTools({ messages, answer, tools }: PlannedRequest): boolean {
  return (
    tools !== null ||
    [...messages, ...(answer === null ? [] : [answer])].some((one) => one.role === 'tool' || one.tool_calls)
  );
}

function answerOf(row: InputRow): Message {
  const { answer } = row.json;
  const message = typeof answer === 'string' ? { role: 'assistant', content: answer } : answer;
  return messageOf(
    row.with({ role: 'assistant', ...(isObject(message) ? message : row.refuse('answer must be text or a message')) }),
  );
}

function messageOf(row: InputRow): Message {
  row.onlyText();
  const { content = '', tool_calls: calls } = row.json;
  const role = ROLES.find((each) => each === row.json.role);
  if (role === undefined) row.refuse(`role must be one of ${ROLES.join(', ')}`);
  if (content !== null && typeof content !== 'string') row.refuse('content must be text');
  if (calls !== undefined && (role !== 'assistant' || !Array.isArray(calls)))
    row.refuse('tool_calls must be a list, in a message of the role assistant');
  const answered = row.string('tool_call_id');
  if ((role === 'tool') !== (answered !== null))
    row.refuse('tool_call_id is required in messages of the role tool alone');
  return {
    role,
    content: content ?? '',
    ...(Array.isArray(calls) ? { tool_calls: calls.filter(isObject) } : {}),
    ...(answered === null ? {} : { tool_call_id: answered }),
  };
}

function sessionOf(requests: readonly PlannedRequest[], options: SessionOptions): Conversation {
  const { outputTokens, tokenizer, history } = options;
  const requestAt = (number: number): PlannedRequest => {
    const found = requests[number];
    if (found === undefined) throw new RangeError(`the session has no request ${number}`);
    return found;
  };
  return {
    requests: requests.length,
    place: (number) => requestAt(number).place,
    request(number, responses) {
      const messages: Message[] = [];
      for (let at: number | null = number; at !== null; at = requestAt(at).continues) {
        const { messages: own, answer } = requestAt(at);
        const answers = at === number ? [] : answered(answer, responses[at] ?? '', history);
        messages.unshift(...own, ...answers);
      }
      const { outputTokens: planned, tools } = requestAt(number);
      const count = (text: string): number => tokenizer?.count(text) ?? 0;
      return {
        prompt: '',
        history: messages,
        max_tokens: planned ?? outputTokens ?? DEFAULT_OUTPUT_TOKENS,
        ...(tools === null ? {} : { tools }),
        ...(tokenizer === null ? {} : { input_tokens: messages.reduce((sum, { content }) => sum + count(content), 0) }),
      };
    },
  };
}

/** Results of tools are recorded: the calls that they answer are too, whatever the server answered. */
function answered(recorded: Message | null, live: string, history: History): readonly Message[] {
  if (recorded !== null && history === 'recorded') return [recorded];
  if (live === '' && recorded?.tool_calls === undefined) return [];
  return [{ ...recorded, role: 'assistant', content: live }];
}
