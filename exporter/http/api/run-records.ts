import type { RecordsResponse } from '../../../core/api/run-data.ts';
import type { RequestHandler } from 'express';
import { OUTCOMES, PHASES } from '../../../core/run/record.ts';
import { REQUEST_FIELDS, requestColumns } from '../../publish/views/request-columns.ts';
import type { RunLibrary } from '../../publish/views/run-library.ts';
import { runZero } from '../../publish/views/run-zero.ts';
import { choices, integer, readQuery } from './query.ts';
import { reading, requestedFinishedRun, whileConnected } from './requested-run.ts';
import { sendJson } from './send-json.ts';

const PARAMETERS = {
  fields: choices(REQUEST_FIELDS),
  phase: choices(PHASES),
  outcome: choices(OUTCOMES),
  limit: integer(1, 100_000, 5000),
} as const;

/** `GET /runs/{run_id}/records`: the requests of a run, by column. */
export function runRecordsRoute(library: RunLibrary): RequestHandler {
  return async (request, response) => {
    const { fields, phase, outcome, limit } = readQuery(request, PARAMETERS);
    const { run } = await requestedFinishedRun(request, library);
    const chosen = fields.length === 0 ? REQUEST_FIELDS : fields;
    const view = await reading(library, () =>
      requestColumns(
        whileConnected(response, library.store.readRecords(run, { withoutChunks: !chosen.includes('chunks') })),
        (record) =>
          (phase.length === 0 || phase.includes(record.phase)) &&
          (outcome.length === 0 || outcome.includes(record.outcome)),
        chosen,
        limit,
      ),
    );
    await sendJson<RecordsResponse>(request, response, { run_id: run.run_id, zero: runZero(run), ...view });
  };
}
