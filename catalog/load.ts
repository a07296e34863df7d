import { readdirSync, readFileSync } from 'node:fs';

import { parsedText } from './parsed-yaml.ts';
import type { Catalog, CatalogFamily, CatalogHead } from './types.ts';

const SYSTEM_NAME = /^[a-z0-9]+(-[a-z0-9]+)*$/;

/** Files about several systems: which families mean the same, and which to look at when a measure changed. */
const NO_CATALOGS: readonly string[] = ['equivalents', 'explanations'];

const read = new Map<string, Catalog>();

function isCatalog(value: unknown): value is Catalog {
  return (
    typeof value === 'object' &&
    value !== null &&
    'system' in value &&
    typeof value.system === 'string' &&
    'families' in value &&
    Array.isArray(value.families)
  );
}

/** Names of the systems that have a catalog, in alphabetical order. */
export function systems(): string[] {
  return readdirSync(new URL('.', import.meta.url))
    .filter((file) => file.endsWith('.yaml'))
    .map((file) => file.slice(0, -'.yaml'.length))
    .filter((name) => !NO_CATALOGS.includes(name))
    .sort();
}

/** All catalogs, in the order of `systems`. */
export function catalogs(): Catalog[] {
  return systems().map(loadCatalog);
}

/**
 * Reads the catalog of one system from the YAML file beside this module, once per process. The file's form is checked
 * against `schema.json` by the tests, not here.
 *
 * @param system name of the file without its ending, e.g. `vllm`
 * @throws Error when the name is not a system's, when there is no such file, or when it is not a catalog of that system
 */
export function loadCatalog(system: string): Catalog {
  const known = read.get(system);
  if (known !== undefined) return known;
  const catalog: unknown = parsedText(textOf(system));
  if (!isCatalog(catalog) || catalog.system !== system)
    throw new Error(`catalog/${system}.yaml is not a catalog of ${system}`);
  read.set(system, catalog);
  return catalog;
}

/** The keys before `families`: a few lines of YAML instead of thousands, where only the system is needed. */
export function loadCatalogHead(system: string): CatalogHead {
  const text = textOf(system);
  const end = text.indexOf('\nfamilies:');
  if (end < 0) throw new Error(`catalog/${system}.yaml has no families`);
  return parsedText(text.slice(0, end + 1)) as CatalogHead;
}

function textOf(system: string): string {
  if (!SYSTEM_NAME.test(system) || NO_CATALOGS.includes(system))
    throw new Error(`"${system}" is not the name of a system`);
  return readFileSync(new URL(`./${system}.yaml`, import.meta.url), 'utf8');
}

/** Whether the family is on every page of the system (of its part of the system), whatever switches are set. */
export function isAlwaysExposed(family: CatalogFamily): boolean {
  return family.exposed === 'always';
}

/** All labels of a family's series, without the optional ones, sorted as the Python client writes them. */
export function labelsOf(catalog: CatalogHead, family: CatalogFamily): string[] {
  const omitted = family.omit_labels ?? [];
  return [...catalog.common_labels.filter((label) => !omitted.includes(label)), ...family.labels].sort();
}
