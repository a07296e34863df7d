/** Runs jest with the flag that its support for ES modules needs; arguments are passed on. */
import { spawnSync } from 'node:child_process';

const jest = new URL('../node_modules/jest/bin/jest.js', import.meta.url).pathname;
const run = spawnSync(
  process.execPath,
  ['--experimental-vm-modules', '--disable-warning=ExperimentalWarning', jest, ...process.argv.slice(2)],
  {
    stdio: 'inherit',
  },
);
process.exitCode = run.status ?? 1;
