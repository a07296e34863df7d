import type { ChangedBaseline } from '../../../core/api/scenarios.ts';
import type { RequestHandler } from 'express';
import { readBaseline, refusedChange, type ChangedRun } from '../../judge/baseline.ts';
import { BASELINE_ACTIONS } from '../../../core/api/scenarios.ts';
import { recordChange } from '../../judge/scenario-state.ts';
import type { RunLibrary } from '../../publish/views/run-library.ts';
import { readBody, textUpTo } from './json-body.ts';
import { Problem } from '../problem.ts';
import { readQuery } from './query.ts';
import { sendJson } from './send-json.ts';

const MAX_RUNS = 1000;
const MAX_REASON = 1000;
const MAX_AUTHOR = 200;

const MEMBERS = {
  action: {
    allowed: BASELINE_ACTIONS,
    parse: (value: unknown) => BASELINE_ACTIONS.find((one) => one === value) ?? null,
  },
  run_ids: { allowed: [`1 to ${MAX_RUNS} run ids`], parse: runIds },
  reason: textUpTo(MAX_REASON),
  author: textUpTo(MAX_AUTHOR),
};

/** `POST /scenarios/{name}/baseline`: what `llmbench baseline` appends, with its author and reason. */
export function changeBaselineRoute(library: RunLibrary): RequestHandler {
  return async (request, response) => {
    readQuery(request, {});
    const { action, run_ids, reason, author } = readBody(request, MEMBERS);
    const scenario = String(request.params['name']);
    const { directory } = library.store;
    const before = await readBaseline(directory, scenario);
    const runs = await changedRuns(library, scenario, run_ids, [...before.accepted, ...before.pinned]);
    const refused = refusedChange(scenario, action, runs);
    if (refused !== null) throw new Problem(400, refused);
    await recordChange(library.store, { scenario, action, run_ids, author, reason });
    const { accepted, pinned, dropped } = await readBaseline(directory, scenario);
    await sendJson<ChangedBaseline>(request, response, { scenario, accepted, pinned, dropped });
  };
}

function runIds(value: unknown): readonly string[] | null {
  if (!Array.isArray(value) || value.length === 0 || value.length > MAX_RUNS) return null;
  const ids: readonly unknown[] = value;
  return ids.every((id): id is string => typeof id === 'string' && /^[0-9A-Za-z-]{1,64}$/.test(id))
    ? [...new Set(ids)]
    : null;
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
