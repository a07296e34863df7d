import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import openapiTS, { astToString, type OpenAPI3, type SchemaObject } from 'openapi-typescript';
import ts from 'typescript';
import { parse } from 'yaml';

/**
 * Generates the types of the exporter's HTTP API from `schemas/openapi.yaml`: `npm run api-types` writes them, with
 * `-- --check` it fails when the committed file is stale. Descriptions stay in the OpenAPI document, so that rewording
 * them changes no type.
 */
const SCHEMAS = new URL('../../schemas/', import.meta.url);
const TYPES = new URL('../src/exporter-api/openapi.ts', import.meta.url);

const HEADER = '// Generated from schemas/openapi.yaml by `npm run api-types`. Do not edit.\n/* eslint-disable */\n\n';

const nodes = await openapiTS(bundledDocument(), { alphabetize: true, silent: true });
const types = HEADER + withoutComments(astToString(nodes));

if (!process.argv.includes('--check')) {
  writeFileSync(TYPES, types);
} else if (readFileSync(TYPES, 'utf8') !== types) {
  console.error(`${fileURLToPath(TYPES)} is stale: run npm run api-types`);
  process.exitCode = 1;
}

/** The document with the JSON Schemas of a run's files as components, their `$defs` too: the generator takes `$defs` for a property. */
function bundledDocument(): OpenAPI3 {
  let text = readFileSync(new URL('openapi.yaml', SCHEMAS), 'utf8');
  const components: Record<string, SchemaObject> = {};
  for (const [file, name] of [
    ['run.schema.json', 'RunFile'],
    ['result.schema.json', 'ResultFile'],
    ['servers.schema.json', 'ServersFile'],
    ['verdict.schema.json', 'VerdictEntry'],
    ['comparison.schema.json', 'Comparison'],
    ['baseline.schema.json', 'BaselineEntry'],
  ] as const) {
    text = text
      .replaceAll(`./${file}#/$defs/`, `#/components/schemas/${name}_`)
      .replaceAll(`./${file}`, `#/components/schemas/${name}`);
    const schema = readFileSync(new URL(file, SCHEMAS), 'utf8')
      .replaceAll('urn:llmbench:schema:verdict:1#/$defs/', '#/components/schemas/VerdictEntry_')
      .replaceAll('#/$defs/', `#/components/schemas/${name}_`);
    const { $defs = {}, ...root } = JSON.parse(schema) as SchemaObject & {
      $defs?: Record<string, SchemaObject>;
    };
    components[name] = root;
    for (const [key, definition] of Object.entries($defs)) {
      components[`${name}_${key}`] = definition;
    }
  }
  const document = parse(text) as OpenAPI3;
  return {
    ...document,
    components: { ...document.components, schemas: { ...document.components?.schemas, ...components } },
  };
}

function withoutComments(text: string): string {
  const file = ts.createSourceFile('openapi.ts', text, ts.ScriptTarget.Latest);
  return ts.createPrinter({ removeComments: true }).printFile(file);
}
