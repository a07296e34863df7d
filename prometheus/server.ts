import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
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
  /** In a process group of its own, so that Ctrl-C in the terminal does not reach it; false unless told. */
  readonly detached?: boolean;
  /** Further flags. */
  readonly flags?: readonly string[];
  /** How long it may take until it answers queries. */
  readonly startTimeoutSeconds?: number;
}

export interface PrometheusServer {
  /** Such as `http://127.0.0.1:9090`, without a slash at the end. */
  readonly url: string;
  readonly process: ChildProcess;
  /** Ends the server and resolves when its process is gone; it may be called again. */
  stop(): Promise<void>;
}

/**
 * Starts a Prometheus on loopback and resolves once it answers queries. Rejects, with the last line of its log, when it
 * ends before that (a busy port, a wrong configuration) or takes longer than the limit.
 */
export async function startPrometheus(options: PrometheusServerOptions): Promise<PrometheusServer> {
  const child = spawn(
    options.programs.prometheus,
    [
      `--config.file=${options.configFile}`,
      `--storage.tsdb.path=${options.dataFolder}`,
      `--web.listen-address=127.0.0.1:${options.port ?? 0}`,
      '--log.format=json',
      ...(options.flags ?? []),
    ],
    { stdio: ['ignore', 'ignore', 'pipe'], detached: options.detached ?? false },
  );
  const stop = async (): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const gone = once(child, 'exit');
    child.kill('SIGTERM');
    const slow = setTimeout(() => child.kill('SIGKILL'), 10_000);
    await gone;
    clearTimeout(slow);
  };
  try {
    const url = await readyUrl(child, options.startTimeoutSeconds ?? 30);
    return { url, process: child, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Reads the log: it tells the port that was taken, and when queries are answered. */
function readyUrl(child: ChildProcess, timeoutSeconds: number): Promise<string> {
  return new Promise((resolve, reject) => {
    let address: string | null = null;
    let ready = false;
    let last = 'it wrote no log';
    const fail = (what: string): void => reject(new Error(`Prometheus ${what}: ${last}`));
    const late = setTimeout(() => fail(`did not start within ${timeoutSeconds} s`), timeoutSeconds * 1000);
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
      ready ||= line.includes('Server is ready to receive web requests');
      if (address === null || !ready) return;
      clearTimeout(late);
      resolve(`http://${address}`);
    });
  });
}
