/**
 * Preloaded into a llmbench process (`--import`): kills it with SIGKILL at its n-th change of the file system
 * (`CHAOS_KILL_AT`; 0: never), in the middle of a write if the change is one. `CHAOS_COUNT_FILE` gets the number of changes
 * when the process ends by itself. `CHAOS_CLOCK_JUMP_SECONDS` sets the wall clock forward or back after half a second, or
 * when the process receives SIGUSR2 (`CHAOS_CLOCK_JUMP_ON_SIGNAL`).
 */
import fs from 'node:fs';
import fsPromises from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { isMainThread } from 'node:worker_threads';

type AnyFunction = (...values: unknown[]) => unknown;
type Functions = Record<string, AnyFunction | undefined>;

const killAt = Number(process.env['CHAOS_KILL_AT'] ?? 0);
const countFile = process.env['CHAOS_COUNT_FILE'];
const jumpSeconds = Number(process.env['CHAOS_CLOCK_JUMP_SECONDS'] ?? 0);
const { writeFileSync, writeSync } = fs;
let changes = 0;

/** Calls `half` at the fatal change, so that half of a write reaches the disk. */
function counted(
  owner: object,
  name: string,
  half: (self: unknown, values: unknown[]) => void = () => undefined,
): void {
  const functions = owner as Functions;
  const original = functions[name];
  if (original === undefined) throw new Error(`there is no ${name}`);
  functions[name] = function (this: unknown, ...values) {
    changes += 1;
    if (changes === killAt) {
      half(this, values);
      process.kill(process.pid, 'SIGKILL');
    }
    return original.apply(this, values);
  };
}

function halfOf(data: unknown): Uint8Array {
  const bytes = typeof data === 'string' ? Buffer.from(data) : data instanceof Uint8Array ? data : Buffer.alloc(0);
  return bytes.subarray(0, Math.floor(bytes.length / 2));
}

const halfToPath = (_self: unknown, [path, data]: unknown[]): void => {
  if (typeof path === 'string') writeFileSync(path, halfOf(data));
};
const halfToDescriptor = (_self: unknown, [fd, data]: unknown[]): void => void writeSync(fd as number, halfOf(data));
const halfToHandle = (self: unknown, [data]: unknown[]): void => {
  writeSync((self as fsPromises.FileHandle).fd, halfOf(data));
};

for (const name of ['rename', 'rm', 'mkdir', 'link', 'unlink']) {
  counted(fsPromises, name);
  counted(fs, `${name}Sync`);
}
counted(fsPromises, 'writeFile', halfToPath);
counted(fs, 'writeFileSync', halfToPath);
counted(fs, 'writeSync', (self, values) =>
  values[0] === 1 || values[0] === 2 ? undefined : halfToDescriptor(self, values),
);
const opened = await fsPromises.open(process.execPath, 'r');
const handle = Object.getPrototypeOf(opened) as object;
await opened.close();
for (const name of ['write', 'writeFile', 'appendFile']) counted(handle, name, halfToHandle);
for (const name of ['sync', 'datasync', 'truncate']) counted(handle, name);
syncBuiltinESMExports();

if (isMainThread && countFile !== undefined) process.on('exit', () => writeFileSync(countFile, String(changes)));

if (jumpSeconds !== 0) {
  const { now } = Date;
  let jumped_ms = 0;
  const jump = (): void => void (jumped_ms = jumpSeconds * 1000);
  if (process.env['CHAOS_CLOCK_JUMP_ON_SIGNAL'] === undefined) setTimeout(jump, 500).unref();
  else process.once('SIGUSR2', jump);
  Date.now = () => now() + jumped_ms;
  const Original = Date;
  globalThis.Date = class extends Original {
    constructor(...values: unknown[]) {
      super(...((values.length === 0 ? [Date.now()] : values) as [number]));
    }
  } as DateConstructor;
}
