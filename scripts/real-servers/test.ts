/**
 * `npm run test:real -- SERVER…`: installs and starts real servers and checks that what they count of a run is what the
 * client counted, and that the judge gates runs against them.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { setTimeout as sleep } from 'node:timers/promises';
import type { RequestRecord } from '../../core/run/record.ts';
import type { DistributionResult, ResultFile } from '../../core/run/result.ts';
import { gates } from '../../exporter/judge/scenario-state.ts';
import type { VerdictReport } from '../../core/api/comparison.ts';
import type { ServersFile } from '../../core/run/servers-file.ts';
import { openStore } from '../../exporter/store/run-store.ts';
import { loadCatalog } from '../../catalog/load.ts';
import { compareServer } from '../catalog/pages.ts';
import { readScriptOptions } from '../script-options.ts';
import { installFolder, freePort } from './processes.ts';
import type { RealServer, RunningServer, ServerCount } from './real-server.ts';
import { ensureCollector, exportedRuns, OTEL_COLLECTOR, type Received } from './otel-collector/otel-collector.ts';
import { realServer, SERVER_LIST } from './servers.ts';
import { sentEarly, sessionFile, SESSION_REQUESTS } from './sessions.ts';

const LLMBENCH = fileURLToPath(new URL('../../bin/llmbench.js', import.meta.url));
const REQUESTS = 60;
/** `run` sends one request first that is in no result. It requests at most 16 output tokens. */
const PROBE_REQUESTS = 1;
const OUTPUT_TOKENS = 16;
const SCRAPE_SECONDS = 1;
const SESSIONS = 6;

const USAGE = `usage: npm run test:real -- [--folder DIR] SERVER…

Installs each SERVER on its first use, starts it, runs llmbench run and llmbench collect against it and checks that the
client's and the server's counts of requests and output tokens are equal, also of sessions of agents with recorded and live
answers, whose requests must not be early. Then accepts six runs as a baseline and checks
that run --check and check --confirm, beside other load on the server, exit as the state that they print. Prints what the
metrics pages have that the catalog does not state.

${SERVER_LIST}
  ${OTEL_COLLECTOR}   the OpenTelemetry Collector: receives what --otel-url exports by HTTP and gRPC

  --folder DIR    install into DIR/SERVER (default .cache/real-servers/SERVER)
`;

const { names, folder } = options();
for (const name of names) {
  try {
    await (name === OTEL_COLLECTOR ? testCollector() : test(realServer(name)));
  } catch (error) {
    process.exitCode = 1;
    process.stdout.write(`FAILED ${name}: ${(error as Error).message}\n`);
  }
}

async function test(server: RealServer): Promise<void> {
  const installed = installFolder(server.name, folder);
  process.stdout.write(`${server.name}: installing into ${installed} unless it is there\n`);
  await server.install(installed);
  process.stdout.write(`${server.name}: starting\n`);
  const running = await server.start({ folder: installed, port: await freePort(), args: [] });
  const results = mkdtempSync(join(tmpdir(), 'llmbench-real-'));
  try {
    const counts = await Promise.race([
      allMeasured(server, running, results),
      running.ended.then((reason) => Promise.reject(new Error(reason))),
    ]);
    compare(counts);
    for (const line of await gated(server, running, join(results, 'gated'))) process.stdout.write(`  ${line}\n`);
    await printDrift(server, running.metrics);
    process.stdout.write(`passed ${server.name}\n`);
  } finally {
    await running.stop();
    rmSync(results, { recursive: true });
  }
}

/** What a collector received of runs is what their client counted. */
async function testCollector(): Promise<void> {
  const installed = installFolder(OTEL_COLLECTOR, folder);
  process.stdout.write(`${OTEL_COLLECTOR}: building into ${installed} unless it is there\n`);
  const program = await ensureCollector(installed);
  if (program === null) {
    process.stdout.write(`skipped ${OTEL_COLLECTOR}: it is built with Go, which is not on the PATH\n`);
    return;
  }
  compare(await exportedRuns(program, installed));
  process.stdout.write(`passed ${OTEL_COLLECTOR}\n`);
}

/** Prints the counts. Throws if the two of a line differ. */
function compare(counts: readonly Received[]): void {
  for (const { what, client, server } of counts) {
    process.stdout.write(`  ${what.padEnd(44)} client ${client}, server ${server}\n`);
  }
  const unequal = counts.filter((count) => count.client !== count.server);
  if (unequal.length > 0) throw new Error(`not equal: ${unequal.map(({ what }) => what).join(', ')}`);
}

async function allMeasured(server: RealServer, running: RunningServer, results: string): Promise<Received[]> {
  const counts = await measured(server, running, results);
  if (server.sessions !== true) return counts;
  for (const history of ['recorded', 'live'])
    counts.push(...(await sessionsMeasured(server, running, results, history)));
  return counts;
}

