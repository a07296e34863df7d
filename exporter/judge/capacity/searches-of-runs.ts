import { ExpectedError } from '../../errors/expected-error.ts';
import type { CapacityFile, CapacityProbe } from '../../../core/run/capacity.ts';
import { things } from '../../../core/text/quantities.ts';
import { readCapacity } from '../../store/scenarios/capacity-files.ts';
import type { RunStore } from '../../store/run-store.ts';

/** What of a run says whether it is a probe of a search. */
export interface GroupedRun {
  readonly run_id: string;
  readonly scenario: string | null;
  readonly group_id: string | null;
}

/** The probes at the two bounds, on which the response of a search rests. */
export function boundProbesOf({ holds, fails, probes }: CapacityFile): readonly CapacityProbe[] {
  return probes.filter(({ load }) => load === holds || load === fails);
}

const isIn =
  (selected: ReadonlySet<string>) =>
  ({ run_id }: CapacityProbe): boolean =>
    selected.has(run_id);

/**
 * The searches (`run --find`) whose probes the runs are, in the order of the runs; null if none is. A single probe is
 * compared as a run: a search counts if all probes at its bounds are there. Throws an `ExpectedError`: 'refused' if only
 * some are, 'damaged' if the file of a search cannot be read.
 */
export async function searchesOf(
  store: RunStore,
  runs: readonly GroupedRun[],
  side: 'A' | 'B',
): Promise<readonly CapacityFile[] | null> {
  const groups = new Map<string, Promise<CapacityFile | null>>();
  const found = await Promise.all(
    runs.map(async ({ scenario, group_id: group }) => {
      if (scenario === null || group === null) return null;
      const key = JSON.stringify([scenario, group]);
      const read = groups.get(key) ?? readCapacity(store.directory, scenario, group);
      groups.set(key, read);
      return read;
    }),
  );
  const selected = new Set(runs.map(({ run_id }) => run_id));
  const whole = found.map((file) => (file !== null && boundProbesOf(file).every(isIn(selected)) ? file : null));
  const searches = [...new Set(whole.filter((file) => file !== null))];
  if (searches.length === 0) return null;
  const others = whole.filter((file) => file === null).length;
  if (others === 0) return searches;
  throw new ExpectedError(
    'refused',
    `${side} has probes of ${things(searches.length, 'searches')} (--find) and ${things(others, 'other runs')}: select the ones or the others`,
  );
}
