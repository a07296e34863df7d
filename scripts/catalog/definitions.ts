/** A metric as its source defines it; null is what the text alone does not say. */
export interface Definition {
  /** As it is on the page, but for the `_total` that some clients append to counters. */
  readonly name: string;
  readonly type: 'counter' | 'gauge' | 'histogram' | 'summary' | 'info' | null;
  readonly labels: readonly string[] | null;
  readonly bounds: readonly number[] | null;
  /** File and line. */
  readonly at: string;
}

export interface SourceFile {
  readonly path: string;
  readonly text: string;
}

/** A constructor of client_golang with its options, or a description of a collector's own. */
const CONSTRUCTOR = /prometheus\.(?:New(Gauge|Counter|Histogram|Summary)(?:Vec)?|(NewDesc))\(/g;
const CONSTANT = /(\w+)\s*(?:string\s*)?=\s*("(?:[^"\\]|\\.)*")/g;
const LIST = /(\w+)\s*=\s*\[\](?:string|float64)\{([^{}]*)\}/g;
const ALIAS = /(\w+)\s*=\s*(?:\w+\.)?(\w+)$/gm;
const APPENDED = /(\w+)\s*=\s*append\(/g;

/** The metrics that Go sources define with Prometheus' client. What cannot be read from the text alone is null. */
export function goDefinitions(files: readonly SourceFile[]): readonly Definition[] {
  const known = new Constants(files);
  return files.flatMap(({ path, text }) =>
    [...text.matchAll(CONSTRUCTOR)].flatMap((match): Definition[] => {
      const call = argumentsOf(text, match.index + match[0].length);
      const at = `${path}:${text.slice(0, match.index).split('\n').length}`;
      const [kind, description] = [match[1]?.toLowerCase(), match[2]];
      const name = description === undefined ? known.nameOf(call[0] ?? '') : known.text(call[0] ?? '');
      if (name === null) return [];
      const labels = call[description === undefined ? 1 : 2];
      return [
        {
          name,
          type: (kind ?? null) as Definition['type'],
          labels: labels === undefined ? [] : known.list(labels),
          bounds: kind === 'histogram' ? known.bounds(call[0] ?? '') : null,
          at,
        },
      ];
    }),
  );
}

/** What the names in an expression stand for, as far as declarations of the same sources say. */
class Constants {
  readonly #texts = new Map<string, string>();
  readonly #lists = new Map<string, string>();
  readonly #aliases = new Map<string, string>();

  constructor(files: readonly SourceFile[]) {
    for (const { text } of files) {
      for (const [, name = '', value = '""'] of text.matchAll(CONSTANT))
        this.#texts.set(name, JSON.parse(value) as string);
      for (const [, name = '', other = ''] of text.matchAll(ALIAS)) this.#aliases.set(name, other);
      for (const [all, name = ''] of text.matchAll(LIST)) this.#lists.set(name, all.slice(all.indexOf('[')));
      for (const match of text.matchAll(APPENDED)) {
        const inner = argumentsOf(text, match.index + match[0].length);
        this.#lists.set(match[1] ?? '', `append(${inner.join(',')})`);
      }
    }
  }

  /** A string, a constant of any package, or a sum of both; null for anything else. */
  text(expression: string): string | null {
    const parts = expression.split('+').map((part) => {
      const trimmed = part.trim();
      if (/^"(?:[^"\\]|\\.)*"$/.test(trimmed)) return JSON.parse(trimmed) as string;
      return this.#named(trimmed.split('.').at(-1) ?? '');
    });
    return parts.includes(null) ? null : parts.join('');
  }

  #named(name: string): string | null {
    return this.#texts.get(name) ?? this.#texts.get(this.#aliases.get(name) ?? '') ?? null;
  }

  nameOf(options: string): string | null {
    const parts = ['Namespace', 'Subsystem', 'Name'].flatMap((key) => {
      const value = field(options, key);
      return value === null ? [] : [this.text(value)];
    });
    return parts.length === 0 || parts.includes(null) ? null : parts.join('_');
  }

  bounds(options: string): readonly number[] | null {
    const value = field(options, 'Buckets');
    if (value === 'prometheus.DefBuckets') return [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
    const numbers = value === null ? null : this.list(value)?.map(Number);
    return numbers === undefined || numbers === null || numbers.some(Number.isNaN) ? null : numbers;
  }

  /** The elements of a list, of its name, or of lists that are joined. */
  list(expression: string): readonly string[] | null {
    const trimmed = expression.trim();
    const literal = /^\[\](string|float64)\{([^]*)\}$/.exec(trimmed);
    if (literal !== null) {
      const elements = (literal[2] ?? '')
        .split(',')
        .map((element) => element.trim())
        .filter(Boolean);
      const values = elements.map((element) => (literal[1] === 'string' ? this.text(element) : element));
      return values.includes(null) ? null : (values as string[]);
    }
    if (trimmed.startsWith('append(')) {
      const joined = argumentsOf(trimmed, 'append('.length).map((part) =>
        part.startsWith('"') ? [this.text(part)] : this.list(part.replace(/\.\.\.$/, '')),
      );
      return joined.includes(null) ? null : (joined.flat() as string[]);
    }
    const declared = this.#lists.get(trimmed.split('.').at(-1) ?? '');
    return declared === undefined || declared === trimmed ? null : this.list(declared);
  }
}

