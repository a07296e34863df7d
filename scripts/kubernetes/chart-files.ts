import { readdir, readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';

/** The chart's folder of what other folders of this repository define. */
export const CHART_FILES = fileURLToPath(new URL('../../deploy/helm/llmbench/files/', import.meta.url));

const ROOT = new URL('../../', import.meta.url);

/**
 * Dashboards, rules and alerts as the chart contains them, by their paths below `CHART_FILES`. Dashboards are without
 * white space: `kubectl apply` keeps a copy of an object in an annotation of at most 256 kB.
 */
export async function chartFiles(): Promise<ReadonlyMap<string, string>> {
  const files = new Map<string, string>();
  for (const [to, from] of [
    ['classic', 'dashboards'],
    ['native', 'native/dashboards'],
  ] as const) {
    for (const [name, text] of await textsOf(from, '.json')) {
      files.set(`${to}/dashboards/${name}`, `${JSON.stringify(JSON.parse(text))}\n`);
    }
  }
  for (const [to, from] of [
    ['classic/rules/rules', 'prometheus/rules'],
    ['native/rules/rules', 'native/rules'],
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
