/**
 * `npm test`: every check of the project, on two cores, and one closing line with the sum over all of them, after a line
 * for each skipped test. The output of a check is printed when it has ended. A check without a count of its own (compiler,
 * linter) is one test. `npm run check` (`--quick`): types, lint, and the unit tests of what differs from the main branch.
 */
import { spawn, spawnSync } from 'node:child_process';
import { closeSync, existsSync, mkdtempSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
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
  /** The stage that must have ended before. */
  readonly after?: string;
  /** `log`: the open file to which it writes what it prints. */
  readonly run: (log: number) => Promise<Tally>;
}

const root = fileURLToPath(new URL('..', import.meta.url));
const plugin = join(root, 'grafana-plugin');
const docs = join(root, 'docs');
const reports = mkdtempSync(join(tmpdir(), 'llmbench-test-'));

const PASSED: Tally = { passed: 1, failed: 0, skipped: [] };
const FAILED: Tally = { passed: 0, failed: 1, skipped: [] };

// Started in this order: what fails fast first, then the longest, so that the others run beside it.
const STAGES: readonly Stage[] = [
  // They wait for scrapes and timers three quarters of the time: five files at a time keep one core busy.
  {
    name: 'real servers',
    run: (log) => jest(['run', '-s', 'integration', '--', '--maxWorkers=5'], root, 'integration.json', log),
  },
  { name: 'types', run: (log) => check(['run', '-s', 'typecheck'], root, log) },
  { name: 'lint', run: (log) => check(['run', '-s', 'lint'], root, log) },
  { name: 'plugin: build', run: (log) => check(['run', '-s', 'build'], plugin, log) },
  { name: 'plugin: browser', after: 'plugin: build', run: (log) => playwright('browser.json', log) },
  {
    name: 'plugin: what is built',
    after: 'plugin: build',
    run: (log) => jest(['run', '-s', 'check:dist', '--'], plugin, 'dist.json', log),
  },
  // Some of their files wait for timers, up to half a minute.
  {
    name: 'unit tests',
    run: (log) => jest(['run', '-s', 'unit', '--', '--maxWorkers=3'], root, 'unit.json', log),
  },
  { name: 'plugin: types', run: (log) => check(['run', '-s', 'typecheck'], plugin, log) },
  { name: 'plugin: lint', run: (log) => check(['run', '-s', 'lint'], plugin, log) },
  { name: 'plugin: unit tests', run: (log) => jest(['run', '-s', 'test', '--'], plugin, 'plugin.json', log) },
  { name: 'docs: site', run: (log) => check(['run', '-s', 'build'], docs, log) },
];

