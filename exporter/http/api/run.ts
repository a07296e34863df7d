import { hasCode, codeOf, DamagedRunError, SchemaVersionError } from '../../errors/expected-error.ts';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import type { Response } from 'express';
import type { Request, RequestHandler } from 'express';
import type {
  DistributionResponse,
  FamilyQuery,
  FirstTokenTimeResponse,
  RecordsResponse,
  SeriesResponse,
} from '../../../core/api/run-data.ts';
import type { ChangedTags, RunResponse } from '../../../core/api/runs.ts';
import type { DistributionMeasure } from '../../../core/measures/measures.ts';
import { OUTCOMES, PHASES } from '../../../core/run/record.ts';
import { isRunId } from '../../../core/run/run-id.ts';
import type { ServersFile } from '../../../core/run/servers-file.ts';
import { changedTags, isTag, TAG_RULE } from '../../../core/run/run.ts';
import {
  DISTRIBUTION_NAMES,
  distributionMeasure,
  distributionView,
  hasPopulationAll,
  readsChunks,
  REQUEST_FIELDS,
  requestColumns,
} from '../../publish/views/distribution-view.ts';
import type { FoundRun, RunLibrary } from '../../publish/views/run-library.ts';
import { runZero } from '../../publish/views/run-summary.ts';
import {
  readServerSamples,
  familySelector,
  QUANTITY_NAMES,
  seriesViews,
  wantedFamilies,
} from '../../publish/views/server-view.ts';
import { firstTokenTimeOf } from '../../servers/summary/first-token-parts.ts';
import { editRun } from '../../store/changes/edit-run.ts';
import { readServersFile } from '../../store/read-servers.ts';
import { Problem, wrongParameters } from '../problem.ts';
import { readBody, sendJson, type Member } from './json-body.ts';
import { choice, choices, integer, readQuery, texts, type Query } from './query.ts';

/** `GET /runs/{run_id}`: its run.json and result.json. */
export function runRoute(library: RunLibrary): RequestHandler {
  return async (request, response) => {
    readQuery(request, {});
    const { run, summary, folder, finished } = await requestedRun(request, library);
    const result = finished ? await reading(library, () => library.store.readResult(run.run_id)) : null;
    const has_servers = await exists(join(folder, 'servers.json'));
    await sendJson<RunResponse>(request, response, { summary, run, result, has_servers });
  };
}

async function exists(path: string): Promise<boolean> {
  try {
    await stat(path);
    return true;
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return false;
    throw error;
  }
}

/** The run in the path. Throws a `Problem`: 400 for an invalid run id, 404 if the run does not exist. */
async function requestedRun(request: Request, library: RunLibrary): Promise<FoundRun> {
  const runId = String(request.params['run_id']);
  if (!isRunId(runId)) {
    const allowed = ['a run id of 1 to 64 characters [0-9A-Za-z-]'];
    throw wrongParameters([{ name: 'run_id', value: runId, allowed }]);
  }
  const found = await library.find(runId);
  if (found !== null) return found;
  const { damaged } = await library.overview();
  const damage = damaged.find(({ run_id }) => run_id === runId);
  if (damage !== undefined) throw new Problem(422, `run ${runId} cannot be read: ${damage.reason}`);
  throw new Problem(404, `run ${runId} does not exist`);
}

/** Like `requestedRun`, for data of finished runs only: 404 while the run is running. */
async function requestedFinishedRun(request: Request, library: RunLibrary): Promise<FoundRun> {
  const found = await requestedRun(request, library);
  if (found.finished) return found;
  throw new Problem(404, `run ${found.run.run_id} has not ended: available after its end`);
}

/** Reads a file of a run; a damaged file becomes a `Problem` 422 without its path. */
async function reading<T>(library: RunLibrary, read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    if (!(error instanceof DamagedRunError || error instanceof SchemaVersionError)) throw error;
    throw new Problem(422, withoutFolder(library, error.message));
  }
}

/** Where the runs are is not exposed over HTTP. */
export function withoutFolder(library: RunLibrary, text: string): string {
  return text.replaceAll(`${library.store.directory}/`, '');
}

/** After so many records the work pauses, so that short requests are not delayed by long ones. */
const RECORDS_AT_ONCE = 500;

const RECORDS_PARAMETERS = {
  fields: choices(REQUEST_FIELDS),
  phase: choices(PHASES),
  outcome: choices(OUTCOMES),
  limit: integer(1, 100_000, 5000),
} as const;

