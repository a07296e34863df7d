import { isAlias, isMap, isScalar, isSeq, LineCounter, parseDocument, type Node } from 'yaml';
import { CliError } from '../failure.ts';
import { suggestion, type GivenValues, type Options } from './options.ts';

/** The content of a scenario file. */
export interface Scenario {
  readonly values: GivenValues;
  /** The keys of the matrix with their values, in the file's order. */
  readonly matrix: readonly Dimension[];
}

export interface Dimension {
  readonly name: string;
  /** Each as it would be given for the option. */
  readonly choices: readonly { readonly texts: readonly string[]; readonly source: string }[];
}

/**
 * Reads a scenario: a YAML map whose keys are the names of options, and `matrix`, a map of options to lists of values.
 * Strict: unknown keys, keys that come twice, empty values, aliases and a matrix of what all runs share are refused with
 * a `CliError` that names the file, the line, the key and what is allowed.
 */
export function readScenario(
  text: string,
  path: string,
  options: Options,
  sharedByRuns: ReadonlySet<string>,
): Scenario {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, uniqueKeys: true, schema: 'core', prettyErrors: false });
  const at = (offset: number): string => `${path}:${lines.linePos(offset).line}`;
  const [mistake] = [...document.errors, ...document.warnings];
  if (mistake !== undefined) throw new CliError(`${at(mistake.pos[0])}: ${mistake.message}`);
  return new ScenarioReader(options, sharedByRuns, (node, message) => {
    throw new CliError(`${at(node?.range?.[0] ?? 0)}: ${message}`);
  }).read(document.contents);
}

type Refuse = (node: Node | null, message: string) => never;

class ScenarioReader {
  readonly #options: Options;
  readonly #sharedByRuns: ReadonlySet<string>;
  readonly #refuse: Refuse;

  constructor(options: Options, sharedByRuns: ReadonlySet<string>, refuse: Refuse) {
    this.#options = options;
    this.#sharedByRuns = sharedByRuns;
    this.#refuse = refuse;
  }

  read(root: Node | null): Scenario {
    const values = new Map<string, { texts: readonly string[]; source: string }>();
    let matrix: readonly Dimension[] = [];
    for (const [name, node, keyNode] of this.#members(root, 'the file')) {
      if (name === 'matrix') {
        matrix = this.#matrix(node);
      } else {
        this.#checkName(name, keyNode);
        values.set(name, { texts: this.#texts(name, node), source: name });
      }
    }
    const twice = matrix.find(({ name }) => values.has(name));
    if (twice !== undefined) this.#refuse(root, `${twice.name} is in the file and in its matrix`);
    return { values, matrix };
  }

  #matrix(root: Node | null): readonly Dimension[] {
    return this.#members(root, 'matrix').map(([name, node, keyNode]) => {
      this.#checkName(name, keyNode);
      if (this.#sharedByRuns.has(name))
        this.#refuse(keyNode, `matrix: ${name} cannot vary between the runs of a command`);
      if (!isSeq(node) || node.items.length === 0) {
        return this.#refuse(node ?? keyNode, `matrix: ${name} must be a list of values, such as [1, 2]`);
      }
      const choices = (node.items as Node[]).map((item) => {
        return { texts: this.#texts(name, item), source: `matrix: ${name}` };
      });
      return { name, choices };
    });
  }

  #members(node: Node | null, what: string): (readonly [name: string, value: Node | null, key: Node])[] {
    if (!isMap(node)) return this.#refuse(node, `${what} must be a map of options to values, such as "concurrency: 8"`);
    return node.items.map(({ key, value }) => {
      if (!isScalar(key)) return this.#refuse(node, `${what}: a key must be the name of an option`);
      return [String(key.value), value as Node | null, key] as const;
    });
  }

  #checkName(name: string, key: Node): void {
    if (name === 'config') this.#refuse(key, 'config is not allowed in a scenario file');
    const known = Object.keys(this.#options);
    if (!known.includes(name)) this.#refuse(key, `${name} is not an option${suggestion(name, known, '')}`);
  }

  /** A value as it would be written on the command line; a list is several values, or one with commas. */
  #texts(name: string, node: Node | null): readonly string[] {
    const option = this.#options[name];
    if (option?.fields !== undefined) {
      return (isSeq(node) ? (node.items as Node[]) : [node]).map((item) =>
        this.#fieldsOrText(name, option.fields ?? [], item),
      );
    }
    if (isSeq(node)) {
      if (option?.value === undefined) return this.#refuse(node, `${name} is a switch: true or false`);
      const texts = (node.items as Node[]).map((item) => this.#text(name, item));
      return option.multiple === true ? texts : [texts.join(',')];
    }
    const text = this.#text(name, node);
    if (option?.value === undefined && text !== 'true' && text !== 'false') {
      return this.#refuse(node, `${name} is '${text}' and must be true or false`);
    }
    return [text];
  }

  /** A map of fields as JSON. */
  #fieldsOrText(name: string, fields: readonly string[], node: Node | null): string {
    if (!isMap(node)) return this.#text(name, node);
    const members = this.#members(node, name).map(([field, value, key]) => {
      if (!fields.includes(field)) this.#refuse(key, `${name}: ${field} is not a key; use ${fields.join(', ')}`);
      const items = isSeq(value) ? (value.items as Node[]) : [value];
      return [field, items.map((item) => this.#text(`${name}: ${field}`, item))] as const;
    });
    return JSON.stringify(Object.fromEntries(members));
  }

  #text(name: string, node: Node | null): string {
    if (isAlias(node)) return this.#refuse(node, `${name} is an alias; write its value`);
    const value = isScalar(node) ? node.value : undefined;
    if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') return String(value);
    return this.#refuse(node, `${name} requires a value`);
  }
}

/** Every combination of the dimensions, the last one varying fastest; one empty combination without dimensions. */
export function combinations(matrix: readonly Dimension[]): readonly GivenValues[] {
  return matrix.reduce<readonly GivenValues[]>(
    (before, { name, choices }) =>
      before.flatMap((values) => choices.map((choice) => new Map([...values, [name, choice]]))),
    [new Map()],
  );
}
