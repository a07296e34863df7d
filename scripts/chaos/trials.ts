import { execFileSync } from 'node:child_process';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { seededRandom } from '../../core/stats/seeded-random.ts';
import {
  countedChanges,
  disturbed,
  killedAtChange,
  mayMount,
  onSmallDisk,
  withClockJump,
  withSmallFiles,
  type Ended,
} from './disturbances.ts';
import { SCENES, storeProblems, UNDISTURBED, type Scene } from './scenes.ts';
import { openWorld, type World } from './world.ts';

export interface ChaosPlan {
  /** Trials of each scene with each kind of disturbance. */
  readonly rounds: number;
  readonly seed: number;
  /** No trial begins after this time. */
  readonly minutes: number;
  /** Names of scenes; empty: all. */
  readonly scenes: readonly string[];
  readonly say: (line: string) => void;
}

export interface ChaosTally {
  /** Rounds that ran whole; fewer than planned when the time was over. */
  readonly rounds: number;
  readonly trials: number;
  /** Processes that were ended with SIGKILL. */
  readonly kills: number;
  readonly problems: readonly string[];
}

type Kind = 'kill at a change' | 'kill at a time' | 'small files' | 'small disk' | 'closed pipes' | 'clock jump';

const CLOCK_JUMPS_SECONDS = [3600, -3600] as const;
/** A command that cannot write must report it in its last line, without a stack trace. */
const STACK_TRACE = /^ {4}at /m;

interface PreparedScene {
  readonly scene: Scene;
  /** Changes of the file system, and the time, of the undisturbed command. */
  readonly changes: number;
  readonly took_ms: number;
}

/**
 * Disturbs every scene in every way with random strength, and checks after each that nothing finished is lost. A round is one
 * trial of each scene with each kind of disturbance, so that a run that is short of time still tries all of them.
 */
export async function chaos({ rounds, minutes, seed, scenes, say }: ChaosPlan): Promise<ChaosTally> {
  const until_ms = performance.now() + minutes * 60_000;
  const random = seededRandom(seed);
  const world = await openWorld();
  const problems: string[] = [];
  let trials = 0;
  let kills = 0;
  let whole = 0;
  try {
    const prepared: PreparedScene[] = [];
    for (const scene of SCENES.filter(({ name }) => scenes.length === 0 || scenes.includes(name))) {
      prepared.push(await prepare(world, scene, say));
    }
    const round = prepared.flatMap((scene) => kindsOf(scene.scene).map((kind) => ({ ...scene, kind })));
    while (whole < rounds) {
      for (const { scene, kind, changes, took_ms } of round) {
        if (performance.now() > until_ms) return { rounds: whole, trials, kills, problems };
        const strength = random();
        const { ended, wrong } = await trial(world, scene, kind, { strength, changes, took_ms, number: trials });
        trials += 1;
        if (ended.killed) kills += 1;
        problems.push(...wrong.map((line) => `${scene.name}, ${kind}, strength ${strength}: ${line}`));
      }
      whole += 1;
      say(`round ${whole}: ${trials} trials, ${kills} kills, ${problems.length} problems`);
    }
    return { rounds: whole, trials, kills, problems };
  } finally {
    await world.close();
  }
}

async function prepare(world: World, scene: Scene, say: ChaosPlan['say']): Promise<PreparedScene> {
  await rm(join(world.folder, UNDISTURBED), { recursive: true, force: true });
  const undisturbed = await world.copy(UNDISTURBED);
  const begun_ms = performance.now();
  const changes = await countedChanges(scene.argv(world, undisturbed), join(world.folder, 'changes'));
  const took_ms = performance.now() - begun_ms;
  say(`${scene.name.padEnd(10)} ${changes} changes of files in ${(took_ms / 1000).toFixed(1)} s`);
  return { scene, changes, took_ms };
}

function kindsOf({ name }: Scene): readonly Kind[] {
  return [
    ...(['kill at a change', 'kill at a time', 'small files', 'closed pipes'] as const),
    ...(mayMount() ? (['small disk'] as const) : []),
    ...(name === 'run' ? (['clock jump'] as const) : []),
  ];
}

interface Strength {
  /** From 0 to 1. */
  readonly strength: number;
  /** Changes of the file system, and the time, of the undisturbed command. */
  readonly changes: number;
  readonly took_ms: number;
  readonly number: number;
}

async function trial(
  world: World,
  scene: Scene,
  kind: Kind,
  given: Strength,
): Promise<{ ended: Ended; wrong: readonly string[] }> {
  const runs = await world.copy(`trial-${given.number}`);
  const answered = world.answeredAt_ms.length;
  const received = world.receiver.requests.length;
  const argv = scene.argv(world, runs);
  /** Without what other trials sent to the servers. */
  const sinceThen = (): World => ({
    ...world,
    answeredAt_ms: world.answeredAt_ms.slice(answered),
    receiver: { ...world.receiver, requests: world.receiver.requests.slice(received) },
  });
  const ended = await disturbedBy(kind, argv, runs, given);
  const wrong = [...(await storeProblems(runs, scene.removes))];
  if (STACK_TRACE.test(ended.stderr)) wrong.push(`a stack trace: ${ended.stderr}`);
  const noSpace = kind === 'small files' || kind === 'small disk';
  wrong.push(...((await scene.disturbed?.(sinceThen(), runs, { at_ms: ended.at_ms, noSpace })) ?? []));
  const again = await disturbed(argv);
  wrong.push(...(await storeProblems(runs, scene.removes)), ...(await scene.repeated(sinceThen(), runs, again.code)));
  return { ended, wrong };
}

function disturbedBy(
  kind: Kind,
  argv: readonly string[],
  runs: string,
  { strength, changes, took_ms }: Strength,
): Promise<Ended> {
  switch (kind) {
    case 'kill at a change':
      return killedAtChange(argv, 1 + Math.floor(strength * changes));
    case 'kill at a time':
      return disturbed(argv, { killAfter_ms: strength * took_ms });
    case 'small files':
      return withSmallFiles(argv, 1 + Math.floor(strength * 60));
    case 'small disk':
      return onSmallDisk(argv, runs, sizeKib(runs) + Math.floor(strength * 200));
    case 'closed pipes':
      return disturbed(argv, { closePipes: true });
    case 'clock jump':
      return withClockJump(argv, CLOCK_JUMPS_SECONDS[Math.floor(strength * CLOCK_JUMPS_SECONDS.length)] ?? 0);
  }
}

const sizeKib = (folder: string): number =>
  Number(execFileSync('du', ['-sk', folder], { encoding: 'utf8' }).split('\t')[0]);
