import { readFile } from 'node:fs/promises';
import type { RequestHandler } from 'express';

const SCHEMAS = new URL('../../../schemas/', import.meta.url);

/** `GET /openapi.yaml`: the description of this API. */
export const openapiRoute: RequestHandler = async (_request, response) => {
  response.type('application/yaml').send(await readFile(new URL('openapi.yaml', SCHEMAS), 'utf8'));
};

/** The schemas that the description references, or that these reference. */
const REFERRED = ['run', 'result', 'servers', 'comparison', 'verdict', 'baseline'] as const;

export const SCHEMA_PATHS = REFERRED.map((name) => `/${name}.schema.json`);

/** `GET /<name>.schema.json`: a JSON Schema referenced by the description. */
export const schemaRoute: RequestHandler = async (request, response) => {
  const name = REFERRED.find((each) => request.path === `/${each}.schema.json`) ?? 'run';
  response.type('application/schema+json').send(await readFile(new URL(`${name}.schema.json`, SCHEMAS), 'utf8'));
};
