import { createHash } from 'node:crypto';
import { readFileSync, readlinkSync } from 'node:fs';
import { stat, utimes } from 'node:fs/promises';
import { codeOf } from '../errors/expected-error.ts';

/** Identity of a process: its id and its start, which distinguishes it from a later one with the same id. */
export interface ProcessIdentity {
  readonly pid: number;
  readonly start_time: string;
}

/** `elsewhere`: in another container, on another machine, or before a reboot; it cannot be checked from here. */
export type ProcessState = 'alive' | 'gone' | 'elsewhere';

/**
 * Identifies this process.
 *
 * On Linux `start_time` is `<where>.<ticks>`: field 22 of /proc/self/stat (clock ticks since the machine started), and
 * twelve hex digits that stand for this start of the machine and this pid namespace, because containers that share a
 * runs directory have the same process ids. Where there is no /proc it is `epoch.<ms>`, when the process started by the
 * wall clock, and only the process id can be checked.
 */
export function ownIdentity(): ProcessIdentity {
  const self = statOf('self');
  const start_time =
    self === null ? `epoch.${Math.round(Date.now() - process.uptime() * 1000)}` : `${whereabouts()}.${self.startTicks}`;
  return { pid: process.pid, start_time };
}

/** Whether both are the same process. */
export const isSameProcess = (a: ProcessIdentity, b: ProcessIdentity): boolean =>
  a.pid === b.pid && a.start_time === b.start_time;

/** Whether a process is running, as far as this can be determined from here. */
export function processState({ pid, start_time }: ProcessIdentity): ProcessState {
  const [where, ticks] = start_time.split('.');
  if (where === 'epoch' || statOf('self') === null) return exists(pid) ? 'elsewhere' : 'gone';
  if (where !== whereabouts()) return 'elsewhere';
  const stat = statOf(pid);
  // /proc may hide the processes of other users.
  if (stat === null) return exists(pid) ? 'elsewhere' : 'gone';
  return stat.startTicks === ticks && !stat.ended ? 'alive' : 'gone';
}

/** From /proc/<pid>/stat; null if the process is not visible, or without /proc. `ended`: only its entry is left. */
function statOf(pid: number | 'self'): { startTicks: string; ended: boolean } | null {
  const stat = textOf(`/proc/${pid}/stat`);
  if (stat === null) return null;
  // The second field is the program's name in parentheses, which may contain spaces and parentheses.
  const [state, ...fields] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const startTicks = fields[18];
  return startTicks === undefined ? null : { startTicks, ended: state === 'Z' || state === 'X' };
}

let knownWhereabouts: string | null = null;

/** Identifies one boot of one machine and one pid namespace on it: those of this process, which keeps them. */
const whereabouts = (): string => (knownWhereabouts ??= readWhereabouts());

function readWhereabouts(): string {
  const boot = textOf('/proc/sys/kernel/random/boot_id') ?? '';
  const namespace = readlinkSync('/proc/self/ns/pid');
  return createHash('sha256').update(`${boot.trim()} ${namespace}`).digest('hex').slice(0, 12);
}

/** Null if the file does not exist, or the process ended while it was read. */
function textOf(path: string): string | null {
  try {
    return readFileSync(path, 'latin1');
  } catch (error) {
    if (['ENOENT', 'ESRCH', 'EACCES'].includes(codeOf(error) ?? '')) return null;
    throw error;
  }
}

/** Signal 0 only checks. A process of another user returns EPERM, and exists. */
function exists(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return codeOf(error) === 'EPERM';
  }
}

const INTERVAL_MS = 5_000;
/** A path that was not touched for this long has no owner. */
const STALE_MS = 60_000;

/** Touches a path every five seconds until stopped, for processes that cannot check whether this one is running. */
export function startHeartbeat(path: string): { stop(): void } {
  const touch = (): void => {
    const now = new Date();
    utimes(path, now, now).catch((error: unknown) => {
      // Any other failure leaves the path untouched this time, as a missing heartbeat should.
      if (codeOf(error) === 'ENOENT') clearInterval(timer);
    });
  };
  const timer = setInterval(touch, INTERVAL_MS).unref();
  return { stop: () => clearInterval(timer) };
}

/** Whether a path was modified within the last minute. Throws if it does not exist. */
async function isFresh(path: string, now: Date = new Date()): Promise<boolean> {
  return now.getTime() - (await stat(path)).mtimeMs < STALE_MS;
}

/** Whether the process that owns a path is running: checked directly, or by its heartbeat if it cannot be checked. */
export async function isOwned(owner: ProcessIdentity, path: string): Promise<boolean> {
  const state = processState(owner);
  return state === 'alive' || (state === 'elsewhere' && (await isFresh(path)));
}
