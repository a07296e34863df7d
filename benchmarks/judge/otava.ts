import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { seededRandom } from '../../core/stats/seeded-random.ts';
import { runProgram } from '../child-program.ts';
import type { Workshop } from '../workshop.ts';
import { runMaker, type Values } from './series.ts';
import { NIGHTS } from './trials.ts';
import type { World } from './worlds.ts';

const PACKAGE = 'apache-otava==0.8.0';
const PROGRAM = fileURLToPath(new URL('otava-program.py', import.meta.url));
const HISTORY = 20;

export interface OtavaResult {
  /** New changes for the worse per night. */
  readonly alarmsPerCheck: number;
  /** Share of the series with an alarm in time. */
  readonly found: number;
}

/**
 * Apache Otava on series of a history and some nights, in all of which the first measure is slower by so many margins. Throws
 * `Unavailable` where it cannot be installed.
 */
export async function otava(
  workshop: Workshop,
  world: World,
  scatter: number,
  slower: number,
  series: number,
): Promise<OtavaResult> {
  const random = seededRandom(`otava ${world.name} ${scatter} ${slower}`);
  const input = Array.from({ length: series }, () => {
    const make = runMaker(world, random, scatter);
    const values = Array.from({ length: HISTORY + NIGHTS }, (_, day): Values => make(day, day < HISTORY ? 0 : slower));
    return { values, from: HISTORY };
  });
  const alarms = await otavaAlarms(workshop, input);
  return {
    alarmsPerCheck: alarms.reduce((sum, each) => sum + each.length, 0) / (series * NIGHTS),
    found: alarms.filter((each) => each.length > 0).length / series,
  };
}

/** Per series the runs, from the place `from` on, after which Otava reported a new change for the worse. */
export async function otavaAlarms(
  workshop: Workshop,
  series: readonly { readonly values: readonly Values[]; readonly from: number }[],
): Promise<readonly (readonly number[])[]> {
  const python = await workshop.python([PACKAGE]);
  const file = join(workshop.folder, 'otava.json');
  await writeFile(file, JSON.stringify(series));
  const { stdout } = await runProgram(python, [PROGRAM, file], { timeoutSeconds: 600 });
  return JSON.parse(stdout) as readonly (readonly number[])[];
}
