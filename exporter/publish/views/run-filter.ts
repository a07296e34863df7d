import type { RunSummary } from './run-summary.ts';

/** The requested runs. An empty list requests all; every part must fit. */
export interface RunFilter {
  readonly scenario: readonly string[];
  readonly model: readonly string[];
  readonly system: readonly string[];
  readonly tool: readonly string[];
  readonly status: readonly string[];
  readonly verdict: readonly string[];
  readonly tag: readonly string[];
  readonly group: readonly string[];
  readonly run_id: readonly string[];
  /** Words that must all stand somewhere in what describes the run. */
  readonly q: string;
  /** Milliseconds since 1970: only runs that had not ended before; null: all. */
  readonly from: number | null;
  /** Only runs that had begun by then. */
  readonly to: number | null;
}

/** Whether a run is requested. A run without a time of its own is in no span of time. */
export function runFilter(filter: RunFilter): (run: RunSummary) => boolean {
  const words = filter.q
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== '');
  const oneOf = (wanted: readonly string[], value: string | null): boolean =>
    wanted.length === 0 || wanted.includes(value ?? '');
  return (run) =>
    oneOf(filter.scenario, run.scenario) &&
    oneOf(filter.model, run.model) &&
    oneOf(filter.system, run.system) &&
    oneOf(filter.tool, run.tool) &&
    oneOf(filter.status, run.status) &&
    oneOf(filter.verdict, run.verdict?.verdict ?? null) &&
    oneOf(filter.group, run.group_id) &&
    oneOf(filter.run_id, run.run_id) &&
    (filter.tag.length === 0 || filter.tag.some((tag) => run.tags.includes(tag))) &&
    isWithin(run, filter.from, filter.to) &&
    hasWords(run, words);
}

function isWithin({ start, end, status }: RunSummary, from: number | null, to: number | null): boolean {
  if (from === null && to === null) return true;
  if (start === null) return false;
  const ended = status === 'running' || end === null ? Infinity : Date.parse(end);
  return (to === null || Date.parse(start) <= to) && (from === null || ended >= from);
}

function hasWords(run: RunSummary, words: readonly string[]): boolean {
  if (words.length === 0) return true;
  const { run_id, scenario, model, system, tool, origin, load, dataset, group_id, tags } = run;
  const text = [run_id, scenario, model, system, tool, origin, load, dataset, group_id, ...tags]
    .join('\n')
    .toLowerCase();
  return words.every((word) => text.includes(word));
}
