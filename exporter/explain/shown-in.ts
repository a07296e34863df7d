import { readdir, readFile } from 'node:fs/promises';

import { parse } from 'yaml';

/** A dashboard that queries a metric, itself or through a recording rule. */
export interface ShowingDashboard {
  readonly dashboard: string;
  readonly uid: string;
  readonly panels: readonly string[];
}

/** Where the product itself uses metrics: panels with their queries, rules with their expressions. */
export interface Uses {
  readonly dashboards: readonly {
    readonly dashboard: string;
    readonly uid: string;
    readonly panels: readonly { readonly title: string; readonly queries: readonly string[] }[];
  }[];
  readonly rules: readonly { readonly name: string; readonly expression: string }[];
}

type Json = Readonly<Record<string, unknown>>;

const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null;
const textOr = (value: unknown, otherwise: string): string => (typeof value === 'string' ? value : otherwise);
const list = (value: unknown): Json[] => (Array.isArray(value) ? value.filter(isObject) : []);

/** Reads the dashboards (JSON) and the rules (YAML) of two folders; a missing folder holds none. */
export async function readUses(dashboardsFolder: URL, rulesFolder: URL): Promise<Uses> {
  const [boards, ruleFiles] = await Promise.all([
    filesOf(dashboardsFolder, /\.json$/, (text) => JSON.parse(text) as unknown),
    filesOf(rulesFolder, /\.ya?ml$/, (text) => parse(text) as unknown),
  ]);
  const dashboards = boards
    .filter(isObject)
    .flatMap((board) =>
      Array.isArray(board.panels)
        ? [{ dashboard: textOr(board.title, ''), uid: textOr(board.uid, ''), panels: panelsOf(board.panels) }]
        : [],
    );
  const rules = ruleFiles
    .filter(isObject)
    .flatMap((file) => list(file.groups).flatMap((group) => list(group.rules)))
    .map((rule) => ({ name: textOr(rule.record, textOr(rule.alert, '')), expression: textOr(rule.expr, '') }));
  return { dashboards, rules };
}

async function filesOf(folder: URL, ending: RegExp, read: (text: string) => unknown): Promise<unknown[]> {
  let names: string[];
  try {
    names = await readdir(folder);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
  const wanted = names.filter((name) => ending.test(name)).sort();
  return Promise.all(wanted.map(async (name) => read(await readFile(new URL(name, folder), 'utf8'))));
}

function panelsOf(panels: unknown): { title: string; queries: string[] }[] {
  return list(panels).flatMap((panel) => [
    { title: textOr(panel.title, ''), queries: list(panel.targets).map(({ expr }) => textOr(expr, '')) },
    ...panelsOf(panel.panels),
  ]);
}

/** The dashboards that show a family, and the names of the rules that use it. */
export function usesOf(
  family: string,
  { dashboards, rules }: Uses,
): { dashboards: ShowingDashboard[]; rules: string[] } {
  const using = rules.filter(({ expression }) => mentions(expression, family)).map(({ name }) => name);
  const names = [family, ...using];
  const showing = dashboards.map(({ dashboard, uid, panels }) => ({
    dashboard,
    uid,
    panels: [
      ...new Set(
        panels
          .filter(({ queries }) => queries.some((query) => names.some((name) => mentions(query, name))))
          .map(({ title }) => title),
      ),
    ],
  }));
  return { dashboards: showing.filter(({ panels }) => panels.length > 0), rules: [...new Set(using)].sort() };
}

const NAME = /[a-zA-Z_:][a-zA-Z0-9_:]*/g;

function mentions(query: string, name: string): boolean {
  return (query.match(NAME) ?? []).some(
    (word) => word === name || (word.startsWith(name) && /^_(bucket|sum|count)$/.test(word.slice(name.length))),
  );
}
