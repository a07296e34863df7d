import { isOrdered, type OrderedRun } from '../run/run-id.ts';
import { firstNames, things } from './quantities.ts';

/**
 * Why it is not known which of these runs are the newest `count`; null when it is known. Runs of unknown order were stored
 * before the time of an import was recorded: they are older than the others, and their order is in nothing but their ids.
 */
export function unknownNewest(runs: readonly OrderedRun[], count: number): string | null {
  const unordered = runs.filter((run) => !isOrdered(run));
  if (count >= runs.length || count <= runs.length - unordered.length) return null;
  return (
    `the order of ${things(unordered.length, 'runs')} is not known, without a start time or a time of import: ` +
    `${firstNames(
      unordered.map(({ run_id }) => run_id),
      2,
    )}; name the runs, or import their files again`
  );
}

/** What a reader has to know of how these runs were ordered, one line each. */
export function orderNotes(runs: readonly OrderedRun[]): string[] {
  const startless = runs.filter(({ start }) => start === null);
  const unordered = startless.filter((run) => !isOrdered(run)).length;
  const byImport = startless.length - unordered;
  return [
    ...(byImport > 0 ? [`${of(byImport, runs)} no start time: their order is that of the import`] : []),
    ...(unordered > 0 ? [`${of(unordered, runs)} no start time and no time of import: their order is not known`] : []),
  ];
}

const of = (count: number, runs: readonly OrderedRun[]): string =>
  `${count} of ${things(runs.length, 'runs')} ${count === 1 ? 'has' : 'have'}`;
