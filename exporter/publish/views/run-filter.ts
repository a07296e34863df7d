import type { RunFilter, RunSummary } from '../../../core/api/runs.ts';

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
