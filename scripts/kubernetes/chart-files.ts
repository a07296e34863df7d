import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const CHART = fileURLToPath(new URL('../../deploy/helm/llmbench', import.meta.url));

const ROOT = new URL('../../', import.meta.url);

/** Writes dashboards, rules and alerts, which other folders of this repository define, into `files/` of a chart. */
export async function fillChart(chart: string): Promise<void> {
  const folder = join(chart, 'files');
  await rm(folder, { recursive: true, force: true });
  for (const [path, text] of await chartFiles()) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), text);
  }
}

/**
 * By their paths below `files/`. Dashboards are without white space: `kubectl apply` keeps a copy of an object in an
 * annotation of at most 256 kB.
 */
async function chartFiles(): Promise<ReadonlyMap<string, string>> {
  const files = new Map<string, string>();
  for (const [to, from] of [
    ['classic', 'dashboards'],
    ['native', 'prometheus/native/dashboards'],
    ['app', 'grafana-plugin/src/dashboards'],
  ] as const) {
    for (const [name, text] of await textsOf(from, '.json')) {
      files.set(`${to}/dashboards/${name}`, `${JSON.stringify(JSON.parse(text))}\n`);
    }
  }
  for (const [to, from] of [
    ['classic/rules/rules', 'prometheus/rules'],
    ['native/rules/rules', 'prometheus/native/rules'],
    ['alerts/alerts', 'prometheus/alerts'],
  ] as const) {
    for (const [name, text] of await textsOf(from, '.yml')) files.set(`${to}-${name}`, text);
  }
  return files;
}

async function textsOf(folder: string, extension: string): Promise<readonly (readonly [string, string])[]> {
  const names = (await readdir(new URL(folder, ROOT))).filter((name) => name.endsWith(extension));
  return Promise.all(
    names.sort().map(async (name) => [name, await readFile(new URL(`${folder}/${name}`, ROOT), 'utf8')]),
  );
}

// `npm run chart`: puts them into the chart, which Helm can then install or pack.
if (import.meta.main) await fillChart(CHART);
