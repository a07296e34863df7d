import type { Definition, SourceFile } from './definition.ts';

/** Names of metrics without their beginning, which Rust sources add where they make the metrics. */
export interface NameGroup {
  /** The module whose constants they are. */
  readonly module: string;
  readonly endings: readonly { readonly text: string; readonly at: string }[];
}

const MODULE = /^(?:pub )?mod (\w+) \{\n([^]*?)^\}/gm;
const NESTED = /^ {4}(?:pub )?mod \w+ \{\n[^]*?^ {4}\}\n?/gm;
const CONSTANT = /const (?![A-Z0-9_]*LABEL)[A-Z0-9_]+: &str\s*=\s*"([a-z][a-z0-9]*(?:_[a-z0-9]+)+)"/g;
const CONSTRUCTOR = /\b(?:Opts|Gauge|Counter|Histogram|Vec)::(?:new|with_opts)\(\s*"([a-z][a-z0-9_]+)"/g;
/** Modules of other names, and of what labels may be. */
const OTHER = /prefix|label|component_names|tests/;

/** Metrics whose whole name is where Rust sources make them; the others are put together from parts. */
export function namedInRust(files: readonly SourceFile[], begins: RegExp): Definition[] {
  return rustOf(files).flatMap(({ path, text }) =>
    [...text.matchAll(CONSTRUCTOR)]
      .filter(([, name = '']) => begins.test(name))
      .map(([, name = '']) => ({ name, type: null, labels: null, bounds: null, at: path })),
  );
}

/** Constants of each module that is about names of metrics. */
export function nameGroups(files: readonly SourceFile[]): NameGroup[] {
  return rustOf(files)
    .filter(({ path }) => /metric|names/.test(path))
    .flatMap(({ path, text }) =>
      [...text.matchAll(MODULE)]
        .filter(([, module = '']) => !OTHER.test(module))
        .map(([, module = '', body = '']) => ({
          module,
          endings: [...body.replaceAll(NESTED, '').matchAll(CONSTANT)].map(([, name = '']) => ({
            text: name,
            at: `${path}, ${module}`,
          })),
        })),
    );
}

/**
 * The whole names of a group: those of its constants that are known tell how the names of the others begin. Nothing for a
 * group of which less than half is known.
 */
export function wholeNames({ endings }: NameGroup, known: readonly string[]): Definition[] {
  const beginnings = endings.flatMap(({ text }) =>
    known.filter((name) => name.endsWith(`_${text}`)).map((name) => name.slice(0, -text.length)),
  );
  const counted = [...Map.groupBy(beginnings, (each) => each)].sort(([, a], [, b]) => b.length - a.length);
  const [beginning, found] = counted[0] ?? ['', []];
  if (found.length * 2 < endings.length || found.length === 0) return [];
  const isKnown = (text: string): boolean => known.some((name) => name.endsWith(`_${text}`));
  return endings
    .filter(({ text }) => !isKnown(text) || known.includes(beginning + text))
    .map(({ text, at }) => ({ name: beginning + text, type: null, labels: null, bounds: null, at }));
}

function rustOf(files: readonly SourceFile[]): readonly SourceFile[] {
  return files.filter(({ path }) => path.endsWith('.rs'));
}
