/**
 * `node scripts/jest.ts <project> [jest's own arguments and path patterns]`: runs jest with the flag that its support for
 * ES modules needs.
 */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const jest = fileURLToPath(new URL('../node_modules/jest/bin/jest.js', import.meta.url));
// Accepts `--selectProjects unit` as well; jest takes everything behind that flag for a project, so it goes last. After a
// `--`, jest would take the flag for a path and run every project.
const IGNORED = ['--selectProjects', '--'];
const [project = 'unit', ...rest] = process.argv.slice(2).filter((argument) => !IGNORED.includes(argument));
// A limit against hanging, not a measure of speed: a busy machine may take its time.
const TEST_TIMEOUT_MS = 300_000;
// Test files load many modules that are dead soon: with room for them, collecting garbage takes a tenth less of all time.
const MEMORY = '--max-semi-space-size=64';
/** Also of the programs that tests start with folders for temporary files of their own. */
const COMPILE_CACHE = fileURLToPath(new URL('../.cache/node/', import.meta.url));
/** The heaps of promtool and of Prometheus are small here: collecting a quarter as often saves a third of their time. */
const GOGC = '300';
const flags = ['--experimental-vm-modules', '--disable-warning=ExperimentalWarning', MEMORY];
const run = spawnSync(
  process.execPath,
  [...flags, jest, `--testTimeout=${TEST_TIMEOUT_MS}`, ...rest, '--selectProjects', project],
  // The text that the commands print depends on the character set of the locale.
  { stdio: 'inherit', env: { NODE_COMPILE_CACHE: COMPILE_CACHE, GOGC, ...process.env, LC_ALL: 'C.UTF-8' } },
);
process.exitCode = run.status ?? 1;
