/**
 * `npm test`: every check of the project, one after the other (two at once would spoil time limits), and one closing line
 * with the sum over all of them, after a line for each skipped test. A check without a count of its own (compiler, linter)
 * is one test. `npm run check` (`--quick`): only the checks that need neither servers nor a browser.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

interface Tally {
  readonly passed: number;
  readonly failed: number;
  /** Names of the skipped tests, each with its reason where the test states one. */
  readonly skipped: readonly string[];
}

interface Stage {
  readonly name: string;
  readonly quick?: true;
  readonly run: () => Tally;
}

const root = fileURLToPath(new URL('..', import.meta.url));
const plugin = join(root, 'grafana-plugin');
const reports = mkdtempSync(join(tmpdir(), 'llmbench-test-'));
mkdirSync(reports, { recursive: true });

const PASSED: Tally = { passed: 1, failed: 0, skipped: [] };
const FAILED: Tally = { passed: 0, failed: 1, skipped: [] };

const STAGES: readonly Stage[] = [
  { name: 'types', quick: true, run: () => check('npm', ['run', '-s', 'typecheck'], root) },
  { name: 'lint', quick: true, run: () => check('npm', ['run', '-s', 'lint'], root) },
  { name: 'unit tests', quick: true, run: () => jest('npm', ['run', '-s', 'unit', '--'], root, 'unit.json') },
  {
    name: 'tests with real servers',
    run: () => jest('npm', ['run', '-s', 'integration', '--', '--runInBand'], root, 'integration.json'),
  },
  { name: 'plugin: types', quick: true, run: () => check('npm', ['run', '-s', 'typecheck'], plugin) },
  { name: 'plugin: lint', run: () => check('npm', ['run', '-s', 'lint'], plugin) },
  {
    name: 'plugin: unit tests',
    quick: true,
    run: () => jest('npm', ['run', '-s', 'test', '--'], plugin, 'plugin.json'),
  },
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
  readonly numRuntimeErrorTestSuites: number;
  readonly testResults: readonly {
    readonly assertionResults: readonly { readonly status: string; readonly fullName: string }[];
  }[];
}

function jest(command: string, args: readonly string[], cwd: string, report: string): Tally {
  const file = join(reports, report);
  const status = spawn(command, [...args, '--json', `--outputFile=${file}`], cwd);
  if (!existsSync(file)) return FAILED;
  const { numPassedTests, numFailedTests, numRuntimeErrorTestSuites, testResults } = JSON.parse(
    readFileSync(file, 'utf8'),
  ) as JestReport;
  const failed = numFailedTests + numRuntimeErrorTestSuites;
  const skipped = testResults.flatMap(({ assertionResults }) =>
    assertionResults.filter((test) => test.status === 'pending').map((test) => test.fullName),
  );
  return { passed: numPassedTests, failed: status !== 0 && failed === 0 ? 1 : failed, skipped };
}

interface PlaywrightSuite {
  readonly suites?: readonly PlaywrightSuite[];
  readonly specs?: readonly {
    readonly title: string;
    readonly tests: readonly {
      readonly status: string;
      readonly annotations?: readonly { readonly type: string; readonly description?: string }[];
    }[];
  }[];
}

interface PlaywrightReport {
  readonly stats: { readonly expected: number; readonly unexpected: number; readonly flaky: number };
  readonly suites: readonly PlaywrightSuite[];
}

function skippedIn({ suites = [], specs = [] }: PlaywrightSuite): string[] {
  const here = specs.flatMap(({ title, tests }) =>
    tests.flatMap(({ status, annotations = [] }) => {
      if (status !== 'skipped') return [];
      const reason = annotations.find(({ type }) => type === 'skip' || type === 'fixme')?.description;
      return [reason === undefined ? title : `${title}: ${reason}`];
    }),
  );
  return [...here, ...suites.flatMap(skippedIn)];
}

function playwright(reportName: string): Tally {
  const file = join(reports, reportName);
  const status = spawn('npm', ['run', '-s', 'e2e', '--', '--reporter=list,json'], plugin, {
    PLAYWRIGHT_JSON_OUTPUT_NAME: file,
  });
  if (!existsSync(file)) {
    return status === 0 ? { passed: 0, failed: 0, skipped: ['every browser test: no report; see above'] } : FAILED;
  }
  const report = JSON.parse(readFileSync(file, 'utf8')) as PlaywrightReport;
  const failed = report.stats.unexpected + report.stats.flaky;
  const skipped = report.suites.flatMap(skippedIn);
  return { passed: report.stats.expected, failed: status !== 0 && failed === 0 ? 1 : failed, skipped };
}

const total = { passed: 0, failed: 0, skipped: 0 };
const rows: string[] = [];
const reasons: string[] = [];
const quick = process.argv.includes('--quick');
for (const stage of STAGES.filter((candidate) => !quick || candidate.quick)) {
  console.log(`\n── ${stage.name}`);
  const begun = Date.now();
  const { passed, failed, skipped } = stage.run();
  total.passed += passed;
  total.failed += failed;
  total.skipped += skipped.length;
  reasons.push(...skipped.map((test) => `skipped: ${stage.name}: ${test}`));
  const seconds = Math.round((Date.now() - begun) / 1000);
  rows.push(
    `${failed > 0 ? '✗' : '✓'} ${stage.name.padEnd(24)} ${String(passed).padStart(5)} passed ${String(failed).padStart(3)} failed ${String(skipped.length).padStart(3)} skipped ${String(seconds).padStart(4)} s`,
  );
}
rmSync(reports, { recursive: true, force: true });

console.log(`\n${[...rows, ...reasons].join('\n')}\n`);
console.log(`${total.passed} passed, ${total.failed} failed, ${total.skipped} skipped`);
process.exitCode = total.failed === 0 && total.passed > 0 ? 0 : 1;
