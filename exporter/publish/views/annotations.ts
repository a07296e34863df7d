import type { Annotation, RunSummary } from '../../../core/api/runs.ts';
import type { ServerTargetChange } from '../../../core/run/result.ts';
import type { RequestCounts } from '../../../core/run/record.ts';

/** The region of a run; null without a time of its own. */
export function runAnnotation(run: RunSummary): Annotation | null {
  if (run.start === null) return null;
  return {
    id: run.run_id,
    run_id: run.run_id,
    kind: 'run',
    phase: null,
    stage: null,
    time: Date.parse(run.start),
    timeEnd: run.status === 'running' || run.end === null ? null : Date.parse(run.end),
    title: `${run.scenario} (${run.status})`,
    text: describe(run),
    tags: tagsOf(run),
  };
}

/** The regions of a run's phases that have begun. */
export function phaseAnnotations(run: RunSummary): Annotation[] {
  return run.phases.flatMap(({ phase, start, end }) =>
    start === null
      ? []
      : [
          {
            id: `${run.run_id}/${phase}`,
            run_id: run.run_id,
            kind: 'phase',
            phase,
            stage: null,
            time: Date.parse(start),
            timeEnd: end === null ? null : Date.parse(end),
            title: `${phase} of ${run.scenario}`,
            text: describe(run),
            tags: [...tagsOf(run), `phase:${phase}`],
          },
        ],
  );
}

/** The regions of the stages of a run's load. */
export function stageAnnotations(run: RunSummary): Annotation[] {
  return run.stages.map(({ stage, load, start, end }) => ({
    id: `${run.run_id}/stage-${stage}`,
    run_id: run.run_id,
    kind: 'stage',
    phase: null,
    stage,
    time: Date.parse(start),
    timeEnd: Date.parse(end),
    title: `${stage} ${load}`,
    text: describe(run),
    tags: [...tagsOf(run), `stage:${stage}`],
  }));
}

/** Moments at which servers started and ended, as the discovery saw them. */
export function scaleAnnotations(run: RunSummary): Annotation[] {
  return run.target_changes.map(({ time, target, change }) => ({
    id: `${run.run_id}/${change}-${time}-${target}`,
    run_id: run.run_id,
    kind: 'scale',
    phase: null,
    stage: null,
    time: Date.parse(time),
    timeEnd: Date.parse(time),
    title: scaleText({ target, change }),
    text: describe(run),
    tags: [...tagsOf(run), `scale:${change}`],
  }));
}

export const scaleText = ({ target, change }: Pick<ServerTargetChange, 'target' | 'change'>): string =>
  `${target} ${change}`;

function tagsOf({ scenario, model, system, status, tool, tags }: RunSummary): string[] {
  const facts = { scenario, model, system, status, tool };
  const known = Object.entries(facts).flatMap(([name, value]) => (value === null ? [] : [`${name}:${value}`]));
  return ['llmbench', ...known, ...tags];
}

function describe({ run_id, model, load, origin, failure, numbers }: RunSummary): string {
  const lines = [
    run_id,
    [model, load, origin].filter((part) => part !== null).join(' · '),
    ...(numbers === null ? [] : [requestsLine(numbers.requests)]),
    ...(numbers?.client_verdict === 'saturated' ? ['the client was saturated'] : []),
    ...(failure === null ? [] : [failure]),
  ];
  return lines.filter((line) => line !== '').join('\n');
}

function requestsLine(requests: RequestCounts): string {
  return Object.entries(requests)
    .map(([outcome, count]) => `${outcome} ${count ?? 'unknown'}`)
    .join(' · ');
}
