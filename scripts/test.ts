/**
 * `npm test`: every check of the project, one after the other (two at once would spoil time limits), and one closing line
 * summed over all of them. A check without a count of its own (compiler, linter) is one test.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

interface Tally {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
}

interface Stage {
  readonly name: string;
  readonly run: () => Tally;
}

const root = fileURLToPath(new URL('..', import.meta.url));
const plugin = join(root, 'grafana-plugin');
const reports = mkdtempSync(join(tmpdir(), 'llmbench-test-'));
mkdirSync(reports, { recursive: true });

const PASSED: Tally = { passed: 1, failed: 0, skipped: 0 };
const FAILED: Tally = { passed: 0, failed: 1, skipped: 0 };

const STAGES: readonly Stage[] = [
  { name: 'types', run: () => check('npm', ['run', '-s', 'typecheck'], root) },
  { name: 'lint', run: () => check('npm', ['run', '-s', 'lint'], root) },
  { name: 'unit tests', run: () => jest('npm', ['run', '-s', 'unit', '--'], root, 'unit.json') },
  {
    name: 'tests with real servers',
    run: () => jest('npm', ['run', '-s', 'integration', '--', '--runInBand'], root, 'integration.json'),
  },
  { name: 'plugin: types', run: () => check('npm', ['run', '-s', 'typecheck'], plugin) },
  { name: 'plugin: lint', run: () => check('npm', ['run', '-s', 'lint'], plugin) },
  { name: 'plugin: unit tests', run: () => jest('npm', ['run', '-s', 'test', '--'], plugin, 'plugin.json') },
  { name: 'plugin: build', run: () => check('npm', ['run', '-s', 'build'], plugin) },
  { name: 'plugin: what is built', run: () => jest('npm', ['run', '-s', 'check:dist', '--'], plugin, 'dist.json') },
  { name: 'plugin: browser', run: () => playwright('browser.json') },
];

function spawn(command: string, args: readonly string[], cwd: string, env: NodeJS.ProcessEnv = {}): number {
  const { status, error } = spawnSync(command, args, {
    cwd,
    stdio: ['ignore', 'inherit', 'inherit'],
    env: { ...process.env, ...env },
  });
  if (error) console.error(`${command} ${args.join(' ')}: ${error.message}`);
  return status ?? 1;
}

const check = (command: string, args: readonly string[], cwd: string): Tally =>
  spawn(command, args, cwd) === 0 ? PASSED : FAILED;

interface JestReport {
  readonly numPassedTests: number;
  readonly numFailedTests: number;
  readonly numPendingTests: number;
  readonly numRuntimeErrorTestSuites: number;
}

function jest(command: string, args: readonly string[], cwd: string, report: string): Tally {
  const file = join(reports, report);
  const status = spawn(command, [...args, '--json', `--outputFile=${file}`], cwd);
  if (!existsSync(file)) return FAILED;
  const { numPassedTests, numFailedTests, numPendingTests, numRuntimeErrorTestSuites } = JSON.parse(
    readFileSync(file, 'utf8'),
  ) as JestReport;
  const failed = numFailedTests + numRuntimeErrorTestSuites;
  return { passed: numPassedTests, failed: status !== 0 && failed === 0 ? 1 : failed, skipped: numPendingTests };
}

interface PlaywrightReport {
  readonly stats: {
    readonly expected: number;
    readonly unexpected: number;
    readonly flaky: number;
    readonly skipped: number;
  };
}

function playwright(report: string): Tally {
  const file = join(reports, report);
  const status = spawn('npm', ['run', '-s', 'e2e', '--', '--reporter=list,json'], plugin, {
    PLAYWRIGHT_JSON_OUTPUT_NAME: file,
  });
  if (!existsSync(file)) return status === 0 ? { ...PASSED, passed: 0, skipped: 1 } : FAILED;
  const { expected, unexpected, flaky, skipped } = (JSON.parse(readFileSync(file, 'utf8')) as PlaywrightReport).stats;
  const failed = unexpected + flaky;
  return { passed: expected, failed: status !== 0 && failed === 0 ? 1 : failed, skipped };
}

const total = { passed: 0, failed: 0, skipped: 0 };
const rows: string[] = [];
for (const stage of STAGES) {
  console.log(`\n── ${stage.name}`);
  const begun = Date.now();
  const { passed, failed, skipped } = stage.run();
  total.passed += passed;
  total.failed += failed;
  total.skipped += skipped;
  const seconds = Math.round((Date.now() - begun) / 1000);
  rows.push(
    `${failed > 0 ? '✗' : '✓'} ${stage.name.padEnd(24)} ${String(passed).padStart(5)} passed ${String(failed).padStart(3)} failed ${String(skipped).padStart(3)} skipped ${String(seconds).padStart(4)} s`,
  );
}
rmSync(reports, { recursive: true, force: true });

console.log(`\n${rows.join('\n')}\n`);
console.log(`${total.passed} passed, ${total.failed} failed${total.skipped > 0 ? `, ${total.skipped} skipped` : ''}`);
process.exitCode = total.failed === 0 && total.passed > 0 ? 0 : 1;
