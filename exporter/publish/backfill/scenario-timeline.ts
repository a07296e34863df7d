import { readEntries } from '../../store/scenarios/append-log.ts';
import type { ScenarioPaths } from '../../store/scenarios/scenario-folders.ts';
import { stateOf, type ScenarioState } from '../../judge/scenario-state.ts';
import { readVerdictFile } from '../../judge/verdict-log.ts';

/** A state of a scenario and since when. */
export interface DatedState {
  /** Milliseconds since the epoch. */
  readonly at_ms: number;
  readonly state: ScenarioState;
}

/** Every state that a scenario has had, oldest first: each line of its two files makes one. */
export async function readScenarioTimeline(paths: ScenarioPaths): Promise<readonly DatedState[]> {
  const { entries: changes } = await readEntries(paths.baseline);
  const { entries: verdicts } = await readVerdictFile(paths.verdicts);
  const times = [...verdicts, ...changes].map(({ at }) => timeOf(at)).filter(Number.isFinite);
  const until = (time_ms: number) => ({
    verdicts: verdicts.filter(({ at }) => timeOf(at) <= time_ms),
    changes: changes.filter(({ at }) => timeOf(at) <= time_ms),
  });
  return [...new Set(times)]
    .sort((x, y) => x - y)
    .flatMap((at_ms) => {
      const known = until(at_ms);
      const state = stateOf(known.verdicts, known.changes);
      return state === null ? [] : [{ at_ms, state }];
    });
}

function timeOf(at: unknown): number {
  return typeof at === 'string' ? Date.parse(at) : NaN;
}
