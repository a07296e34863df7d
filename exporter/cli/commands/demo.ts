import { startCommand, type StartedProcess } from '../child-process.ts';
import { ExitCode } from '../failure.ts';
import { command } from '../declare-command.ts';
import { flag, seconds, text } from '../options/options.ts';
import { findPrometheus, startDemoPrometheus } from './demo-prometheus.ts';
import { run as runBenchmarkCommand } from './run.ts';
import { untilStopped } from '../until-stopped.ts';

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
