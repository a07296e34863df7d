import type { JsonObject } from '../../endpoints/endpoint.ts';
import type { InputRow } from '../row.ts';

/**
 * AIPerf's `dag_jsonl`, a conversation per line (0.13, dataset/loader/dag_jsonl_models.py). A conversation that no other one
 * starts is a session, with those that it starts: `forks` continue the messages of their turn, and end the conversation
 * unless they are in the background; `spawns` begin with their own, and the turn `join_at`, by default the next one, waits
 * for them. A turn is due `delay` after that; AIPerf applies no delay to turns that join. Throws a `ConfigurationError` of the row.
 */
export function dagSessions(rows: readonly InputRow[]): readonly InputRow[] {
  const conversations = new Map<string, InputRow>();
  for (const row of rows) {
    const id = row.string('session_id') ?? row.refuse('session_id is missing');
    if (conversations.has(id)) row.refuse(`session_id is '${id}', as that of an earlier line`);
    conversations.set(id, row);
  }
  const started = new Set(rows.flatMap((row) => [...startedBy(row), ...row.listed('turns').flatMap(startedBy)]));
  const roots = [...conversations].filter(([id]) => !started.has(id));
  if (roots.length === 0) rows[0]?.refuse('every conversation is started by another one');
  return roots.map(([id, row]) => {
    const session = new DagSession(conversations);
    session.conversation(row, { path: [id], continues: null, after: [], delay: 0 });
    return row.with({ session_id: id, requests: session.requests });
  });
}

/** Conversations that start the same one several times make many more requests than a file has turns. */
const MAX_REQUESTS = 10_000;
const TOO_MANY = `with what it starts a session has more than ${MAX_REQUESTS} requests`;

/** A list whose entries are names, or objects. */
const entriesOf = (row: InputRow, key: string): readonly unknown[] =>
  Array.isArray(row.json[key]) ? (row.json[key] as unknown[]) : [];

interface Started {
  readonly children: readonly string[];
  /** Number of the turn that waits for them; null: the next one. */
  readonly joinAt: number | null;
  /** Only of forks: the conversation goes on. */
  readonly background: boolean;
}

function startsOf(row: InputRow, key: 'forks' | 'spawns' | 'pre_session_spawns'): readonly Started[] {
  return entriesOf(row, key).map((entry): Started => {
    if (typeof entry === 'string') return { children: [entry], joinAt: null, background: false };
    const { child, children, join_at: joinAt, background } = (entry ?? {}) as JsonObject;
    const names = Array.isArray(children) ? children : [child];
    if (!names.every((name) => typeof name === 'string')) row.refuse(`${key} must name conversations`);
    return {
      children: names,
      joinAt: typeof joinAt === 'number' ? joinAt : null,
      background: background === true,
    };
  });
}

const startedBy = (row: InputRow): readonly string[] => [
  ...(['forks', 'spawns', 'pre_session_spawns'] as const).flatMap((key) =>
    startsOf(row, key).flatMap((s) => s.children),
  ),
  ...(Array.isArray(row.json.rounds) ? row.listed('rounds').flatMap(startedBy) : []),
];

/** Where a conversation begins. */
interface Beginning {
  /** The conversations that it is within; the last one is its own. */
  readonly path: readonly string[];
  readonly continues: string | null;
  readonly after: readonly string[];
  /** Milliseconds before its first turn. */
  readonly delay: number;
}

class DagSession {
  readonly requests: JsonObject[] = [];
  readonly #conversations: ReadonlyMap<string, InputRow>;

  constructor(conversations: ReadonlyMap<string, InputRow>) {
    this.#conversations = conversations;
  }

  /** Returns the requests with which the conversation ends. */
  conversation(row: InputRow, begun: Beginning): readonly string[] {
    if (row.json.orchestrator === true) return this.#rounds(row, begun);
    const agent = begun.path.join('/');
    const isWhole = row.string('context_mode') === 'message_array_with_responses';
    const joins = new Map<number, string[]>();
    const turns = row.rows('turns');
    let { continues, after } = begun;
    let forked: readonly string[] = [];
    for (const spawned of startsOf(row, 'pre_session_spawns'))
      this.#children(row, spawned, { ...begun, continues: null, delay: 0 });
    turns.forEach((turn, i) => {
      const id = `${agent}/${i}`;
      const delay = (turn.milliseconds('delay') ?? 0) + (i === 0 ? begun.delay : 0);
      if (this.requests.length >= MAX_REQUESTS) row.refuse(TOO_MANY);
      this.requests.push({
        id,
        agent,
        after: [...after, ...(joins.get(i) ?? [])],
        ...(continues === null || isWhole ? {} : { continues }),
        think_ms: delay,
        messages: turn.json.messages,
        tools: turn.json.tools,
        output_length: turn.tokens('max_tokens'),
        extra: turn.json.extra,
      });
      continues = id;
      after = [id];
      for (const forks of startsOf(turn, 'forks')) {
        const ends = this.#children(turn, forks, { path: begun.path, continues: id, after, delay: 0 });
        if (!forks.background) forked = [...forked, ...ends];
      }
      for (const spawns of startsOf(turn, 'spawns')) {
        const ends = this.#children(turn, spawns, { path: begun.path, continues: null, after, delay: 0 });
        const at = spawns.joinAt ?? i + 1;
        if (spawns.joinAt !== null && !(at > i && at < turns.length))
          turn.refuse(`join_at is ${at} and must be a later turn of the conversation: ${i + 1} to ${turns.length - 1}`);
        joins.set(at, [...(joins.get(at) ?? []), ...ends]);
      }
      if (forked.length > 0 && i < turns.length - 1) turn.refuse('forks end the conversation, which has further turns');
    });
    return forked.length > 0 ? forked : after;
  }

  #children(row: InputRow, { children }: Started, begun: Beginning): readonly string[] {
    return children.flatMap((name) => {
      const child = this.#conversations.get(name) ?? row.refuse(`'${name}' is not the session_id of a line`);
      if (begun.path.some((each) => each.split('#')[0] === name)) row.refuse(`'${name}' starts itself`);
      return this.conversation(child, { ...begun, path: [...begun.path, name] });
    });
  }

  /** Conversations without requests, which start others in rounds: each waits for the round before. */
  #rounds(row: InputRow, begun: Beginning): readonly string[] {
    if (row.has('think_time_sigma')) row.refuse('think_time_sigma is not supported: pauses of a file are not drawn');
    const own = startsOf(row, 'spawns').flatMap(({ children }) => children);
    const count = row.json.rounds === undefined || Array.isArray(row.json.rounds) ? 1 : (row.count('rounds') ?? 1);
    if (count > MAX_REQUESTS) row.refuse(TOO_MANY);
    const rounds = Array.isArray(row.json.rounds)
      ? row.rows('rounds').map((each) => ({
          children: startsOf(each, 'spawns').flatMap(({ children }) => children),
          think_ms: each.milliseconds('think_time_ms'),
        }))
      : Array.from({ length: count }, () => ({ children: own, think_ms: null }));
    let { after } = begun;
    rounds.forEach(({ children, think_ms }, round) => {
      const path = [...begun.path.slice(0, -1), `${begun.path.at(-1) ?? ''}#${round}`];
      const delay = think_ms ?? row.milliseconds('think_time_ms') ?? 0;
      const spawned = { children, joinAt: null, background: false };
      after = this.#children(row, spawned, { path, continues: null, after, delay });
    });
    return after;
  }
}
