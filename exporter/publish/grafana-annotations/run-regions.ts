import { loadText } from '../../../core/run/load.ts';
import type { ResultFile } from '../../../core/run/result.ts';
import type { RunFile } from '../../../core/run/run.ts';
import { countOf } from '../../../core/run/request-counts.ts';
import { stageRegions } from '../views/run-summary.ts';
import type { StageRegion } from '../../../core/api/runs.ts';
import type { AnnotationBody } from './annotations-client.ts';

/** Of all annotations that llmbench makes. */
export const LLMBENCH_TAG = 'llmbench';
export const runTag = (runId: string): string => `run_id:${runId}`;

/** A region of a run; `part` distinguishes it from the run's other regions, and is one of its tags. */
export interface RunRegion extends AnnotationBody {
  readonly part: string;
}

const WHOLE_RUN = 'part:run';

/** The run as it begins: its end is not known. Null for a run without a time of its own. */
export function startedRun(run: RunFile): RunRegion | null {
  if (run.start === null) return null;
  return region(run, WHOLE_RUN, Date.parse(run.start), null, [], description(run));
}

/** The run, its phases and the stages of its load, from a run that has ended. Empty for a run without a time of its own. */
export function endedRun(run: RunFile, result: ResultFile): readonly RunRegion[] {
  if (run.start === null || run.end === null) return [];
  const whole = region(
    run,
    WHOLE_RUN,
    Date.parse(run.start),
    Date.parse(run.end),
    [`status:${result.status}`],
    `${description(run)}<br>${outcome(result)}`,
  );
  const phases = run.phases.flatMap(({ phase, start, end }) =>
    start === null || end === null
      ? []
      : [region(run, `part:${phase}`, Date.parse(start), Date.parse(end), [], `${phase} of ${description(run)}`)],
  );
  return [whole, ...phases, ...stageRegions(result).map((stage) => stageOf(run, stage))];
}

function stageOf(run: RunFile, { stage, load, start, end }: StageRegion): RunRegion {
  const text = `stage ${stage}, ${load}, of ${description(run)}`;
  return region(run, `part:stage-${stage}`, Date.parse(start), Date.parse(end), [`stage:${stage}`], text);
}

function region(
  run: RunFile,
  part: string,
  time: number,
  timeEnd: number | null,
  moreTags: readonly string[],
  text: string,
): RunRegion {
  const tags = [LLMBENCH_TAG, runTag(run.run_id), part, `scenario:${run.scenario}`, ...moreTags];
  return { part, time, ...(timeEnd === null ? {} : { timeEnd }), tags, text };
}

/** Grafana shows the text as HTML. */
function description({ run_id, scenario, comparison_key: { model, load } }: RunFile): string {
  const parts = [
    model === null ? scenario : `${scenario}: ${model}`,
    load === null ? '' : loadText(load, 'label'),
    run_id,
  ];
  return escapeHtml(parts.filter((part) => part !== '').join(' · '));
}

function outcome({ status, requests, measures }: ResultFile): string {
  const p99 = measures.find(
    (each) =>
      each.measure === 'time_to_first_token' &&
      each.origin === 'client' &&
      each.population === 'ok' &&
      each.clock === 'sent',
  );
  const value = p99?.kind === 'distribution' ? p99.percentiles.p99.value : null;
  const others = countOf(requests, ['error', 'timeout', 'cancelled']);
  return escapeHtml(
    `${status}: ${requests.ok ?? 'unknown'} requests ok, ${others ?? 'unknown'} not` +
      (value === null ? '' : `, p99 of the time to first token ${formatSeconds(value)}`),
  );
}

function escapeHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
}

/** A duration for people, three digits: `84.2 ms`, `1.25 s`. */
function formatSeconds(seconds: number): string {
  return seconds < 1 ? `${Number((seconds * 1000).toPrecision(3))} ms` : `${Number(seconds.toPrecision(3))} s`;
}
