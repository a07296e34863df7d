import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from '@jest/globals';
import ts from 'typescript';
import { parse } from 'yaml';

const HERE = new URL('.', import.meta.url);
const SCHEMAS = new URL('../../schemas/', HERE);

/** The schemas of schemas/openapi.yaml and the types of this folder that they describe. */
const PAIRS: Readonly<Record<string, string>> = {
  Problem: 'ProblemDetails',
  Status: 'StatusResponse',
  StartedRun: 'StartedRun',
  Starts: 'StartsResponse',
  Overview: 'OverviewResponse',
  RunPage: 'RunsResponse',
  Run: 'RunResponse',
  ChangedTags: 'ChangedTags',
  Annotations: 'AnnotationsResponse',
  Values: 'ValuesResponse',
  Records: 'RecordsResponse',
  Distribution: 'DistributionResponse',
  FirstTokenTime: 'FirstTokenTimeResponse',
  ServerSeries: 'SeriesResponse',
  ScenarioPage: 'ScenariosResponse',
  Scenario: 'ScenarioResponse',
  BaselineChange: 'BaselineChange',
  ChangedBaseline: 'ChangedBaseline',
  SweepPage: 'SweepsResponse',
  Sweep: 'StoredSweep',
  'comparison.schema.json': 'CompareResponse',
  'servers.schema.json': 'ServersFile',
};

/** What values there are, as a type or a schema states it. */
interface Shape {
  readonly scalars: ReadonlySet<'null' | 'string' | 'number' | 'boolean'>;
  /** The strings, if they are listed. */
  readonly texts: ReadonlySet<string>;
  readonly items: Shape | null;
  readonly objects: readonly ObjectShape[];
}

interface ObjectShape {
  readonly members: ReadonlyMap<string, { readonly isOptional: boolean; readonly shape: () => Shape }>;
  /** Of members with any name. */
  readonly others: (() => Shape) | null;
}

const NONE: Shape = { scalars: new Set(), texts: new Set(), items: null, objects: [] };

function union(shapes: readonly Shape[]): Shape {
  const lists = shapes.flatMap(({ items }) => items ?? []);
  return {
    scalars: new Set(shapes.flatMap(({ scalars }) => [...scalars])),
    texts: new Set(shapes.flatMap(({ texts }) => [...texts])),
    items: lists.length === 0 ? null : union(lists),
    objects: shapes.flatMap(({ objects }) => objects),
  };
}

const files = [
  ...readdirSync(HERE)
    .filter((name) => !name.endsWith('.test.ts'))
    .map((name) => fileURLToPath(new URL(name, HERE))),
  fileURLToPath(new URL('../run/servers-file.ts', HERE)),
];
const program = ts.createProgram(files, {
  ...{ strict: true, noEmit: true, skipLibCheck: true, allowImportingTsExtensions: true, types: [] },
  ...{ target: ts.ScriptTarget.ES2024, module: ts.ModuleKind.NodeNext },
});
const checker = program.getTypeChecker();
const exported = new Map(
  files.flatMap((name) => {
    const source = program.getSourceFile(name);
    const module = source && checker.getSymbolAtLocation(source);
    return module === undefined ? [] : checker.getExportsOfModule(module).map((one) => [one.name, one] as const);
  }),
);

