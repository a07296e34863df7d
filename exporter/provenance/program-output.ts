import { execFile } from 'node:child_process';

const TIMEOUT_MILLISECONDS = 3000;
const MAX_BYTES = 2 ** 20;

/** What a program prints; null: it does not exist, fails, prints too much or takes too long. */
export function programOutput(file: string, args: readonly string[]): Promise<string | null> {
  return new Promise((resolve) => {
    const env = { ...process.env, GIT_OPTIONAL_LOCKS: '0' };
    const options = { timeout: TIMEOUT_MILLISECONDS, maxBuffer: MAX_BYTES, windowsHide: true, env };
    execFile(file, args, options, (error, stdout) => resolve(error === null ? stdout : null));
  });
}
