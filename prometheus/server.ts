import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { dirname } from 'node:path';
import { createInterface } from 'node:readline';

export interface PrometheusServerOptions {
  /** Where the `prometheus` program is. */
  readonly programs: { readonly prometheus: string };
  /** The configuration file; relative paths in it are relative to its folder. */
  readonly configFile: string;
  /** Where the data go; the folder is made. */
  readonly dataFolder: string;
  /** On 127.0.0.1; 0 = a free one. */
  readonly port?: number;
  /** In a process group of its own, so that Ctrl-C in the terminal does not reach it; default false. */
  readonly detached?: boolean;
  /** Further flags. */
  readonly flags?: readonly string[];
  /** How long it may take until it answers queries. */
  readonly startTimeoutSeconds?: number;
}

export interface RunningServer {
  /** Such as `http://127.0.0.1:9090`, without a slash at the end. */
  readonly url: string;
  readonly process: ChildProcess;
  /** Ends the server and resolves when its process is gone; it may be called again. */
  stop(): Promise<void>;
}

export type PrometheusServer = RunningServer;

/**
 * Starts a Prometheus on loopback and resolves once it answers queries. Rejects, with the last line of its log, when it
 * ends before that (a busy port, a wrong configuration) or takes longer than the limit.
 */
export async function startPrometheus(options: PrometheusServerOptions): Promise<PrometheusServer> {
  return startServer({
    name: 'Prometheus',
    program: options.programs.prometheus,
    args: [
      `--config.file=${options.configFile}`,
      `--storage.tsdb.path=${options.dataFolder}`,
      `--web.listen-address=127.0.0.1:${options.port ?? 0}`,
      '--log.format=json',
      ...(options.flags ?? []),
    ],
    readyLine: 'Server is ready to receive web requests',
    detached: options.detached ?? false,
    startTimeoutSeconds: options.startTimeoutSeconds ?? START_TIMEOUT_SECONDS,
  });
}

export interface AlertmanagerServerOptions {
  /** Where the `alertmanager` program is. */
  readonly programs: { readonly alertmanager: string };
  /** The configuration file, absolute. */
  readonly configFile: string;
  /** Where silences and the notification log go, absolute; the folder is made. */
  readonly dataFolder: string;
}

/** The same for an Alertmanager without a cluster, on a free port. */
export async function startAlertmanager(options: AlertmanagerServerOptions): Promise<RunningServer> {
  return startServer({
    name: 'Alertmanager',
    program: options.programs.alertmanager,
    // The package of Debian, where it is unpacked into the cache, has its templates below its root.
    cwd: dirname(dirname(dirname(options.programs.alertmanager))),
    args: [
      `--config.file=${options.configFile}`,
      `--storage.path=${options.dataFolder}`,
      '--web.listen-address=127.0.0.1:0',
      '--cluster.listen-address=',
      '--log.format=json',
    ],
    readyLine: 'Listening on',
    detached: false,
    startTimeoutSeconds: START_TIMEOUT_SECONDS,
  });
}

/** A limit against hanging, not a measure of speed: a busy machine may take its time. */
const START_TIMEOUT_SECONDS = 120;

interface ServerProgram {
  readonly name: string;
  readonly program: string;
  readonly args: readonly string[];
  readonly cwd?: string;
  /** Text of the log line after which requests are answered. */
  readonly readyLine: string;
  readonly detached: boolean;
  readonly startTimeoutSeconds: number;
}

async function startServer(server: ServerProgram): Promise<RunningServer> {
  const { program, args, cwd, detached } = server;
  const child = spawn(program, args, { cwd, stdio: ['ignore', 'ignore', 'pipe'], detached });
  const stop = async (): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const gone = once(child, 'exit');
    child.kill('SIGTERM');
    const slow = setTimeout(() => child.kill('SIGKILL'), 10_000);
    await gone;
    clearTimeout(slow);
  };
  try {
    return { url: await readyUrl(child, server), process: child, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Reads the log: it names the port and reports when requests are answered. */
function readyUrl(child: ChildProcess, { name, readyLine, startTimeoutSeconds }: ServerProgram): Promise<string> {
  return new Promise((resolve, reject) => {
    let address: string | null = null;
    let ready = false;
    let last = 'it wrote no log';
    const fail = (what: string): void => reject(new Error(`${name} ${what}: ${last}`));
    const late = setTimeout(() => fail(`did not start within ${startTimeoutSeconds} s`), startTimeoutSeconds * 1000);
    child.once('error', (error) => {
      last = error.message;
      clearTimeout(late);
      fail('cannot be started');
    });
    child.once('exit', (code) => {
      clearTimeout(late);
      fail(`ended with status ${String(code)} before it was ready`);
    });
    if (child.stderr === null) return;
    // Read to the end: a full pipe would stop the server.
    createInterface({ input: child.stderr }).on('line', (line) => {
      last = line;
      address ??= /"address":"(127\.0\.0\.1:[1-9]\d*)"/.exec(line)?.[1] ?? null;
      ready ||= line.includes(readyLine);
      if (address === null || !ready) return;
      clearTimeout(late);
      resolve(`http://${address}`);
    });
  });
}
