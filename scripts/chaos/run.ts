/**
 * `npm run chaos`: kills llmbench commands with SIGKILL at random changes of the file system and at random times, fills the
 * disk, closes the pipes and sets the clock, and checks after each trial that nothing finished is lost and nothing
 * half-written is read. Exit code 1 if something was wrong.
 *
 * usage: npm run chaos -- [--rounds N] [--seed S] [--scene NAME …]
 */
import { parseArgs } from 'node:util';
import { chaos } from './trials.ts';

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '10' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    scene: { type: 'string', multiple: true, default: [] },
  },
});
const [rounds, seed] = [Number(values.rounds), Number(values.seed)];
console.log(`seed ${seed}, ${rounds} rounds`);
const { trials, kills, problems } = await chaos({ rounds, seed, scenes: values.scene, say: console.log });
for (const problem of problems) console.error(problem);
console.log(`${trials} trials, ${kills} kills, ${problems.length} problems`);
process.exitCode = problems.length === 0 ? 0 : 1;