/** Sends sessions of agents; no request may be early, and the servers must have counted the same. */
async function sessionsMeasured(
  server: RealServer,
  running: RunningServer,
  results: string,
  history: string,
): Promise<Received[]> {
  const [file, runs, run] = [join(results, 'sessions.jsonl'), join(results, `sessions-${history}`), 'sessions'];
  writeFileSync(file, sessionFile(SESSIONS));
  await success(
    llmbench(
      ...[
        'run',
        '--url',
        running.url,
        '--model',
        running.model,
        ...server.runArgs,
        '--server-metrics',
        ...running.metrics,
      ],
      ...['--input-file', file, '--history', history, '--conversation-num', String(SESSIONS), '--concurrency', '3'],
      ...['--osl', String(OUTPUT_TOKENS), '--runs-dir', runs, '--run-id', run, '--json'],
    ),
    'llmbench run',
  );
  const { store } = await openStore(runs);
  const result = await store.readResult(run);
  const servers = json<ServersFile>(join(store.pathOf(run), 'servers.json'));
  const records: RequestRecord[] = [];
  for await (const record of store.readRecords(await store.readRun(run), { withoutChunks: true })) {
    if (record.phase === 'measure') records.push(record);
  }
  const expected = SESSIONS * SESSION_REQUESTS;
  const what = (name: string): string => `${name}, sessions with ${history} answers`;
  return [
    { what: what('complete'), client: result.conversations?.complete ?? NaN, server: SESSIONS },
    { what: what('early'), client: sentEarly(records), server: 0 },
    { what: what('planned requests'), client: result.requests.ok ?? NaN, server: expected },
    { what: what('requests'), client: result.requests.ok ?? NaN, server: gained(servers, server.requests) },
    ...(server.outputTokens === null
      ? []
      : [
          {
            what: what('output tokens'),
            client: outputTokens(result, server.outputTokens.client),
            server: gained(servers, server.outputTokens),
          },
        ]),
  ];
}

/** Collects before, during and after a run, and counts. */
async function measured(server: RealServer, running: RunningServer, results: string): Promise<Received[]> {
  const pages = ['--server-metrics', ...running.metrics];
  const collected = join(results, 'collected');
  const collect = llmbench('collect', ...pages, '--interval', String(SCRAPE_SECONDS), '--out', collected);
  // The first scrape must precede the first request.
  await sleep(3000 * SCRAPE_SECONDS);
  const runs = join(results, 'runs');
  await success(
    llmbench(
      ...['run', '--url', running.url, '--model', running.model, ...server.runArgs, ...pages],
      ...['--concurrency', '4', '--request-count', String(REQUESTS), '--isl', '64', '--osl', String(OUTPUT_TOKENS)],
      ...['--runs-dir', runs, '--json'],
    ),
    'llmbench run',
  );
  // Servers count some requests only after the client has read the response.
  await sleep(2000 * SCRAPE_SECONDS);
  collect.kill('SIGINT');
  await success(collect, 'llmbench collect');

  const [run = ''] = readdirSync(runs).filter((name) => /^\d/.test(name));
  const result = json<ResultFile>(join(runs, run, 'result.json'));
  if (result.requests.ok !== REQUESTS) throw new Error(`${result.requests.ok} of ${REQUESTS} requests are ok`);
  if (result.servers?.exact !== true) {
    throw new Error(`the run is not exact: ${JSON.stringify(result.servers)}`);
  }
  const inRun = json<ServersFile>(join(runs, run, 'servers.json'));
  const inCollection = json<ServersFile>(join(collected, 'servers.json'));
  const counts = [
    { what: 'requests, run', client: REQUESTS, server: gained(inRun, server.requests) },
    {
      what: 'requests, collect (with one probe)',
      client: REQUESTS + PROBE_REQUESTS,
      server: gained(inCollection, server.requests),
    },
  ];
  if (server.outputTokens === null) return counts;
  const tokens = outputTokens(result, server.outputTokens.client);
  return [
    ...counts,
    { what: 'output tokens, run', client: tokens, server: gained(inRun, server.outputTokens) },
    {
      what: `output tokens, collect (with ${OUTPUT_TOKENS} of the probe)`,
      client: tokens + PROBE_REQUESTS * OUTPUT_TOKENS,
      server: gained(inCollection, server.outputTokens),
    },
  ];
}

