import type { RequestHandler } from 'express';
import { listRuns, runFilter, SORT_ORDERS } from '../../../core/api/run-list.ts';
import {
  ANNOTATION_KINDS,
  type Annotation,
  type AnnotationsResponse,
  type RunFilter,
  type RunsResponse,
  type RunSummary,
  type ValueName,
  type ValuesResponse,
} from '../../../core/api/runs.ts';
import { VERDICTS } from '../../../core/api/verdict.ts';
import { RUN_STATUSES } from '../../../core/run/run.ts';
import {
  phaseAnnotations,
  runAnnotation,
  scaleAnnotations,
  stageAnnotations,
} from '../../publish/views/annotations.ts';
import type { RunLibrary } from '../../publish/views/run-library.ts';
import { wrongParameters } from '../problem.ts';
import { choice, choices, integer, moment, readQuery, runIds, text, texts } from './query.ts';
import { sendJson } from './json-body.ts';

/** The filter parameters of all lists of runs; their values form a `RunFilter`. */
export const RUN_PARAMETERS = {
  scenario: texts(),
  model: texts(),
  system: texts(),
  tool: texts(),
  status: choices(RUN_STATUSES),
  verdict: choices(VERDICTS),
  tag: texts(),
  group: texts(),
  run_id: runIds(),
  q: text(200),
  from: moment(),
  to: moment(),
} as const satisfies Record<keyof RunFilter, unknown>;

const LIST_PARAMETERS = {
  ...RUN_PARAMETERS,
  sort: choice(SORT_ORDERS, '-start'),
  fold: choice(['true', 'false'], 'false'),
  page: integer(1, 1_000_000, 1),
  limit: integer(1, 1000, 100),
} as const;

/** `GET /runs`: runs with their key figures, paginated. */
export function runsRoute(library: RunLibrary): RequestHandler {
  return async (request, response) => {
    const query = readQuery(request, LIST_PARAMETERS);
    const { runs } = await library.overview();
    await sendJson<RunsResponse>(request, response, listRuns(runs, query));
  };
}

const ANNOTATIONS_PARAMETERS = {
  ...RUN_PARAMETERS,
  kind: choices(ANNOTATION_KINDS),
  limit: integer(1, 1000, 200),
} as const;

/**
 * `GET /annotations`: runs, their phases and the stages of their loads as regions of time, and moments at which their servers
 * changed, the newest run first.
 */
export function annotationsRoute(library: RunLibrary): RequestHandler {
  return async (request, response) => {
    const { kind, limit, ...filter } = readQuery(request, ANNOTATIONS_PARAMETERS);
    const wanted = kind.length === 0 ? ANNOTATION_KINDS : kind;
    const { runs } = await library.overview();
    const fitting = runs.filter(runFilter(filter)).filter(({ start }) => start !== null);
    const annotations = fitting.slice(0, limit).flatMap((run): Annotation[] => {
      const region = wanted.includes('run') ? runAnnotation(run) : null;
      return [
        ...(region === null ? [] : [region]),
        ...(wanted.includes('phase') ? phaseAnnotations(run) : []),
        ...(wanted.includes('stage') ? stageAnnotations(run) : []),
        ...(wanted.includes('scale') ? scaleAnnotations(run) : []),
      ];
    });
    await sendJson<AnnotationsResponse>(request, response, { annotations, total: fitting.length });
  };
}

/** The filterable fields of runs and the values of a run for each. */
const VALUES: Readonly<Record<ValueName, (run: RunSummary) => readonly (string | null)[]>> = {
  scenarios: ({ scenario }) => [scenario],
  models: ({ model }) => [model],
  systems: ({ system }) => [system],
  tools: ({ tool }) => [tool],
  tags: ({ tags }) => tags,
  statuses: ({ status }) => [status],
  verdicts: ({ verdict }) => [verdict?.verdict ?? null],
  groups: ({ group_id }) => [group_id],
};

const VALUE_NAMES = Object.keys(VALUES) as ValueName[];

/** `GET /values/{name}`: the existing values, each with its number of runs. */
export function valuesRoute(library: RunLibrary): RequestHandler {
  return async (request, response) => {
    const name = String(request.params['name']);
    const found = VALUE_NAMES.find((each) => each === name);
    if (found === undefined) throw wrongParameters([{ name: 'name', value: name, allowed: VALUE_NAMES }]);
    const fits = runFilter(readQuery(request, RUN_PARAMETERS));
    const { runs } = await library.overview();
    const counts = new Map<string, number>();
    for (const value of runs.filter(fits).flatMap(VALUES[found])) {
      if (value !== null) counts.set(value, (counts.get(value) ?? 0) + 1);
    }
    const values = [...counts].map(([value, count]) => ({ value, runs: count }));
    await sendJson<ValuesResponse>(request, response, {
      name: found,
      values: values.sort((a, b) => (a.value < b.value ? -1 : 1)),
    });
  };
}
