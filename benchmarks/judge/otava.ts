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

/** Series of each change. */
const SERIES = 30;

export interface OtavaResult {
  /** New changes for the worse per night. */
  readonly alarmsPerCheck: number;
  /** Share of the series with an alarm in time. */
  readonly found: number;
}

/**
 * Apache Otava on series of a history and some nights, by world and by how many margins the first measure is slower in all of these.
 * Throws `Unavailable` where it cannot be installed.
 */
export async function otava(
  workshop: Workshop,
  worlds: readonly World[],
  scatter: number,
  changes: readonly number[],
): Promise<ReadonlyMap<World, readonly OtavaResult[]>> {
  const input = worlds.flatMap((world) =>
    changes.flatMap((slower) => {
      const random = seededRandom(`otava ${world.name} ${scatter} ${slower}`);
      return Array.from({ length: SERIES }, () => {
        const make = runMaker(world, random, scatter);
        const day = (at: number): Values => make(at, at < HISTORY ? 0 : slower);
        return { values: Array.from({ length: HISTORY + NIGHTS }, (_, at) => day(at)), from: HISTORY };
      });
    }),
  );
  const alarms = await otavaAlarms(workshop, input);
  const resultOf = (cell: number): OtavaResult => {
    const own = alarms.slice(cell * SERIES, (cell + 1) * SERIES);
    return {
      alarmsPerCheck: own.reduce((sum, each) => sum + each.length, 0) / (SERIES * NIGHTS),
      found: own.filter((each) => each.length > 0).length / SERIES,
    };
  };
  return new Map(worlds.map((world, w) => [world, changes.map((_, c) => resultOf(w * changes.length + c))]));
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
