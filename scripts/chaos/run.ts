/**
 * `npm run chaos`: kills llmbench commands with SIGKILL at random changes of the file system and at random times, fills the
 * disk, closes the pipes and sets the clock, and checks after each trial that nothing finished is lost and nothing
 * half-written is read. Exit code 1 if something was wrong.
 */
import { namedArguments, readScriptOptions, wholeNumber } from '../script-options.ts';
import { SCENES } from './scenes.ts';
import { chaos } from './trials.ts';

const USAGE = `usage: npm run chaos -- [options]

  --rounds N    trials of each scene with each kind of disturbance (default 10)
  --minutes N   begin no further trial after this time (default 10)
  --seed S      seed of the disturbances (default random)
  --scene NAME  only this one; may be given several times: ${SCENES.map(({ name }) => name).join(', ')}
`;

const plan = options();
console.log(`seed ${plan.seed}, ${plan.rounds} rounds within ${plan.minutes} min`);
const { rounds, trials, kills, problems } = await chaos({ ...plan, say: console.log });
for (const problem of problems) console.error(problem);
console.log(`${rounds} of ${plan.rounds} rounds, ${trials} trials, ${kills} kills, ${problems.length} problems`);
process.exitCode = problems.length === 0 ? 0 : 1;

function options(): { rounds: number; minutes: number; seed: number; scenes: readonly string[] } {
  const known = {
    rounds: { type: 'string', default: '10' },
    minutes: { type: 'string', default: '10' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    scene: { type: 'string', multiple: true, default: [] as string[] },
  } as const;
  return readScriptOptions(
    { usage: USAGE, options: known },
    ({ rounds, minutes, seed, scene: scenes }, positionals) => {
      namedArguments(positionals, []);
      const unknown = scenes.find((name) => !SCENES.some((scene) => scene.name === name));
      if (unknown !== undefined) throw new Error(`there is no scene '${unknown}'`);
      return {
        rounds: wholeNumber('rounds', rounds, { min: 1 }),
        minutes: wholeNumber('minutes', minutes, { min: 1 }),
        seed: wholeNumber('seed', seed, { min: 0 }),
        scenes,
      };
    },
  );
}
