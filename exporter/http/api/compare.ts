import type { VerdictReport } from '../../../core/api/comparison.ts';
import type { RequestHandler } from 'express';
import { MAX_STAGES } from '../../../core/run/load.ts';
import { compareStored, refusal, type ComparedRun } from '../../judge/compare-stored.ts';
import { hasCode } from '../../errors/expected-error.ts';
import { type LoadFigures, storedFigures } from '../../judge/load-figures.ts';
import type { AcceptedDifference } from '../../judge/preflight.ts';
import type { RunLibrary } from '../../publish/views/run-library.ts';
import { SelectionError, selectRuns, type SelectableRun } from '../../store/index/select-runs.ts';
import { Problem } from '../problem.ts';
import { choice, integer, readQuery, selectors, shortTexts, requestedRules } from './query.ts';
import { withoutFolder } from './run.ts';
import { sendJson } from './json-body.ts';

/** More than anyone compares, and few enough that a comparison takes no more than seconds. */
const MAX_RUNS = 500;

const PARAMETERS = {
  a: selectors(),
  b: selectors(),
  paired: choice(['true', 'false'], 'false'),
  across_scenarios: choice(['true', 'false'], 'false'),
  stage: integer(1, MAX_STAGES, null),
  gate: shortTexts(),
  margin: shortTexts(),
} as const;

/** `GET /compare`: the verdict on the runs of B against those of A, as `llmbench compare --format json` prints it. */
export function compareRoute(library: RunLibrary, load: LoadFigures): RequestHandler {
  return async (request, response) => {
    const query = readQuery(request, PARAMETERS);
    const rules = requestedRules(query);
    const runs = await selectableRuns(library);
    const paired = query.paired === 'true';
    const accepted: AcceptedDifference = query.across_scenarios === 'true' ? 'scenarios' : 'none';
    const [a, b] = [selected(library, runs, 'a', query.a), selected(library, runs, 'b', query.b)];
    const sets = { a, b, paired, accepted };
    const figures = query.stage === null ? load : storedFigures(library.store, query.stage);
    const refused = refusal(sets);
    if (refused !== null) throw new Problem(400, refused);
    try {
      await sendJson<VerdictReport>(
        request,
        response,
        await compareStored(library.store, figures, { ...sets, rules, runsDirectory: null }),
      );
    } catch (error) {
      if (hasCode(error, 'refused')) throw new Problem(400, error.message);
      if (!hasCode(error, 'damaged')) throw error;
      throw new Problem(422, withoutFolder(library, error.message));
    }
  };
}

/** Every finished run, newest first. */
async function selectableRuns(library: RunLibrary): Promise<readonly (SelectableRun & ComparedRun)[]> {
  const { runs, damaged } = await library.overview();
  return [
    ...runs.filter(({ status }) => status !== 'running').map((run) => ({ ...run, damage: null })),
    ...damaged.map(({ run_id, reason }) => ({
      run_id,
      start: null,
      scenario: null,
      group_id: null,
      tags: [],
      damage: reason,
      tool: null,
      origin: null,
    })),
  ];
}

function selected<Run extends SelectableRun>(
  library: RunLibrary,
  runs: readonly Run[],
  name: 'a' | 'b',
  given: readonly string[],
): readonly Run[] {
  const selector = given.join(',');
  let found: readonly Run[];
  try {
    found = selectRuns(runs, selector);
  } catch (error) {
    if (!(error instanceof SelectionError)) throw error;
    const hint = error.hint === null ? '' : `; ${error.hint}`;
    throw new Problem(STATUSES[error.problem], `${name}: ${withoutFolder(library, error.message)}${hint}`);
  }
  if (found.length <= MAX_RUNS) return found;
  throw new Problem(400, `${name} selects ${found.length} runs; at most ${MAX_RUNS} are compared: add +last:N`);
}

const STATUSES: Readonly<Record<SelectionError['problem'], number>> = { invalid: 400, not_found: 404, damaged: 422 };
