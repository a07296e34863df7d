import { spawn, type ChildProcess } from 'node:child_process';
import { createInterface } from 'node:readline';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { renderPrometheusConfig } from '../../../prometheus/config.ts';
import { startPrometheus } from '../../../prometheus/server.ts';
import { command } from '../command.ts';
import { CliError, ExitCode } from '../failure.ts';
import { flag, seconds, text } from '../options/options.ts';
import { untilStopped } from '../until-stopped.ts';
import { run as runBenchmarkCommand } from './run.ts';

const LAUNCHER = process.argv[1] ?? '';
const STOP_WITHIN_MS = 5_000;

/** A child process that ends with this one. */
interface StartedProcess {
  readonly pid: number;
  stop(): Promise<void>;
}

/**
 * Starts another llmbench command in a process of its own and waits for the one JSON line with which it says that it is
 * ready. It is in a process group of its own, so that Ctrl-C reaches only the parent, which then stops it in order.
 */
async function startCommand<Ready>(args: readonly string[]): Promise<StartedProcess & { readonly ready: Ready }> {
  const child = spawn(process.execPath, [LAUNCHER, ...args, '--json'], {
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  const started = asStartedProcess(child, `llmbench ${args[0] ?? ''}`);
  const ready = JSON.parse(await firstLine(child, `llmbench ${args[0] ?? ''}`)) as Ready;
  return { ...started, ready };
}

function asStartedProcess(child: ChildProcess, name: string): StartedProcess {
  if (child.pid === undefined) throw new CliError(`${name} could not be started`, ExitCode.failed);
  const ended = new Promise<void>((resolve) => {
    child.once('exit', () => resolve());
    child.once('error', () => resolve());
  });
  const stop = async (): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill('SIGTERM');
    const force = setTimeout(() => child.kill('SIGKILL'), STOP_WITHIN_MS);
    await ended;
    clearTimeout(force);
  };
  return { pid: child.pid, stop };
}

function firstLine(child: ChildProcess, name: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const { stdout, stderr } = child;
    if (stdout === null || stderr === null) throw new Error('a command is started with pipes');
    let complaint = '';
    stderr.setEncoding('utf8').on('data', (piece: string) => (complaint = (complaint + piece).slice(-500)));
    child.once('exit', (code) =>
      reject(new CliError(`${name} ended with ${String(code)}: ${complaint.trim()}`, ExitCode.failed)),
    );
    createInterface(stdout).once('line', (line) => {
      stdout.resume();
      resolve(line);
    });
  });
}

/** Path of the `prometheus` binary: from PROMETHEUS, PATH or the project's cache; null when there is none. */
function findPrometheus(): string | null {
  const named = process.env['PROMETHEUS'];
  if (named !== undefined) return existsSync(named) ? named : null;
  const cache = fileURLToPath(new URL('../../../.cache/prometheus/usr/bin', import.meta.url));
  const folders = [...(process.env['PATH'] ?? '').split(delimiter), cache];
  return folders.map((folder) => join(folder, 'prometheus')).find((program) => existsSync(program)) ?? null;
}

/** Starts Prometheus with the project's configuration on a free port; its data is deleted when it stops. */
async function startDemoPrometheus(
  program: string,
  exporterAddress: string,
): Promise<{ readonly url: string; stop(): Promise<void> }> {
  const folder = mkdtempSync(join(tmpdir(), 'llmbench-prometheus-'));
  const discard = (): void => rmSync(folder, { recursive: true, force: true });
  const ruleFiles = ['rules', 'alerts'].map((rules) =>
    fileURLToPath(new URL(`../../../prometheus/${rules}/*.yml`, import.meta.url)),
  );
  const configFile = join(folder, 'prometheus.yml');
  // The shortest, so that the demo waits little before its run and after it.
  const runSeconds = { scrape: 1, discovery: 1 };
  writeFileSync(configFile, renderPrometheusConfig({ exporterAddress, ruleFiles, runSeconds }));
  try {
    const server = await startPrometheus({
      programs: { prometheus: program },
      configFile,
      dataFolder: join(folder, 'data'),
      detached: true,
    });
    const stop = async (): Promise<void> => {
      await server.stop();
      discard();
    };
    return { url: server.url, stop };
  } catch (error) {
    discard();
    throw error;
  }
}

export const OPTIONS = {
  once: flag('exit after the result instead of serving it until Ctrl-C'),
  'benchmark-duration': seconds('duration of the benchmark', { min: 1, max: 3600 }, 12),
  'runs-dir': text('DIR', 'directory in which to store the run', 'runs'),
};

const EXAMPLES = ['npm start', 'npm start -- --once', 'llmbench demo --benchmark-duration 60'];

const NO_PROMETHEUS =
  'Prometheus: `prometheus` was not found, the demo continues without it; ' +
  'install it (Debian: apt install prometheus, macOS: brew install prometheus) or set PROMETHEUS to its path';

/** Runs simulator, exporter, Prometheus and a benchmark as real processes on free local ports. */
export const run = command(OPTIONS, { usage: 'llmbench demo [options]', examples: EXAMPLES }, async ({ options }) => {
  const started: Pick<StartedProcess, 'stop'>[] = [];
  const stopAll = async (): Promise<void> => {
    for (const part of started.splice(0).reverse()) await part.stop();
  };
  try {
    return await demonstrate(options, (part) => started.push(part));
  } finally {
    await stopAll();
  }
});

interface DemoOptions {
  readonly once: boolean;
  readonly 'benchmark-duration': number;
  readonly 'runs-dir': string;
}

async function demonstrate(options: DemoOptions, keep: (part: Pick<StartedProcess, 'stop'>) => void): Promise<number> {
  const runsDir = options['runs-dir'];
  const starting = [
    startCommand<{ url: string }>(['simulate', '--system', 'vllm', '--plain', '--port', '0']),
    startCommand<{ url: string }>(['serve', '--runs-dir', runsDir, '--port', '0']),
  ] as const;
  for (const part of await Promise.allSettled(starting)) if (part.status === 'fulfilled') keep(part.value);
  const [simulator, exporter] = await Promise.all(starting);
  const program = findPrometheus();
  const prometheus = program === null ? null : await startDemoPrometheus(program, new URL(exporter.ready.url).host);
  if (prometheus !== null) keep(prometheus);

  say(`simulated vLLM  ${simulator.ready.url}`);
  say(`exporter        ${exporter.ready.url}/metrics`);
  say(prometheus === null ? NO_PROMETHEUS : `Prometheus      ${prometheus.url}`);
  say('');

  const code = await runBenchmarkCommand([
    ...['--url', simulator.ready.url, '--model', 'sim-model', '--scenario', 'demo', '--runs-dir', runsDir],
    ...['--concurrency', '8', '--isl', '256', '--osl', '64', '--warmup-request-count', '8'],
    ...['--benchmark-duration', String(options['benchmark-duration'])],
  ]);
  if (options.once || code !== ExitCode.done) return code;

  say('');
  if (prometheus !== null) say(`The run in Prometheus: ${prometheus.url}/graph?${graphQuery()}`);
  say(`The finished run as metrics: ${exporter.ready.url}/metrics · press Ctrl-C to stop`);
  await untilStopped();
  return ExitCode.done;
}

/** Query string of Prometheus' graph page: p99 of the client's TTFT over the last minutes. */
function graphQuery(): string {
  const expression =
    'histogram_quantile(0.99, sum by (run_id, le) (rate(llmbench_time_to_first_token_seconds_bucket[10s])))';
  return new URLSearchParams({ 'g0.expr': expression, 'g0.tab': '0', 'g0.range_input': '5m' }).toString();
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}
