import { MIN_REFERENCE } from '../../core/stats/robust-shift.ts';
import { RunIndex } from '../store/index/run-index.ts';
import type { RunStore } from '../store/run-store.ts';
import { baselineWindow } from './baseline-reference.ts';
import { changeBaseline, readBaseline } from './baseline.ts';

interface FirstRuns {
  readonly scenario: string;
  /** The run that is to be judged: only runs of its configuration are accepted. */
  readonly newest: string;
  /** The runs from before it. */
  readonly before: readonly string[];
  readonly author: string | null;
}

/** Accepts runs from before the first judged one until the baseline of its configuration suffices; returns their ids. */
export async function acceptFirst(
  store: RunStore,
  { scenario, newest, before, author }: FirstRuns,
): Promise<readonly string[]> {
  const stored = await RunIndex.use(store, (index) => index.runs());
  const fingerprint = stored.find(({ run_id }) => run_id === newest)?.fingerprint ?? '';
  const { accepted, dropped } = await readBaseline(store.directory, scenario);
  if (baselineWindow(stored, new Set(accepted), fingerprint).length >= MIN_REFERENCE) return [];
  const known = new Set([...accepted, ...dropped]);
  const run_ids = stored
    .filter((run) => before.includes(run.run_id) && !known.has(run.run_id))
    .filter((run) => run.fingerprint === fingerprint && run.status === 'completed')
    .map(({ run_id }) => run_id)
    .toReversed();
  if (run_ids.length === 0) return [];
  const reason = `first runs of the baseline, which had fewer than ${MIN_REFERENCE}`;
  await changeBaseline(store, { scenario, action: 'accept', run_ids, author, reason });
  return run_ids;
}