/** The value of a field in a composite literal. */
function field(literal: string, key: string): string | null {
  const match = new RegExp(`\\b${key}:\\s*`).exec(literal);
  return match === null ? null : (argumentsOf(literal, match.index + match[0].length)[0] ?? null);
}

/** The arguments from a position up to the bracket that closes the list, without the space around them. */
export function argumentsOf(text: string, start: number): string[] {
  const found: string[] = [];
  let [depth, from, quote] = [0, start, ''];
  for (let at = start; at < text.length; at += 1) {
    const character = text[at] ?? '';
    if (quote !== '') {
      if (character === '\\' && quote !== '`') at += 1;
      else if (character === quote) quote = '';
    } else if (character === '"' || character === '`') quote = character;
    else if (text.startsWith('//', at)) at = endOfLine(text, at);
    else if ('([{'.includes(character)) depth += 1;
    else if (depth === 0 && (character === ',' || ')]}'.includes(character))) {
      if (text.slice(from, at).trim() !== '') found.push(text.slice(from, at).trim());
      from = at + 1;
      if (character !== ',') return found;
    } else if (')]}'.includes(character)) depth -= 1;
  }
  return found;
}

function endOfLine(text: string, at: number): number {
  const end = text.indexOf('\n', at);
  return end < 0 ? text.length : end;
}

/** Names of metrics without their beginning, which Rust sources add where they make the metrics. */
export interface NameGroup {
  /** The module whose constants they are. */
  readonly module: string;
  readonly endings: readonly { readonly text: string; readonly at: string }[];
}

const MODULE = /^(?:pub )?mod (\w+) \{\n([^]*?)^\}/gm;
const NESTED = /^ {4}(?:pub )?mod \w+ \{\n[^]*?^ {4}\}\n?/gm;
const RUST_CONSTANT = /const (?![A-Z0-9_]*LABEL)[A-Z0-9_]+: &str\s*=\s*"([a-z][a-z0-9]*(?:_[a-z0-9]+)+)"/g;
const RUST_CONSTRUCTOR = /\b(?:Opts|Gauge|Counter|Histogram|Vec)::(?:new|with_opts)\(\s*"([a-z][a-z0-9_]+)"/g;
/** Modules of other names, and of what labels may be. */
const OTHER = /prefix|label|component_names|tests/;

/** Metrics whose whole name is where Rust sources make them; the others are put together from parts. */
export function namedInRust(files: readonly SourceFile[], begins: RegExp): Definition[] {
  return rustOf(files).flatMap(({ path, text }) =>
    [...text.matchAll(RUST_CONSTRUCTOR)]
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
          endings: [...body.replaceAll(NESTED, '').matchAll(RUST_CONSTANT)].map(([, name = '']) => ({
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
