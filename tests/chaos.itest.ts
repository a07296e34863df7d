import { expect, test } from '@jest/globals';
import { chaos } from '../scripts/chaos/trials.ts';

/** Many processes, one after the other, on a machine that does other things too. */
const TIME_LIMIT_MS = 600_000;
/** A slice of `npm run chaos`; tests of the store kill at every change of a run that is written, added, tagged or deleted. */
const SCENES = ['merge', 'backfill'];

test(
  'after kills at random changes of files, full disks and closed pipes nothing is lost, and nothing half-written is read',
  async () => {
    const { trials, kills, problems } = await chaos({
      rounds: 1,
      minutes: 9,
      seed: 7,
      scenes: SCENES,
      say: () => undefined,
    });
    expect(problems).toEqual([]);
    expect(trials).toBeGreaterThanOrEqual(4 * SCENES.length);
    expect(kills).toBeGreaterThan(0);
  },
  TIME_LIMIT_MS,
);
