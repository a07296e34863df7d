import type { RunsQuery, RunsResponse, RunSummary } from '../../../core/api/runs.ts';
import { FILTER_MEMBERS, filterValue, sortValue } from './run-source.ts';

const DEFAULT_LIMIT = 100;

/** Filters, sorts and pages runs as the exporter's `/runs` does. */
export function listRuns(runs: readonly RunSummary[], request: RunsQuery): RunsResponse {
  const { sort = '-start', page = 1, limit = DEFAULT_LIMIT } = request;
  const found = runs.filter((run) => fits(run, request));
  const ordered = found.sort((a, b) => compare(a, b, sort));
  return { runs: ordered.slice((page - 1) * limit, page * limit), page, limit, total: ordered.length };
}

function fits(run: RunSummary, request: RunsQuery): boolean {
  const members = FILTER_MEMBERS.every((name) => {
    const allowed = request[name];
    return !allowed?.length || allowed.includes(filterValue(run, name));
  });
  const ids = !request.run_id?.length || request.run_id.includes(run.run_id);
  return members && ids && hasWords(run, request.q ?? '') && touches(run, request);
}

function hasWords(run: RunSummary, q: string): boolean {
  const { run_id, scenario, model, system, tool, origin, load, group_id } = run;
  const text = [run_id, scenario, model, system, tool, origin, load, group_id, ...run.tags].join('\n').toLowerCase();
  return q
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word));
}

function touches({ start, end }: RunSummary, { from, to }: RunsQuery): boolean {
  if (from === undefined && to === undefined) {
    return true;
  }
  if (start === null) {
    return false;
  }
  return (end === null || Date.parse(end) >= (from ?? -Infinity)) && Date.parse(start) <= (to ?? Infinity);
}

/** Runs without the value come last in both orders; ties are sorted by start, newest first. */
function compare(a: RunSummary, b: RunSummary, sort: string): number {
  const name = sort.replace(/^-/, '');
  const direction = sort.startsWith('-') ? -1 : 1;
  return (
    byValue(sortValue(a, name), sortValue(b, name), direction) ||
    byValue(sortValue(a, 'start'), sortValue(b, 'start'), -1)
  );
}

function byValue(a: number | string | null, b: number | string | null, direction: number): number {
  if (a === null || b === null) {
    return a === b ? 0 : a === null ? 1 : -1;
  }
  return a === b ? 0 : (a < b ? -1 : 1) * direction;
}
