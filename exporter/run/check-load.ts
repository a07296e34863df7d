import { readFileSync } from 'node:fs';
import { mostInFlight } from '../load/schedule/load-plan.ts';
import { parseTargets } from '../load/transports/connection-options.ts';
import { RefusedError } from './refusal.ts';
import type { RunRequest } from './run-request.ts';

/** More concurrent requests than this against a server that is not on this machine require `--yes`. */
const CAREFUL_CONCURRENCY = 64;

/** Only the hosts matter. */
const ANY_API = { type: 'template', path: '' };

/** Open files of a run other than the connections of its requests: files, its page, the servers' pages. */
const OTHER_FILES = 64;

/**
 * Refuses a load that this process cannot generate, or that may be too much for a remote server. `steps`: how many runs
 * with different loads follow each other; `confirmed`: the user confirmed the load. Throws a `RefusedError`.
 */
export function checkLoad(request: RunRequest, steps: number, confirmed: boolean): void {
  const phases = [request.measure, ...(request.warmup === null ? [] : [request.warmup])];
  const inFlight = mostInFlight(phases.map(({ load }) => load));
  checkOpenFiles(inFlight, openFilesLimit());
  if (request.traffic.connection.unixSocket !== null) return;
  for (const { origin } of parseTargets([request.url, ...request.traffic.moreUrls], ANY_API))
    checkLoadIsMeant(origin, { inFlight, steps }, confirmed);
}

/** The largest load of one command. */
export interface IntendedLoad {
  /** Maximum number of requests in flight; null: no limit. */
  readonly inFlight: number | null;
  /** Number of runs with different loads. */
  readonly steps: number;
}

/** Protects shared servers: throws a `RefusedError` when a large load on another machine was not confirmed. */
export function checkLoadIsMeant(origin: string, { inFlight, steps }: IntendedLoad, confirmed: boolean): void {
  if (confirmed || isLoopback(new URL(origin).hostname)) return;
  const remark = `to ${origin}, which is another machine: confirm with --yes`;
  const limit = `(up to ${CAREFUL_CONCURRENCY} concurrent requests need no confirmation)`;
  if (inFlight === null) throw new RefusedError(`a load without a --concurrency limit ${remark} ${limit}`);
  if (inFlight > CAREFUL_CONCURRENCY) throw new RefusedError(`${inFlight} concurrent requests ${remark} ${limit}`);
  if (steps > 1) throw new RefusedError(`a sweep of ${steps} loads ${remark}`);
}

/** 127.0.0.0/8, ::1 and localhost. */
export function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127(\.\d{1,3}){3}$/.test(hostname);
}

/** Throws a `RefusedError` when the limit of open files is too low for the connections of the load; null: unknown. */
export function checkOpenFiles(inFlight: number | null, limit: number | null): void {
  if (inFlight === null || limit === null || inFlight + OTHER_FILES <= limit) return;
  throw new RefusedError(
    `${inFlight} concurrent requests require as many connections, but the limit of open files is ${limit}: ` +
      `\`ulimit -n ${inFlight + OTHER_FILES}\` raises the limit, or spread the load with --shard`,
  );
}

/**
 * The limit of open files of this process, from Linux's /proc/self/limits (proc(5)); null on other systems, and without
 * a limit.
 */
export function openFilesLimit(): number | null {
  try {
    const limits = readFileSync('/proc/self/limits', 'utf8');
    return Number(/^Max open files +(\d+)/m.exec(limits)?.[1] ?? NaN) || null;
  } catch {
    // Not Linux.
    return null;
  }
}
