import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';

const LAUNCHER = fileURLToPath(new URL('../../bin/llmbench.js', import.meta.url));
const PRELOAD = new URL('kill-at-change.ts', import.meta.url).href;

export interface Ended {
  readonly code: number | null;
  readonly killed: boolean;
  readonly stderr: string;
  readonly at_ms: number;
}

interface How {
  readonly env?: Readonly<Record<string, string>>;
  /** A command that runs its last arguments. */
  readonly through?: readonly string[];
  /** Ends the process with SIGKILL after this time. */
  readonly killAfter_ms?: number;
  /** Closes both of its output pipes at once. */
  readonly closePipes?: boolean;
}

/** Runs llmbench with a disturbance until it has ended. */
export async function disturbed(argv: readonly string[], how: How = {}): Promise<Ended> {
  const { env = {}, through = [], killAfter_ms, closePipes = false } = how;
  const [file = '', ...rest] = [...through, process.execPath, LAUNCHER, ...argv];
  const child = spawn(file, rest, { env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'pipe'] });
  let stderr = '';
  child.stderr.setEncoding('utf8').on('data', (piece: string) => (stderr += piece));
  child.stdout.resume();
  if (closePipes) {
    child.stdout.destroy();
    child.stderr.destroy();
  }
  const timer = killAfter_ms === undefined ? undefined : setTimeout(() => child.kill('SIGKILL'), killAfter_ms);
  const [code, signal] = (await once(child, 'exit')) as [number | null, string | null];
  const at_ms = performance.now();
  clearTimeout(timer);
  if (!closePipes && child.stderr.readable) await once(child, 'close');
  return { code, killed: signal === 'SIGKILL', stderr, at_ms };
}

const preloaded = (env: Readonly<Record<string, string>>): How => ({
  env: { ...env, NODE_OPTIONS: `--import ${PRELOAD} --disable-warning=ExperimentalWarning` },
});

/** Killed at its n-th change of the file system. */
export const killedAtChange = (argv: readonly string[], n: number): Promise<Ended> =>
  disturbed(argv, preloaded({ CHAOS_KILL_AT: String(n) }));

/** How often the command changes the file system when nothing disturbs it. */
export async function countedChanges(argv: readonly string[], countFile: string): Promise<number> {
  const { code, stderr } = await disturbed(argv, preloaded({ CHAOS_COUNT_FILE: countFile }));
  if (code !== 0) throw new Error(`${argv[0]} without a disturbance: ${code}: ${stderr}`);
  return Number(await readFile(countFile, 'utf8'));
}

/** The wall clock jumps by this time while it runs. */
export const withClockJump = (argv: readonly string[], seconds: number): Promise<Ended> =>
  disturbed(argv, preloaded({ CHAOS_CLOCK_JUMP_SECONDS: String(seconds) }));

/** No file may become larger than this: as on a full disk, writes fail. */
export const withSmallFiles = (argv: readonly string[], kib: number): Promise<Ended> =>
  disturbed(argv, { through: ['bash', '-c', `ulimit -f ${kib}; exec "$0" "$@"`] });

/** Whether this user may mount a file system of his own, in which a disk can be filled. */
export function mayMount(): boolean {
  try {
    execFileSync('unshare', ['-rm', 'mount', '-t', 'tmpfs', 'none', '/mnt'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

/** Puts a copy of the folder on a small disk, runs the rest, and puts what is there then back. */
const ON_SMALL_DISK = `
  runs=$1 kib=$2; shift 2; saved=$(mktemp -d)
  cp -a "$runs/." "$saved"; mount -t tmpfs -o "size=$kib"k none "$runs"; cp -a "$saved/." "$runs"
  "$@"; code=$?
  find "$saved" -mindepth 1 -delete; cp -a "$runs/." "$saved"; umount "$runs"
  find "$runs" -mindepth 1 -delete; cp -a "$saved/." "$runs"; rm -rf "$saved"; exit $code`;

/** With the runs directory on a disk of this size. */
export const onSmallDisk = (argv: readonly string[], runs: string, kib: number): Promise<Ended> =>
  disturbed(argv, { through: ['unshare', '-rm', 'bash', '-c', ON_SMALL_DISK, 'small-disk', runs, String(kib)] });
