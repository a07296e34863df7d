/**
 * Compares the catalog with the sources of releases: `npm run catalog:drift -- [--known RELEASE] [SYSTEM[@RELEASE] …]`. Without
 * a release the newest of its registry; without systems every engine. With --known, what the catalog states for that release.
 * With --page URL (one for each process) the pages of a running server of the one SYSTEM, of any catalog; without a release the
 * newest of the catalog. Exit status 1 if something differs, 2 if a release or a page cannot be read.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { loadCatalog } from '../../catalog/load.ts';
import type { Catalog } from '../../catalog/types.ts';
import { panelsOf, type ClassicDashboard } from '../../dashboards/classic-json.ts';
import { ruleFiles } from '../../prometheus/known-metrics.ts';
import { compareRelease, type Difference } from './compare.ts';
import { compareServer } from './pages.ts';
import { ENGINES, metricsOfRelease, newestRelease } from './sources.ts';

const CACHE = fileURLToPath(new URL('../../.cache/releases/', import.meta.url));
/** Later than any release: of a catalog that names none, all families are compared. */
const NEWEST = '999';
const DASHBOARDS = new URL('../../dashboards/', import.meta.url);

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { known: { type: 'string' }, page: { type: 'string', multiple: true, default: [] } },
});
const status = { differs: false, failed: false };
if (values.page.length > 0 && positionals.length !== 1) {
  console.error('--page requires one SYSTEM');
  process.exit(2);
}
for (const wanted of positionals.length > 0 ? positionals : Object.keys(ENGINES)) {
  try {
    await report(wanted);
  } catch (error) {
    status.failed = true;
    console.error(`${wanted}: ${error instanceof Error ? (error.message.split('\n')[0] ?? '') : String(error)}`);
  }
}
process.exitCode = status.failed ? 2 : status.differs ? 1 : 0;

async function report(wanted: string): Promise<void> {
  const [system = '', asked] = wanted.split('@');
  const engine = ENGINES[system];
  if (values.page.length > 0) {
    const catalogs = (engine?.catalogs ?? [system]).map(loadCatalog);
    const release = asked ?? catalogs[0]?.versions?.newest ?? NEWEST;
    print(system, release, catalogs, await compareServer(catalogs, release, values.page));
    return;
  }
  if (engine === undefined) throw new Error(`not one of ${Object.keys(ENGINES).join(', ')}`);
  const release = asked ?? (await newestRelease(engine));
  const catalogs = engine.catalogs.map(loadCatalog);
  const metrics = await metricsOfRelease(engine, release, CACHE);
  print(system, release, catalogs, compareRelease(catalogs, values.known ?? release, metrics));
}

function print(
  system: string,
  release: string,
  catalogs: readonly Catalog[],
  differences: readonly Difference[],
): void {
  const { oldest = '?', newest = '?' } = catalogs[0]?.versions ?? {};
  console.log(
    `${system} ${release === NEWEST ? 'running' : release}: ${differences.length} differences from the catalog (${oldest} to ${newest})`,
  );
  for (const difference of differences) console.log(line(difference));
  if (differences.length > 0) status.differs = true;
}

function line({ kind, family, detail }: Difference): string {
  const users = kind === 'new' ? [] : usersOf(family);
  return `  ${kind.padEnd(8)} ${family}: ${detail}${users.length === 0 ? '' : `\n           used by ${users.join(', ')}`}`;
}

/** The panels and rules that query a family. */
function usersOf(family: string): readonly string[] {
  const query = new RegExp(`(?<![\\w:])${family}(_bucket|_sum|_count)?(?![\\w:])`);
  const panels = readdirSync(DASHBOARDS)
    .filter((file) => file.endsWith('.json'))
    .flatMap((file) => {
      const dashboard = JSON.parse(readFileSync(new URL(file, DASHBOARDS), 'utf8')) as ClassicDashboard;
      return panelsOf(dashboard)
        .filter(({ targets = [] }) => targets.some(({ expr }) => query.test(expr)))
        .map(({ title }) => `${file.replace('.json', '')} "${title}"`);
    });
  const rules = (['rules', 'alerts'] as const).flatMap((folder) =>
    ruleFiles(folder).flatMap(([file, all]) =>
      all
        .filter(({ expr }) => query.test(expr))
        .map(({ record, alert }) => `${folder}/${file} ${record ?? alert ?? ''}`),
    ),
  );
  return [...panels, ...rules];
}
