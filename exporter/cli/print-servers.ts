import { readServersFile } from '../store/read-servers.ts';
import { shownServers } from './tables/show-servers.ts';

/** `--show-servers`: prints what the servers reported in a stored run; `path`: its directory. */
export async function printServers(path: string, width: number): Promise<void> {
  const file = await readServersFile(path);
  process.stdout.write(file === null ? 'no server metrics were collected\n\n' : `${shownServers(file, width)}\n\n`);
}
