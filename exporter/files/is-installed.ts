import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/** Whether a folder of PATH has the program: to start one that is missing takes a fork of this process all the same. */
export function isInstalled(program: string): boolean {
  const file = process.platform === 'win32' ? `${program}.exe` : program;
  return (process.env['PATH'] ?? '').split(delimiter).some((folder) => existsSync(join(folder, file)));
}
