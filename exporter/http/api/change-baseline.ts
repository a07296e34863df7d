import express from 'express';
import type { Request, RequestHandler } from 'express';
import {
  BASELINE_ACTIONS,
  changeBaseline,
  readBaseline,
  refusedChange,
  type BaselineAction,
  type ChangedRun,
} from '../../judge/baseline.ts';
import type { RunLibrary } from '../../publish/views/run-library.ts';
import { Problem, wrongParameters, type WrongParameter } from './problem.ts';
import { readQuery } from './query.ts';
import { sendJson } from './send-json.ts';

/** A thousand run ids and a reason are shorter. */
const MOST_BYTES = 128 * 1024;
const MOST_RUNS = 1000;
const LONGEST_REASON = 1000;
const LONGEST_AUTHOR = 200;

/** Reads the body of a request as JSON. */
export const jsonBody: RequestHandler = express.json({ limit: MOST_BYTES, strict: true });

interface BaselineChange {
  readonly action: BaselineAction;
  readonly run_ids: readonly string[];
  readonly reason: string;
  readonly author: string;
}

/** `POST /scenarios/{name}/baseline`: what `llmbench baseline` appends, with its author and reason. */
export function changeBaselineRoute(library: RunLibrary): RequestHandler {
  return async (request, response) => {
    readQuery(request, {});
    const { action, run_ids, reason, author } = requestedChange(request);
    const scenario = String(request.params['name']);
    const { directory } = library.store;
    const before = await readBaseline(directory, scenario);
    const runs = await changedRuns(library, scenario, run_ids, [...before.accepted, ...before.pinned]);
    const refused = refusedChange(scenario, action, runs);
    if (refused !== null) throw new Problem(400, refused);
    await changeBaseline(library.store, { scenario, action, run_ids, author, reason });
    const { accepted, pinned, dropped } = await readBaseline(directory, scenario);
    await sendJson(request, response, { scenario, accepted, pinned, dropped });
  };
}

/** Throws a `Problem` that lists every member that is wrong. */
function requestedChange(request: Request): BaselineChange {
  const body: unknown = request.body;
  if (request.is('application/json') === false) throw new Problem(415, 'the body must be of type application/json');
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    throw new Problem(400, 'the body must be a JSON object');
  }
  const given = body as Readonly<Record<string, unknown>>;
  const known = ['action', 'run_ids', 'reason', 'author'];
  const unknown = Object.keys(given).filter((name) => !known.includes(name));
  const wrong: WrongParameter[] = unknown.map((name) => ({ name, value: shown(given[name]), allowed: known }));
  const member = <T>(name: string, allowed: readonly string[], parse: (value: unknown) => T | null): T | null => {
    const value = given[name] === undefined ? null : parse(given[name]);
    if (value === null) wrong.push({ name, value: given[name] === undefined ? null : shown(given[name]), allowed });
    return value;
  };
  const action = member('action', BASELINE_ACTIONS, (value) => BASELINE_ACTIONS.find((one) => one === value) ?? null);
  const run_ids = member('run_ids', [`1 to ${MOST_RUNS} run ids`], runIds);
  const reason = member('reason', [`a text of 1 to ${LONGEST_REASON} characters`], textUpTo(LONGEST_REASON));
  const author = member('author', [`a text of 1 to ${LONGEST_AUTHOR} characters`], textUpTo(LONGEST_AUTHOR));
  if (wrong.length === 0 && action !== null && run_ids !== null && reason !== null && author !== null) {
    return { action, run_ids, reason, author };
  }
  throw wrongParameters(wrong, new Set(unknown));
}

function runIds(value: unknown): readonly string[] | null {
  if (!Array.isArray(value) || value.length === 0 || value.length > MOST_RUNS) return null;
  const ids: readonly unknown[] = value;
  return ids.every((id): id is string => typeof id === 'string' && /^[0-9A-Za-z-]{1,64}$/.test(id))
    ? [...new Set(ids)]
    : null;
}

const textUpTo = (longest: number) => (value: unknown) =>
  typeof value === 'string' && value.trim() !== '' && value.length <= longest ? value.trim() : null;

/** A value of the client in a message, cut short. */
function shown(value: unknown): string {
  return (typeof value === 'string' ? value : JSON.stringify(value)).slice(0, 100);
}

/** The runs of a change. Those of the baseline may be deleted by now. Throws a `Problem` 404. */
async function changedRuns(
  library: RunLibrary,
  scenario: string,
  ids: readonly string[],
  inBaseline: readonly string[],
): Promise<readonly ChangedRun[]> {
  const { runs } = await library.overview();
  const byId = new Map(runs.map((run) => [run.run_id, run]));
  return ids.map((run_id) => {
    const run = byId.get(run_id);
    if (run !== undefined) return run;
    if (inBaseline.includes(run_id)) return { run_id, scenario, status: null };
    throw new Problem(404, `run ${run_id} does not exist`);
  });
}