/** Those of `npm run check`, with what earlier checks have cached, and with the tests of what changed. */
function quickStages(): readonly Stage[] {
  const files = filesOfBranch();
  const isOfPlugin = files === null || files.some((file) => /^(grafana-plugin|core)\//.test(file));
  const traced = files?.filter((file) => !file.startsWith('grafana-plugin/'));
  const unit = traced?.every(isTraced) ? ['--findRelatedTests', ...traced, ...TEXT_TESTS] : [];
  const ofPlugin: readonly Stage[] = [
    { name: 'plugin: types', run: (log) => check(['run', '-s', 'typecheck'], plugin, log) },
    { name: 'plugin: unit tests', run: (log) => jest(['run', '-s', 'test', '--'], plugin, 'plugin.json', log) },
  ];
  return [
    { name: 'types', run: (log) => check(['run', '-s', 'typecheck'], root, log) },
    { name: 'unit tests', run: (log) => jest(['run', '-s', 'unit', '--', ...unit], root, 'unit.json', log) },
    { name: 'lint', run: (log) => check(['run', '-s', 'lint:cached'], root, log) },
    ...(isOfPlugin ? ofPlugin : []),
  ];
}

/** Tests that read sources and texts of the whole project. */
const TEXT_TESTS = ['tests/layers.test.ts', 'scripts/docs/word-list.test.ts'];

/** Whether the imports show which tests a change of the file concerns; tests also read catalogs, rules, guides and captures. */
const isTraced = (file: string): boolean =>
  /\.ts$/.test(file) && !/fixtures\//.test(file) && existsSync(join(root, file));

/** The files that differ from the main branch, committed or not; null if that branch is unknown. */
function filesOfBranch(): readonly string[] | null {
  const git = (...args: readonly string[]): string | null => {
    const { status, stdout } = spawnSync('git', args, { cwd: root, encoding: 'utf8' });
    return status === 0 ? stdout : null;
  };
  const lines = (text: string | null): readonly string[] => (text ?? '').split('\n').filter((line) => line !== '');
  for (const main of ['origin/HEAD', 'origin/main', 'main']) {
    const base = git('merge-base', 'HEAD', main)?.trim();
    if (base === undefined) continue;
    return [...lines(git('diff', '--name-only', base)), ...lines(git('ls-files', '--others', '--exclude-standard'))];
  }
  return null;
}

function npm(args: readonly string[], cwd: string, log: number, env: NodeJS.ProcessEnv = {}): Promise<number> {
  const child = spawn('npm', args, { cwd, stdio: ['ignore', log, log], env: { ...process.env, ...env } });
  return new Promise((resolve) => {
    child.once('error', (error) => {
      writeSync(log, `npm ${args.join(' ')}: ${error.message}\n`);
      resolve(1);
    });
    child.once('exit', (code) => resolve(code ?? 1));
  });
}

const check = async (args: readonly string[], cwd: string, log: number): Promise<Tally> =>
  (await npm(args, cwd, log)) === 0 ? PASSED : FAILED;

interface JestReport {
  readonly numPassedTests: number;
  readonly numFailedTests: number;
  readonly numRuntimeErrorTestSuites: number;
  readonly testResults: readonly {
    readonly assertionResults: readonly { readonly status: string; readonly fullName: string }[];
  }[];
}

async function jest(args: readonly string[], cwd: string, report: string, log: number): Promise<Tally> {
  const file = join(reports, report);
  const status = await npm([...args, '--json', `--outputFile=${file}`], cwd, log);
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

async function playwright(reportName: string, log: number): Promise<Tally> {
  const file = join(reports, reportName);
  const args = ['run', '-s', 'e2e', '--', '--reporter=list,json'];
  const status = await npm(args, plugin, log, { PLAYWRIGHT_JSON_OUTPUT_NAME: file });
  if (!existsSync(file)) {
    return status === 0 ? { passed: 0, failed: 0, skipped: ['every browser test: no report; see above'] } : FAILED;
  }
  const report = JSON.parse(readFileSync(file, 'utf8')) as PlaywrightReport;
  const failed = report.stats.unexpected + report.stats.flaky;
  const skipped = report.suites.flatMap(skippedIn);
  return { passed: report.stats.expected, failed: status !== 0 && failed === 0 ? 1 : failed, skipped };
}

interface Ended {
  readonly stage: Stage;
  readonly tally: Tally;
  readonly seconds: number;
}

/** Test files and browser tests that failed, as jest and Playwright name them when they have ended. */
const FAILURE = /^(FAIL |\s+✘).*$/gm;
const FAILURES_EVERY_MS = 5000;

/** Runs a stage, names its failures while it runs, and prints its output when it has ended. */
async function perform(stage: Stage): Promise<Ended> {
  const path = join(reports, `${stage.name.replaceAll(/\W+/g, '-')}.log`);
  const log = openSync(path, 'a');
  console.log(`${stage.name} …`);
  const begun = Date.now();
  let named = 0;
  const watch = setInterval(() => {
    const failures = readFileSync(path, 'utf8').match(FAILURE) ?? [];
    for (const line of failures.slice(named)) console.log(`${stage.name}: ${line.trim()}`);
    named = failures.length;
  }, FAILURES_EVERY_MS);
  const tally = await stage.run(log).finally(() => clearInterval(watch));
  const seconds = Math.round((Date.now() - begun) / 1000);
  closeSync(log);
  console.log(`\n── ${stage.name}, ${seconds} s\n${readFileSync(path, 'utf8').trimEnd()}\n`);
  return { stage, tally, seconds };
}

/** Runs the stages in their order, one per core at a time. */
async function performAll(stages: readonly Stage[], cores: number): Promise<readonly Ended[]> {
  const waiting = [...stages];
  const ended: Ended[] = [];
  const running = new Set<Promise<unknown>>();
  const canStart = ({ after }: Stage): boolean =>
    running.size < cores && (after === undefined || ended.some(({ stage }) => stage.name === after));
  while (waiting.length > 0 || running.size > 0) {
    const next = waiting.findIndex(canStart);
    if (next < 0) {
      await Promise.race(running);
      continue;
    }
    for (const stage of waiting.splice(next, 1)) {
      const run = perform(stage).then((end) => {
        ended.push(end);
        running.delete(run);
      });
      running.add(run);
    }
  }
  return stages.flatMap((stage) => ended.filter((end) => end.stage === stage));
}

/** Lines of `git status`; none outside of a checkout. */
function changedFiles(): readonly string[] {
  const { stdout } = spawnSync('git', ['status', '--porcelain'], { cwd: root, encoding: 'utf8' });
  return (stdout ?? '').split('\n').filter((line) => line !== '');
}

/** Tests write only to temporary folders. */
function leftInCheckout(before: readonly string[]): Ended {
  const left = changedFiles().filter((line) => !before.includes(line));
  if (left.length > 0) console.log(`The tests left files in the checkout or changed them:\n${left.join('\n')}\n`);
  const stage: Stage = { name: 'checkout unchanged', run: () => Promise.resolve(PASSED) };
  return { stage, tally: left.length === 0 ? PASSED : FAILED, seconds: 0 };
}

const quick = process.argv.includes('--quick');
const before = changedFiles();
const stages = quick ? quickStages() : STAGES;
const performed = await performAll(stages, Math.min(2, availableParallelism()));
const all = [...performed, leftInCheckout(before)];
rmSync(reports, { recursive: true, force: true });

const rows = all.map(
  ({ stage, tally: { passed, failed, skipped }, seconds }) =>
    `${failed > 0 ? '✗' : '✓'} ${stage.name.padEnd(24)} ${String(passed).padStart(5)} passed ${String(failed).padStart(3)} failed ${String(skipped.length).padStart(3)} skipped ${String(seconds).padStart(4)} s`,
);
const reasons = all.flatMap(({ stage, tally }) => tally.skipped.map((test) => `skipped: ${stage.name}: ${test}`));
const sum = (count: (tally: Tally) => number): number => all.reduce((total, { tally }) => total + count(tally), 0);
const [passed, failed] = [sum((tally) => tally.passed), sum((tally) => tally.failed)];
console.log(`${[...rows, ...reasons].join('\n')}\n`);
console.log(`${passed} passed, ${failed} failed, ${reasons.length} skipped`);
process.exitCode = failed === 0 && passed > 0 ? 0 : 1;
