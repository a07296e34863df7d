import { createHash } from 'node:crypto';
import type { Message } from '../endpoints/endpoint.ts';
import { isObject } from '../endpoints/endpoint.ts';
import type { Conversation, Dataset } from './dataset.ts';
import { entryOrder, filePlanSha256, longestOutput, requireEntries, type FileDatasetOptions } from './file-dataset.ts';
import { filesIn, readLines, SESSION_FILES, type InputText } from './input-lines.ts';
import { dueTimes_ns, InputRow } from './row.ts';
import {
  type SESSION_TYPES,
  type History,
  type PlannedRequest,
  type PlannedWords,
  SessionReuse,
} from './planned-session.ts';
import { agenticMooncakeSessions } from './session-files/agentic-mooncake.ts';
import { dagSessions } from './session-files/aiperf-dag.ts';
import { mooncakeSessions } from './session-files/mooncake-sessions.ts';
import { otelSessions } from './session-files/otel-spans.ts';
import { tracelabSessions } from './session-files/tracelab-trace.ts';
import { wekaSession } from './session-files/weka-trace.ts';
import { DEFAULT_OUTPUT_TOKENS } from './synthetic-dataset.ts';
import { BLOCK_TOKENS, BlockPrompts, hashIdsOf } from './trace-dataset.ts';

/** Settings for sessions, besides the file. */
interface SessionOptions extends FileDatasetOptions {
  /** `--session-delay-ratio`: the pauses of users are multiplied by it; times of tools are not. */
  readonly delayRatio: number;
  /** `--inter-turn-delay-cap-seconds`; null: none. */
  readonly delayCapSeconds: number | null;
  /** `recorded`: the file's answers where it has them, else the server's. */
  readonly history: History;
  /** `--isl-block-size`: tokens that a hash id stands for in files that do not say; null: those of the format. */
  readonly blockTokens: number | null;
}

/** Formats of files with sessions, by their `--custom-dataset-type`. */
type SessionFileType = (typeof SESSION_TYPES)[number] | 'mooncake_trace';

/** The sessions of a file in our own format. */
function sessionsIn(type: SessionFileType, rows: readonly InputRow[], blockTokens: number | null): readonly InputRow[] {
  switch (type) {
    case 'sessions':
      return rows;
    case 'agentic_mooncake':
      return agenticMooncakeSessions(rows, blockTokens);
    case 'dag_jsonl':
      return dagSessions(rows);
    case 'mooncake_trace':
      return mooncakeSessions(rows, blockTokens ?? BLOCK_TOKENS.mooncake_trace);
    case 'otel_spans':
      return otelSessions(rows);
    case 'tracelab':
      return tracelabSessions(rows, blockTokens ?? BLOCK_TOKENS.tracelab);
    case 'weka_trace':
      return rows.map(wekaSession);
  }
}

const ROLES = ['system', 'developer', 'user', 'assistant', 'tool'] as const;

/**
 * `sessions`: a session of agents per line, whose requests form a graph; `schemas/session.schema.json` has its fields. A
 * request waits for those in `after`, and its messages follow those of the request that it `continues` and the answer to
 * it. Files of other tools become such sessions. Throws a `ConfigurationError`.
 */
export async function sessions(type: SessionFileType, options: SessionOptions): Promise<Dataset> {
  const { file, strategy, seed, delayRatio, delayCapSeconds, history, blockTokens, tokenizer } = options;
  const { found, sha256 } = await readSessions(type, file, blockTokens);
  const all = found.map((row, i) => plannedSession(row, options, i));
  const begins = found.map((row) => ({ row, timestamp_ms: row.milliseconds('start_ms') }));
  // The times are meaningful only in file order.
  const due_ns = strategy === 'sequential' ? dueTimes_ns(begins) : undefined;
  const order = entryOrder(strategy, all.length, seed);
  const prompts = new Map<number, BlockPrompts>();
  const write: WordWriter = ({ tokens, hashIds, blockTokens: ofBlock, scope }, index) => {
    const writer = prompts.get(ofBlock) ?? new BlockPrompts(seed, ofBlock, tokenizer);
    prompts.set(ofBlock, writer);
    return writer.prompt(tokens, hashIds, index, scope);
  };
  const conversation = (phase: string, position: number): Conversation => {
    const number = order(phase, position);
    return sessionOf(all[number] ?? [], options, (words, request) => write(words, `${number}/${request}`));
  };
  const reuse = new SessionReuse(options);
  const shared: Dataset['shared'] = (phase, position) => {
    const number = order(phase, position);
    return reuse.of(all[number] ?? [], { number, place: `${phase}/${position}` });
  };
  const hasWords = all.flat().some(({ words }) => words !== null);
  return {
    planSha256: filePlanSha256(type, sha256, options, {
      ...{ delayRatio, history, ...(delayCapSeconds === null ? {} : { delayCapSeconds }) },
      ...(hasWords ? { blockTokens, seeded: 1 } : {}),
    }),
    fileSha256: sha256,
    size: all.length,
    longestOutputTokens: longestOutput(
      all.flat().map(({ outputTokens }) => outputTokens),
      options,
    ),
    hasTools: all.flat().some(usesTools),
    request: (phase, position) => conversation(phase, position).request(0, []),
    conversation,
    ...(due_ns === undefined ? {} : { due_ns }),
    ...(all.every((requests) => reuse.isKnownOf(requests)) ? { shared } : {}),
  };
}