/** Judges runs against a baseline of six: one as they were, and one beside other load. Each line says what was decided. */
async function gated(server: RealServer, running: RunningServer, runs: string): Promise<string[]> {
  const same = ['--url', running.url, '--model', running.model, ...server.runArgs, '--no-server-metrics'];
  const load = [...same, '--concurrency', '2', '--request-count', '20', '--isl', '64', '--osl', String(OUTPUT_TOKENS)];
  const stored = ['--scenario', 'gated', '--runs-dir', runs];
  await success(llmbench('run', ...load, ...stored, '--num-profile-runs', '6'), 'llmbench run');
  await success(llmbench('baseline', 'accept', 'scenario:gated', '--runs-dir', runs), 'llmbench baseline');
  const check = ['--gate', 'time_to_first_token:p50', '--confirm', '4', '--json'];
  const quiet = await judged('run --check', llmbench('run', ...load, ...stored, '--check', ...check));
  const other = llmbench(
    'run',
    ...same,
    '--concurrency',
    '24',
    '--request-count',
    '100000',
    '--runs-dir',
    `${runs}-other`,
  );
  try {
    await success(llmbench('run', ...load, ...stored), 'llmbench run');
    const loaded = await judged('check --confirm, beside load', llmbench('check', ...stored, ...check, '--', ...load));
    return [quiet, loaded];
  } finally {
    other.kill('SIGINT');
    await once(other, 'close');
  }
}

/** What the pages have that the catalog does not state for the release; `npm run catalog:drift` fails because of it. */
async function printDrift({ catalogs, release }: RealServer, pages: readonly string[]): Promise<void> {
  const differences = await compareServer(catalogs.map(loadCatalog), release, pages);
  process.stdout.write(`  ${differences.length} differences of the metrics pages from the catalog\n`);
  for (const { kind, family, detail } of differences) process.stdout.write(`    ${kind} ${family}: ${detail}\n`);
}

/** What a check decided. Throws unless its exit code is that of the state that it prints. */
async function judged(what: string, child: ChildProcess): Promise<string> {
  const { code, stdout, stderr } = await ended(child);
  if (code !== 0 && code !== 99) throw new Error(`${what} ended with code ${code}: ${stderr.trim()}`);
  const { verdict, state, open_regression: open } = JSON.parse(stdout) as VerdictReport;
  const isRed = open !== undefined && gates(open);
  if (isRed !== (code === 99)) throw new Error(`${what} ended with code ${code}, and prints the state ${state}`);
  return `${what.padEnd(44)} exit code ${code}, ${verdict}, ${open?.sentence ?? state ?? ''}`;
}

/** What a server counted between the first and the last scrape. */
function gained({ series }: ServersFile, { family, labels = {} }: ServerCount): number {
  const counted = series.filter(
    (each) =>
      each.family === family &&
      each.repeats === null &&
      Object.entries(labels).every(([name, value]) => each.labels[name] === value),
  );
  if (counted.length === 0) throw new Error(`no series of ${family}`);
  return counted.reduce((sum, { statistics }) => {
    if (statistics?.kind === 'counter') return sum + (statistics.increase ?? NaN);
    return sum + (statistics?.kind === 'histogram' ? (statistics.count ?? NaN) : NaN);
  }, 0);
}

/** Output tokens of all ok requests as the client counted them. */
function outputTokens(result: ResultFile, by: 'usage' | 'chunks'): number {
  const distribution = (name: string): DistributionResult => {
    const found = result.measures.find(
      ({ measure, kind, population }) => measure === name && kind === 'distribution' && population === 'ok',
    );
    if (found?.kind !== 'distribution') throw new Error(`the run has no ${name}`);
    return found;
  };
  // Each stream has one gap less than chunks.
  if (by === 'chunks') return (distribution('inter_chunk_latency').n ?? NaN) + (result.requests.ok ?? NaN);
  const { n, mean } = distribution('output_sequence_length');
  return Math.round((n ?? NaN) * (mean ?? NaN));
}

function llmbench(...args: readonly string[]): ChildProcess {
  return spawn(process.execPath, [LLMBENCH, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
}

async function ended(child: ChildProcess): Promise<{ code: number | null; stdout: string; stderr: string }> {
  let [stdout, stderr] = ['', ''];
  child.stdout?.setEncoding('utf8').on('data', (text: string) => (stdout += text));
  child.stderr?.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, stdout, stderr };
}

/** Waits for the end of a program. Throws with its stderr when it fails. */
async function success(child: ChildProcess, name: string): Promise<void> {
  const { code, stderr } = await ended(child);
  if (code !== 0) throw new Error(`${name} ended with code ${code}: ${stderr.trim()}`);
}

function json<T>(path: string): T {
  return JSON.parse(readFileSync(path, 'utf8')) as T;
}

function options(): { names: readonly string[]; folder: string | undefined } {
  const known = { folder: { type: 'string' } } as const;
  return readScriptOptions({ usage: USAGE, options: known }, ({ folder }, positionals) => {
    if (positionals.length === 0) throw new Error('SERVER is required');
    for (const name of positionals) if (name !== OTEL_COLLECTOR) realServer(name);
    return { names: positionals, folder };
  });
}
