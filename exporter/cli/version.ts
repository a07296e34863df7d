import { readFileSync } from 'node:fs';

/** The version in package.json: two directories up in a checkout, three in a package. */
export const VERSION: string = readVersion();

function readVersion(): string {
  for (const above of ['../../package.json', '../../../package.json']) {
    try {
      const file = JSON.parse(readFileSync(new URL(above, import.meta.url), 'utf8')) as {
        name?: string;
        version?: string;
      };
      if (file.name === 'llmbench-observability' && file.version !== undefined) return file.version;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    }
  }
  throw new Error('the package.json of llmbench-observability is missing above the program');
}
