import type { RequestHandler } from 'express';
import { runFilter } from '../../publish/views/run-filter.ts';
import type { RunLibrary } from '../../publish/views/run-library.ts';
import type { RunSummary } from '../../publish/views/run-summary.ts';
import { wrongParameters } from './problem.ts';
import { readQuery } from './query.ts';
import { RUN_PARAMETERS } from './run-parameters.ts';
import { sendJson } from './send-json.ts';

/** The filterable fields of runs and the values of a run for each. */
const VALUES = new Map<string, (run: RunSummary) => readonly (string | null)[]>([
  ['scenarios', ({ scenario }) => [scenario]],
  ['models', ({ model }) => [model]],
  ['systems', ({ system }) => [system]],
  ['tools', ({ tool }) => [tool]],
  ['tags', ({ tags }) => tags],
  ['statuses', ({ status }) => [status]],
  ['verdicts', ({ verdict }) => [verdict?.verdict ?? null]],
  ['groups', ({ group_id }) => [group_id]],
]);

/** `GET /values/{name}`: the existing values, each with its number of runs. */
export function valuesRoute(library: RunLibrary): RequestHandler {
  return async (request, response) => {
    const name = String(request.params['name']);
    const valuesOf = VALUES.get(name);
    if (valuesOf === undefined) throw wrongParameters([{ name: 'name', value: name, allowed: [...VALUES.keys()] }]);
    const fits = runFilter(readQuery(request, RUN_PARAMETERS));
    const { runs } = await library.overview();
    const counts = new Map<string, number>();
    for (const value of runs.filter(fits).flatMap(valuesOf)) {
      if (value !== null) counts.set(value, (counts.get(value) ?? 0) + 1);
    }
    const values = [...counts].map(([value, count]) => ({ value, runs: count }));
    await sendJson(request, response, { name, values: values.sort((a, b) => (a.value < b.value ? -1 : 1)) });
  };
}
