import { createRunId } from '../../core/run/run-id.ts';
import type { RunRequest } from './run-request.ts';

export interface GroupOptions {
  /** Number of repeats of the whole sweep. */
  readonly repeats: number;
  /** Every run sends the same texts, so that a prefix cache is warm from the second run on. */
  readonly samePrompts: boolean;
  /** Set by the user: the group's name, and the prefix of its runs' names. */
  readonly groupId: string | null;
}

/**
 * The runs of a sweep (one request per step) and its repeats, in the order in which they are performed: all steps, then
 * all of them again, so that drift over time does not look like an effect of the load. Each run's lengths and arrivals
 * are those of its step; its text is unique, so that none recurs. A single run has no group.
 */
export function runGroup(steps: readonly RunRequest[], options: GroupOptions): readonly RunRequest[] {
  const { repeats, samePrompts } = options;
  if (steps.length * repeats === 1) return steps;
  const group_id = options.groupId ?? createRunId(new Date());
  return Array.from({ length: repeats }, (_, round) =>
    steps.map((request, index): RunRequest => {
      const step = steps.length > 1 ? index : null;
      const repeat = repeats > 1 ? round : null;
      const number = round * steps.length + index;
      return {
        ...request,
        runId: options.groupId === null ? null : memberId(options.groupId, step, repeat),
        group: { group_id, step, repeat },
        textVariant: samePrompts ? request.textVariant : request.textVariant + number,
      };
    }),
  ).flat();
}

function memberId(groupId: string, step: number | null, repeat: number | null): string {
  return [groupId, step === null ? null : `s${step}`, repeat === null ? null : `r${repeat}`]
    .filter((part) => part !== null)
    .join('-');
}
