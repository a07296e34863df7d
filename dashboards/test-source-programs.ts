import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import type { FinishedRun, TestSource } from './test-source.ts';

const LAUNCHER = fileURLToPath(new URL('../bin/llmbench.js', import.meta.url));
const BENCHMARK_SECONDS = '15';

interface RunResult {
  readonly run_id: string;
  readonly status: string;
  readonly window: { readonly start: string; readonly end: string };
}

/** The real thing: `llmbench simulate` and `serve` as processes, and `llmbench run` against them. */
export async function startPrograms(): Promise<TestSource> {
  const runsFolder = await mkdtemp(join(tmpdir(), 'llmbench-dashboards-runs-'));
  const started: ChildProcess[] = [];
  const stop = async (): Promise<void> => {
    for (const child of started.splice(0)) await end(child);
    await rm(runsFolder, { recursive: true, force: true });
  };
  const start = async (...args: string[]): Promise<string> => {
    const child = llmbench(...args, '--port', '0', '--json');
    started.push(child);
    return readyUrl(child, args.join(' '));
  };
  try {
    const server = await start('simulate', '--system', 'vllm');
    const exporter = await start('serve', '--runs-dir', runsFolder);
    return { exporterAddress: new URL(exporter).host, run: () => benchmark(server, runsFolder), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

function llmbench(...args: string[]): ChildProcess {
  return spawn(process.execPath, [LAUNCHER, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
}

async function benchmark(url: string, runsFolder: string): Promise<FinishedRun> {
  const child = llmbench(
    ...['run', '--url', url, '--model', 'sim-model', '--runs-dir', runsFolder, '--json'],
    ...['--concurrency', '8', '--benchmark-duration', BENCHMARK_SECONDS, '--warmup-request-count', '8'],
  );
  const exited = once(child, 'exit');
  const [output, complaint] = await Promise.all([textOf(child.stdout), textOf(child.stderr)]);
  await exited;
  if (child.exitCode !== 0)
    throw new Error(`llmbench run ended with status ${child.exitCode}: ${complaint.slice(-500)}`);
  const result = JSON.parse(output) as RunResult;
  if (result.status !== 'completed') throw new Error(`the run is ${result.status}`);
  return {
    runId: result.run_id,
    startSeconds: Date.parse(result.window.start) / 1000,
    endSeconds: Date.parse(result.window.end) / 1000,
  };
}

/** The one JSON line with which a command says that it is ready. */
async function readyUrl(child: ChildProcess, name: string): Promise<string> {
  if (child.stdout === null) throw new Error('a command is started with pipes');
  const complaint = textOf(child.stderr);
  const lines = createInterface({ input: child.stdout });
  const line = await Promise.race([
    once(lines, 'line').then(([first]) => String(first)),
    once(child, 'exit').then(async () => {
      throw new Error(`llmbench ${name} ended with status ${child.exitCode}: ${(await complaint).slice(-500)}`);
    }),
  ]);
  return (JSON.parse(line) as { readonly url: string }).url;
}

function textOf(stream: ChildProcess['stdout']): Promise<string> {
  return stream === null ? Promise.resolve('') : text(stream);
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, 'exit');
  child.kill('SIGTERM');
  const slow = setTimeout(() => child.kill('SIGKILL'), 10_000);
  await gone;
  clearTimeout(slow);
}