function shapeOfType(type: ts.Type): Shape {
  if (type.isUnion()) return union(type.types.map(shapeOfType));
  const is = (flags: ts.TypeFlags): boolean => (type.flags & flags) !== 0;
  if (is(ts.TypeFlags.Undefined)) return NONE;
  if (type.isStringLiteral()) return { ...NONE, texts: new Set([type.value]) };
  if (is(ts.TypeFlags.Null)) return { ...NONE, scalars: new Set(['null']) };
  if (is(ts.TypeFlags.StringLike)) return { ...NONE, scalars: new Set(['string']) };
  if (is(ts.TypeFlags.NumberLike)) return { ...NONE, scalars: new Set(['number']) };
  if (is(ts.TypeFlags.BooleanLike)) return { ...NONE, scalars: new Set(['boolean']) };
  if (checker.isArrayLikeType(type)) {
    return { ...NONE, items: union(checker.getTypeArguments(type as ts.TypeReference).map(shapeOfType)) };
  }
  const others = checker.getIndexTypeOfType(type, ts.IndexKind.String);
  const members = checker.getPropertiesOfType(type).map((member) => {
    const isOptional = (member.flags & ts.SymbolFlags.Optional) !== 0;
    return [member.name, { isOptional, shape: () => shapeOfType(checker.getTypeOfSymbol(member)) }] as const;
  });
  return { ...NONE, objects: [{ members: new Map(members), others: others ? () => shapeOfType(others) : null }] };
}

type Schema = Readonly<Record<string, unknown>>;

const documents = new Map<string, Schema>();

function documentOf(name: string): Schema {
  const read = documents.get(name) ?? (parse(readFileSync(new URL(name, SCHEMAS), 'utf8')) as Schema);
  documents.set(name, read);
  return read;
}

/** The schema that a reference in a document names, with the document that it is in. */
function referred(reference: string, document: string): readonly [Schema, string] {
  const [file = '', path = ''] = reference.split('#');
  const urn = /^urn:llmbench:schema:(\w+):/.exec(file)?.[1];
  const name = urn === undefined ? file.replace('./', '') || document : `${urn}.schema.json`;
  const steps = path.split('/').slice(1);
  return [steps.reduce((at, step) => at[step] as Schema, documentOf(name)), name];
}

/** What only result.json has, because a reader of it makes whole measures of it. */
const STORED_ONLY = { alternative: '#/$defs/without_value', member: 'also' };

function shapeOfSchema(schema: Schema, document: string): Shape {
  const of = (value: unknown): Shape => shapeOfSchema(value as Schema, document);
  const { $ref, anyOf, oneOf, allOf, type, enum: listed, const: only, items, prefixItems } = schema;
  if (typeof $ref === 'string') return shapeOfSchema(...referred($ref, document));
  const choices = (anyOf ?? oneOf) as readonly Schema[] | undefined;
  if (choices !== undefined)
    return union(choices.filter((choice) => choice['$ref'] !== STORED_ONLY.alternative).map(of));
  if (allOf !== undefined)
    return {
      ...NONE,
      objects: [joined([...(allOf as Schema[]), { ...schema, allOf: undefined }].flatMap((part) => of(part).objects))],
    };
  const values = (listed ?? (only === undefined ? undefined : [only])) as readonly unknown[] | undefined;
  if (values !== undefined) return union(values.map(shapeOfValue));
  return union(
    [type].flat().map((each): Shape => {
      switch (each) {
        case 'array':
          return {
            ...NONE,
            items: union(prefixItems === undefined ? [of(items ?? {})] : (prefixItems as Schema[]).map(of)),
          };
        case 'object':
          return { ...NONE, objects: [objectOfSchema(schema, of)] };
        case 'integer':
          return { ...NONE, scalars: new Set(['number']) };
        case 'null':
        case 'string':
        case 'number':
        case 'boolean':
          return { ...NONE, scalars: new Set([each]) };
        default:
          return NONE;
      }
    }),
  );
}

function shapeOfValue(value: unknown): Shape {
  if (typeof value === 'string') return { ...NONE, texts: new Set([value]) };
  return { ...NONE, scalars: new Set([value === null ? 'null' : (typeof value as 'number' | 'boolean')]) };
}

function objectOfSchema(schema: Schema, of: (value: unknown) => Shape): ObjectShape {
  const required = (schema['required'] ?? []) as readonly string[];
  const properties = Object.entries((schema['properties'] ?? {}) as Schema);
  const members = properties
    .filter(([name]) => name !== STORED_ONLY.member)
    .map(([name, value]) => [name, { isOptional: !required.includes(name), shape: () => of(value) }] as const);
  const { additionalProperties: others } = schema;
  return { members: new Map(members), others: typeof others === 'object' ? () => of(others) : null };
}