/** Of a file, or of those in a folder, whose hash is then that of their hashes. */
async function readSessions(
  type: SessionFileType,
  path: string,
  blockTokens: number | null,
): Promise<{ readonly found: readonly InputRow[]; readonly sha256: string }> {
  const found: InputRow[] = [];
  const hashes: string[] = [];
  for (const file of await filesIn(path, SESSION_FILES)) {
    const { texts, sha256 } = await readLines(file);
    const rows = documents(requireEntries(texts, file)).map((text) => InputRow.parse(file, text));
    for (const session of requireEntries(sessionsIn(type, rows, blockTokens), file)) found.push(session);
    hashes.push(sha256);
  }
  const [only = '', ...others] = hashes;
  return { found, sha256: others.length === 0 ? only : createHash('sha256').update(hashes.join('')).digest('hex') };
}

/** Of a request: its words, with its number in the session. */
type WordWriter = (words: PlannedWords, index: string) => string;

/** A JSON document per line, or a single one over several lines. */
function documents(lines: readonly InputText[]): readonly InputText[] {
  const [first] = lines;
  if (first === undefined || lines.length === 1) return lines;
  try {
    JSON.parse(first.text);
    return lines;
  } catch {
    return [{ line: first.line, text: lines.map(({ text }) => text).join('\n') }];
  }
}

/** `index`: the number of the session in its file. */
function plannedSession(
  session: InputRow,
  { delayRatio, delayCapSeconds }: SessionOptions,
  index: number,
): readonly PlannedRequest[] {
  const limited = (delaySeconds: number): number => Math.min(delaySeconds, delayCapSeconds ?? Infinity);
  const rows = session.rows('requests');
  const blockTokens = session.tokens('block_size') ?? BLOCK_TOKENS.mooncake_trace;
  const scope = session.json.local_hash_ids === true ? String(index) : '';
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
        thinkSeconds: limited(((row.milliseconds('think_ms') ?? 0) / 1000) * delayRatio),
        toolSeconds: tool_ms === null ? null : limited(tool_ms / 1000),
        turn: agent.turns,
        agent: hasAgents ? agent.number : null,
        recordedSeconds: own_ms === null || start_ms === null ? null : (own_ms - start_ms) / 1000,
      },
      continues,
      messages: row.has('input_length') && !row.has('messages') ? [] : row.rows('messages').map(messageOf),
      words: wordsOf(row, blockTokens, scope),
      answer: row.has('answer') ? answerOf(row) : null,
      outputTokens: row.tokens('output_length') ?? row.tokens('max_tokens'),
      tools: row.has('tools') ? row.rows('tools').map(({ json }) => json) : null,
      extra: isObject(row.json.extra) ? row.json.extra : null,
    };
  });
}

function wordsOf(row: InputRow, blockTokens: number, scope: string): PlannedWords | null {
  const tokens = row.tokens('input_length');
  return tokens === null ? null : { tokens, hashIds: hashIdsOf(row, tokens, blockTokens), blockTokens, scope };
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

function sessionOf(
  requests: readonly PlannedRequest[],
  { outputTokens, tokenizer, history }: SessionOptions,
  write: (words: PlannedWords, number: number) => string,
): Conversation {
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
      let tokens = 0;
      for (let at: number | null = number; at !== null; at = requestAt(at).continues) {
        const { messages: own, words, answer } = requestAt(at);
        const written: Message[] = words === null ? [] : [{ role: 'user', content: write(words, at) }];
        const counted = [...own, ...(at === number ? [] : answered(answer, responses[at] ?? '', history))];
        messages.unshift(...own, ...written, ...counted.slice(own.length));
        tokens += words?.tokens ?? 0;
        if (tokenizer !== null) tokens += counted.reduce((sum, { content }) => sum + tokenizer.count(content), 0);
      }
      const { outputTokens: planned, tools, extra } = requestAt(number);
      return {
        prompt: '',
        history: messages,
        max_tokens: planned ?? outputTokens ?? DEFAULT_OUTPUT_TOKENS,
        ...(tools === null ? {} : { tools }),
        ...(extra === null ? {} : { extra }),
        ...(tokenizer === null ? {} : { input_tokens: tokens }),
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
