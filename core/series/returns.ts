import type { Sighting } from './sighting.ts';
import { classesByLabel, indicesBy } from './process-classes.ts';

/**
 * Which of the series that were missing and return may have continued while they were missing: a gateway omits the series
 * of a worker that it does not reach, and all of them return together. The start time of a process decides only for the
 * processes that its labels name.
 *
 * `returning`: compared with their last values. `present`: on the previous page; `appeared` where they are newer than the
 * absence.
 */
export function mayHaveContinued(returning: readonly Sighting[], present: readonly Sighting[]): ReadonlySet<Sighting> {
  const all = [...returning, ...present];
  const isReturn = new Set(returning);
  const doubted = (classes: ReadonlyMap<string, readonly number[]>): Sighting[] =>
    Array.from(classes).flatMap(([name, members]) => {
      const returned = members.map((i) => all[i] as Sighting).filter((one) => isReturn.has(one));
      const resumed = returned.filter(({ step, counted }) => step === 'continued' && counted);
      const fell = returned.filter(({ step }) => step === 'fell');
      const present = members.map((i) => all[i] as Sighting).filter((one) => !isReturn.has(one));
      // New series beside old ones are of a process that restarted, and shows its families one by one.
      const isNew = present.some(({ step }) => step === 'appeared');
      const isWhole = name !== '' && returned.length >= present.length + (isNew ? 1 : 0);
      if (!isWhole) return [];
      return resumed.filter(({ proof }) => proof === 'same' || resumed.length >= fell.length);
    });
  const byProcess = doubted(indicesBy(all, ({ process }) => process));
  return new Set([...byProcess.filter(({ proof }) => proof === null), ...classesByLabel(all).flatMap(doubted)]);
}