function joined(parts: readonly ObjectShape[]): ObjectShape {
  return {
    members: new Map(parts.flatMap(({ members }) => [...members])),
    others: parts.find(({ others }) => others)?.others ?? null,
  };
}

/**
 * Where a type and a schema differ, one line each. A type may be narrower: it may list the strings of which the schema only
 * says `string`, and always have a member that the schema lets out.
 */
function differences(path: string, type: Shape, schema: Shape, seen: readonly string[] = []): readonly string[] {
  if (seen.length > 20) return [];
  const found: string[] = [];
  for (const scalar of new Set([...type.scalars, ...schema.scalars])) {
    const isListed = scalar === 'string' && type.texts.size > 0;
    if (!type.scalars.has(scalar) && !isListed) found.push(`${path}: the type has no ${scalar}`);
    if (!schema.scalars.has(scalar)) found.push(`${path}: the description has no ${scalar}`);
  }
  if (!schema.scalars.has('string')) {
    for (const text of type.texts) if (!schema.texts.has(text)) found.push(`${path}: the description has no '${text}'`);
    for (const text of schema.texts) if (!type.texts.has(text)) found.push(`${path}: the type has no '${text}'`);
  }
  if ((type.items === null) !== (schema.items === null)) found.push(`${path}: only one is a list`);
  if (type.items !== null && schema.items !== null)
    found.push(...differences(`${path}[]`, type.items, schema.items, seen));
  return [...found, ...objectDifferences(path, type.objects, schema.objects, [...seen, path])];
}

/** Alternatives are compared with the one that is most like them. */
function objectDifferences(
  path: string,
  types: readonly ObjectShape[],
  schemas: readonly ObjectShape[],
  seen: readonly string[],
): readonly string[] {
  if (types.length !== schemas.length) return [`${path}: ${types.length} and ${schemas.length} alternatives`];
  return types.flatMap((type) => {
    const all = schemas.map((schema) => memberDifferences(path, type, schema, seen));
    return all.reduce((best, each) => (each.length < best.length ? each : best));
  });
}

function memberDifferences(
  path: string,
  type: ObjectShape,
  schema: ObjectShape,
  seen: readonly string[],
): readonly string[] {
  // A description without members says nothing of them.
  if (schema.members.size === 0 && schema.others === null) return [];
  const names = new Set([...type.members.keys(), ...schema.members.keys()]);
  const members = [...names].flatMap((name) => {
    const [own, described] = [type.members.get(name), schema.members.get(name)];
    const place = `${path}.${name}`;
    if (own === undefined) return [`${place} is not in the type`];
    if (described === undefined) return [`${place} is not in the description`];
    const optional = own.isOptional && !described.isOptional ? [`${place} is optional in the type`] : [];
    return [...optional, ...differences(place, own.shape(), described.shape(), seen)];
  });
  if (type.others === null || schema.others === null) {
    return type.others === schema.others ? members : [...members, `${path}: only one has members of any name`];
  }
  return [...members, ...differences(`${path}.*`, type.others(), schema.others(), seen)];
}

test.each(Object.entries(PAIRS))('%s describes %s', (name, typeName) => {
  const symbol = exported.get(typeName);
  if (symbol === undefined) throw new Error(`no type ${typeName}`);
  const type = shapeOfType(checker.getDeclaredTypeOfSymbol(symbol));
  const isFile = name.endsWith('.json');
  const schema = isFile ? documentOf(name) : referred(`#/components/schemas/${name}`, 'openapi.yaml')[0];
  expect(differences(typeName, type, shapeOfSchema(schema, isFile ? name : 'openapi.yaml'))).toEqual([]);
});
