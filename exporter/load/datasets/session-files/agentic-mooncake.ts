import type { JsonObject } from '../../endpoints/endpoint.ts';
import type { InputRow } from '../row.ts';

const SCHEMA = 'dynamo.agentic_mooncake';
/** Of files without a head that states it: what Dynamo records with. */
const BLOCK_TOKENS = 64;

/** A request of a file, by what it waits for. */
interface GraphRow {
  readonly row: InputRow;
  readonly id: string;
  readonly start_ms: number;
  /** How long its response took when it was recorded; null: not known. */
  readonly took_ms: number | null;
  readonly waits: readonly Wait[];
  readonly tool_ms: number | null;
}

interface Wait {
  readonly id: string;
  readonly delay_ms: number;
  /** For the start of the other request, not for its response. */
  readonly ofStart: boolean;
}

/**
 * Dynamo's agentic Mooncake traces: version 2 with a head (docs/reference of ai-dynamo/dynamo, "Typed agentic replay", and
 * `AgenticMooncakeRow` of its lib/data-gen), whose sessions are plays, and the rows without a head of Dynamo 1.6 ("Agentic
 * Row Semantics"), whose sessions are the requests that are linked by `wait_for` or a `session_id`. Rows have the whole
 * prompt. Throws a `ConfigurationError` of the row.
 */
export function agenticMooncakeSessions(rows: readonly InputRow[], blockTokens: number | null): readonly InputRow[] {
  const [head] = rows;
  if (head?.json.schema !== SCHEMA) {
    const graph = rows.map(linkedRow);
    const linkOf = links(graph);
    return sessionsOf(graph, ({ id }) => linkOf(id), { block_size: blockTokens ?? BLOCK_TOKENS });
  }
  if (head.json.version !== 2) head.refuse(`version ${String(head.json.version)} of ${SCHEMA} is not supported: 2 is`);
  const facts = { block_size: head.tokens('block_size') ?? head.refuse('block_size is missing'), local_hash_ids: true };
  return sessionsOf(rows.slice(1).map(playRow), ({ row }) => row.string('play_id') ?? '', facts);
}

const idOf = (row: InputRow): string => row.string('request_id') ?? row.refuse('request_id is missing');

function playRow(row: InputRow): GraphRow {
  const waits = row.listed('dependencies').map((wait) => ({
    id: idOf(wait),
    delay_ms: wait.milliseconds('delay_ms') ?? 0,
    ofStart: wait.string('trigger') === 'dispatch',
  }));
  const start_ms = row.milliseconds('not_before_ms') ?? row.refuse('not_before_ms is missing');
  return { row, id: idOf(row), start_ms, took_ms: row.milliseconds('recorded_api_time_ms'), waits, tool_ms: null };
}

function linkedRow(row: InputRow): GraphRow {
  const delay_ms = row.milliseconds('delay') ?? row.milliseconds('delay_ms') ?? 0;
  const waits = (row.names('wait_for') ?? []).map((id) => ({ id, delay_ms, ofStart: false }));
  const start_ms = row.milliseconds('timestamp') ?? row.milliseconds('created_time') ?? 0;
  return { row, id: idOf(row), start_ms, took_ms: null, waits, tool_ms: row.milliseconds('tool_wait_ms') };
}

/** By request, one of the requests that are linked with it. */
function links(graph: readonly GraphRow[]): (id: string) => string {
  const parents = new Map<string, string>();
  const rootOf = (name: string): string => {
    let root = name;
    for (let up = parents.get(root); up !== undefined; up = parents.get(root)) root = up;
    if (root !== name) parents.set(name, root);
    return root;
  };
  const link = (a: string, b: string): void => {
    const [from, to] = [rootOf(a), rootOf(b)];
    if (from !== to) parents.set(from, to);
  };
  for (const { row, id, waits } of graph) {
    for (const wait of waits) link(id, wait.id);
    const session = row.string('session_id');
    // No id of a request has a line break.
    if (session !== null) link(id, `\n${session}`);
  }
  return rootOf;
}

function sessionsOf(
  graph: readonly GraphRow[],
  sessionOf: (row: GraphRow) => string,
  facts: JsonObject,
): readonly InputRow[] {
  return [...Map.groupBy(graph, sessionOf).values()].map((all) => {
    const rows = inOrder(all);
    const [first] = rows as [GraphRow];
    const begin_ms = Math.min(...rows.map(({ start_ms }) => start_ms));
    return first.row.with({ ...facts, start_ms: begin_ms, requests: requestsOf(rows, begin_ms) });
  });
}

/** Each after those that it waits for. */
function inOrder(rows: readonly GraphRow[]): readonly GraphRow[] {
  const byId = new Map(rows.map((row) => [row.id, row]));
  const done = new Set<GraphRow>();
  const open = new Set<GraphRow>();
  const visit = (row: GraphRow): void => {
    if (done.has(row)) return;
    if (open.has(row)) row.row.refuse(`request_id is '${row.id}', and it waits for itself`);
    open.add(row);
    for (const { id } of row.waits)
      visit(byId.get(id) ?? row.row.refuse(`it waits for '${id}', which is no request of its session`));
    done.add(row);
  };
  for (const row of rows) visit(row);
  return [...done];
}

function requestsOf(rows: readonly GraphRow[], begin_ms: number): readonly JsonObject[] {
  const planned = new Map<string, { readonly after: readonly string[]; readonly think_ms: number; end_ms: number }>();
  return rows.map(({ row, id, start_ms, took_ms, waits, tool_ms }) => {
    // To begin with another request is to wait for what that one waits for.
    const all = waits.flatMap((wait) => {
      const other = planned.get(wait.id);
      if (other === undefined) return [];
      if (!wait.ofStart) return [{ after: [wait.id], delay_ms: wait.delay_ms, end_ms: other.end_ms }];
      return [{ after: other.after, delay_ms: other.think_ms + wait.delay_ms, end_ms: endOf(other.after) }];
    });
    const ends_ms = Math.max(0, ...all.map(({ end_ms }) => end_ms));
    const begins_ms = Math.max(0, ...all.map(({ delay_ms, end_ms }) => end_ms + delay_ms));
    const think_ms = waits.length === 0 ? start_ms - begin_ms : begins_ms - ends_ms;
    const after = [...new Set(all.flatMap(({ after: of }) => of))];
    planned.set(id, { after, think_ms, end_ms: start_ms - begin_ms + (took_ms ?? 0) });
    return {
      ...{ id, after, think_ms, start_ms },
      ...(tool_ms === null ? {} : { tool_ms }),
      agent: row.string('session_id') ?? 'main',
      input_length: row.tokens('input_length') ?? row.tokens('input_tokens') ?? row.refuse('input_length is missing'),
      hash_ids: row.integers('hash_ids') ?? [],
      // A request for none had its prompt read.
      output_length: Math.max(1, row.count('output_length') ?? row.count('output_tokens') ?? 1),
    };
  });

  function endOf(ids: readonly string[]): number {
    return Math.max(0, ...ids.map((each) => planned.get(each)?.end_ms ?? 0));
  }
}
