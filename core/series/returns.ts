import type { Sighting } from './sighting.ts';
import { classesByLabel, indicesBy } from './process-classes.ts';

/**
 * Which of the series that were missing and return may have continued while they were missing: a gateway omits the series
 * of a worker that it does not reach, and all of them return together. `returning`: compared with their last
 * values; `present`: on the previous page. The start time of a process decides for what its labels name only.
 */
export function mayHaveContinued(returning: readonly Sighting[], present: readonly Sighting[]): ReadonlySet<Sighting> {
  const all = [...returning, ...present];
  const isReturn = new Set(returning);
  const doubted = (classes: ReadonlyMap<string, readonly number[]>): Sighting[] =>
    Array.from(classes).flatMap(([name, members]) => {
      const returned = members.map((i) => all[i] as Sighting).filter((one) => isReturn.has(one));
      const resumed = returned.filter(({ step, counted }) => step === 'continued' && counted);
      const fell = returned.filter(({ step }) => step === 'fell');
      const isWhole = name !== '' && returned.length > members.length - returned.length;
      if (!isWhole) return [];
      return resumed.filter(({ proof }) => proof === 'same' || resumed.length >= fell.length);
    });
  const byProcess = doubted(indicesBy(all, ({ process }) => process));
  return new Set([...byProcess.filter(({ proof }) => proof === null), ...classesByLabel(all).flatMap(doubted)]);
}