/** `GET /runs/{run_id}/records`: the requests of a run, by column. */
export function runRecordsRoute(library: RunLibrary): RequestHandler {
  return async (request, response) => {
    const { fields, phase, outcome, limit } = readQuery(request, RECORDS_PARAMETERS);
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

const DISTRIBUTION_PARAMETERS = {
  measure: choice(DISTRIBUTION_NAMES, undefined),
  clock: choice(['sent', 'due'], null),
  population: choice(['ok', 'all'], 'ok'),
  points: integer(2, 100_000, 1000),
} as const;

/** `GET /runs/{run_id}/distribution`: the exact distribution of a measure. */
export function runDistributionRoute(library: RunLibrary): RequestHandler {
  return async (request, response) => {
    const query = readQuery(request, DISTRIBUTION_PARAMETERS);
    const measure = requestedMeasure(query);
    const { run } = await requestedFinishedRun(request, library);
    try {
      const records = whileConnected(
        response,
        library.store.readRecords(run, { withoutChunks: !readsChunks(measure) }),
      );
      const view = await reading(library, () => distributionView(records, measure, query.population, query.points));
      await sendJson<DistributionResponse>(request, response, { run_id: run.run_id, ...view });
    } catch (error) {
      if (!hasCode(error, 'refused')) throw error;
      throw new Problem(422, `${error.message}; its result has the percentiles with bounds`);
    }
  };
}

function requestedMeasure({
  measure: name,
  clock,
  population,
}: Query<typeof DISTRIBUTION_PARAMETERS>): DistributionMeasure {
  const measure = distributionMeasure(name, clock);
  if (measure === undefined) {
    throw wrongParameters([{ name: 'clock', value: clock, allowed: [clock === 'due' ? 'sent' : 'due'] }]);
  }
  if (population === 'all' && !hasPopulationAll(measure)) {
    throw wrongParameters([{ name: 'population', value: population, allowed: ['ok'] }]);
  }
  return measure;
}

const MAX_TAGS = 100;

const tagList: Member<readonly string[]> = {
  allowed: [`at most ${MAX_TAGS} tags of ${TAG_RULE}`],
  parse: (value) =>
    Array.isArray(value) && value.length <= MAX_TAGS && value.every((tag) => typeof tag === 'string' && isTag(tag))
      ? (value as string[])
      : null,
  fallback: [],
};

/** `POST /runs/{run_id}/tags`: adds and removes tags, as `llmbench runs tag` does. */
export function changeTagsRoute(library: RunLibrary): RequestHandler {
  return async (request, response) => {
    readQuery(request, {});
    const change = readBody(request, { add: tagList, remove: tagList });
    if (change.add.length + change.remove.length === 0) throw new Problem(400, 'add or remove must name a tag');
    const both = change.add.find((tag) => change.remove.includes(tag));
    if (both !== undefined) throw new Problem(400, `${both} is to be added and removed`);
    const { run } = await requestedFinishedRun(request, library);
    const changed = changedTags(run.tags, change);
    if (changed.length > MAX_TAGS) throw new Problem(400, `a run has at most ${MAX_TAGS} tags`);
    if ((await library.store.whyReadOnly()) !== null) throw new Problem(409, 'the runs are read-only here');
    const edited = await reading(library, () =>
      editRun(library.store, run.run_id, (file) => ({ ...file, tags: changedTags(file.tags, change) })),
    );
    await sendJson<ChangedTags>(request, response, { run_id: run.run_id, tags: edited.tags });
  };
}

/** The servers.json of the run in the path. Throws a `Problem`: 404 if nothing was collected. */
async function requestedServers(request: Request, library: RunLibrary): Promise<FoundRun & { file: ServersFile }> {
  const found = await requestedFinishedRun(request, library);
  const file = await reading(library, () => readServersFile(found.folder));
  if (file === null) throw new Problem(404, `no server metrics were collected for run ${found.run.run_id}`);
  return { ...found, file };
}

/** `GET /runs/{run_id}/first-token-time`: the mean time to first token in parts that add up. */
export function runFirstTokenTimeRoute(library: RunLibrary): RequestHandler {
  return async (request, response) => {
    readQuery(request, {});
    const { run, file } = await requestedServers(request, library);
    const result = await reading(library, () => library.store.readResult(run.run_id));
    const first_token_time = firstTokenTimeOf(result, file.series);
    await sendJson<FirstTokenTimeResponse>(request, response, { run_id: run.run_id, first_token_time });
  };
}

/** `GET /runs/{run_id}/servers`: its servers.json, complete or limited to the selected series. */
export function runServersRoute(library: RunLibrary): RequestHandler {
  const parameters = familyParameters();
  return async (request, response) => {
    const query = readQuery(request, parameters);
    const { file } = await requestedServers(request, library);
    const { family, quantity, target } = query;
    const chooses = family.length + quantity.length > 0;
    const select = familySelector(query);
    const series = file.series.filter((each) =>
      chooses ? select(each) !== null : target.length === 0 || target.includes(each.target),
    );
    await sendJson<ServersFile>(request, response, { ...file, series });
  };
}

/** `GET /runs/{run_id}/series`: the metrics of its servers over time. */
export function runSeriesRoute(library: RunLibrary): RequestHandler {
  const parameters = { ...familyParameters(), points: integer(2, 10_000, 1000) } as const;
  return async (request, response) => {
    const { points, ...query } = readQuery(request, parameters);
    if (query.family.length + query.quantity.length === 0) {
      const allowed = QUANTITY_NAMES();
      throw wrongParameters([
        { name: 'family', value: null, allowed: ['the name of a family, unless a quantity is given'] },
        { name: 'quantity', value: null, allowed },
      ]);
    }
    const { run } = await requestedFinishedRun(request, library);
    const samples = await reading(library, async () =>
      readServerSamples(await library.store.wholePathOf(run.run_id), run.start, wantedFamilies(query)),
    );
    if (samples === null) throw new Problem(404, `no server metrics were collected for run ${run.run_id}`);
    const series = seriesViews(samples, query, points);
    await sendJson<SeriesResponse>(request, response, { run_id: run.run_id, zero: runZero(run), series });
  };
}

/** The parameters that select server families; their values form a `FamilyQuery`. */
const familyParameters = () =>
  ({
    family: texts(),
    quantity: choices(QUANTITY_NAMES()),
    target: texts(),
  }) as const satisfies Record<keyof FamilyQuery, unknown>;

/** The records for as long as the client waits for the response. Other requests are processed in between. */
async function* whileConnected<T>(response: Response, records: AsyncIterable<T>): AsyncGenerator<T> {
  let n = 0;
  for await (const record of records) {
    yield record;
    n += 1;
    if (n % RECORDS_AT_ONCE !== 0) continue;
    await setImmediate();
    if (response.socket?.destroyed !== false) throw new Problem(503, 'the client has disconnected');
  }
}
