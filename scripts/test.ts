/**
 * `npm test`: every check of the project, on two cores, and one closing line with the sum over all of them, after a line
 * for each skipped test. The output of a check is printed when it has ended. A check without a count of its own (compiler,
 * linter) is one test. `npm run check` (`--quick`): only the checks that need neither servers nor a browser.
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
  readonly quick?: true;
  /** The stage that must have ended before. */
  readonly after?: string;
  /** How many cores it keeps busy; default 1. */
  readonly cores?: number;
  /** `log`: the open file to which it writes what it prints. */
  readonly run: (log: number) => Promise<Tally>;
}

const root = fileURLToPath(new URL('..', import.meta.url));
const plugin = join(root, 'grafana-plugin');
const docs = join(root, 'docs');
const reports = mkdtempSync(join(tmpdir(), 'llmbench-test-'));

const PASSED: Tally = { passed: 1, failed: 0, skipped: [] };
const FAILED: Tally = { passed: 0, failed: 1, skipped: [] };

// Started in this order: the longest early, so that the others run beside it.
const STAGES: readonly Stage[] = [
  // They wait for scrapes and timers more than half of the time: both halves together keep one core busy.
  { name: 'real servers, 1 of 2', cores: 0.5, run: (log) => integration('1/2', log) },
  { name: 'real servers, 2 of 2', cores: 0.5, run: (log) => integration('2/2', log) },
  { name: 'types', quick: true, run: (log) => check(['run', '-s', 'typecheck'], root, log) },
  { name: 'lint', quick: true, run: (log) => check(['run', '-s', 'lint'], root, log) },
  { name: 'plugin: build', run: (log) => check(['run', '-s', 'build'], plugin, log) },
  {
    name: 'plugin: what is built',
    after: 'plugin: build',
    run: (log) => jest(['run', '-s', 'check:dist', '--'], plugin, 'dist.json', log),
  },
  { name: 'plugin: browser', after: 'plugin: build', run: (log) => playwright('browser.json', log) },
  { name: 'unit tests', quick: true, run: (log) => jest(['run', '-s', 'unit', '--'], root, 'unit.json', log) },
  { name: 'plugin: types', quick: true, run: (log) => check(['run', '-s', 'typecheck'], plugin, log) },
  { name: 'plugin: lint', run: (log) => check(['run', '-s', 'lint'], plugin, log) },
  {
    name: 'plugin: unit tests',
    quick: true,
    run: (log) => jest(['run', '-s', 'test', '--'], plugin, 'plugin.json', log),
  },
  { name: 'docs: site', run: (log) => check(['run', '-s', 'build'], docs, log) },
];

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

const integration = (shard: string, log: number): Promise<Tally> =>
  jest(
    ['run', '-s', 'integration', '--', '--runInBand', `--shard=${shard}`],
    root,
    `integration-${shard.replace('/', '-of-')}.json`,
    log,
  );

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
  const path = join(reports, `${STAGES.indexOf(stage)}.log`);
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

/** Runs the stages in their order, as many at once as keep so many cores busy. */
async function performAll(stages: readonly Stage[], cores: number): Promise<readonly Ended[]> {
  const waiting = [...stages];
  const ended: Ended[] = [];
  const running = new Set<Promise<unknown>>();
  let busyCores = 0;
  const canStart = ({ after, cores: needed = 1 }: Stage): boolean =>
    busyCores + needed <= cores && (after === undefined || ended.some(({ stage }) => stage.name === after));
  while (waiting.length > 0 || running.size > 0) {
    const next = waiting.findIndex(canStart);
    if (next < 0) {
      await Promise.race(running);
      continue;
    }
    for (const stage of waiting.splice(next, 1)) {
      const { cores: needed = 1 } = stage;
      busyCores += needed;
      const run = perform(stage).then((end) => {
        busyCores -= needed;
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
const performed = await performAll(
  STAGES.filter((stage) => !quick || stage.quick),
  Math.min(2, availableParallelism()),
);
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
