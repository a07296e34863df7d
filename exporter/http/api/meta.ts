import { readFile } from 'node:fs/promises';
import type { RequestHandler } from 'express';
import type { StatusResponse } from '../../../core/api/service.ts';
import type { RunLibrary } from '../../publish/views/run-library.ts';
import type { Access } from '../access/access.ts';
import { readQuery } from './query.ts';
import { sendJson } from './send-json.ts';

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

const MAX_DAMAGED = 100;

/** `GET /status`: availability and version of the API, and its number of runs. */
export function statusRoute(library: RunLibrary, version: string, access: Access): RequestHandler {
  return async (request, response) => {
    readQuery(request, {});
    const { runs, damaged } = await library.overview();
    const running = runs.filter(({ status }) => status === 'running').length;
    await sendJson<StatusResponse>(request, response, {
      version,
      api_version: 'v1',
      runs: { finished: runs.length - running, running, damaged: damaged.length },
      damaged: damaged.slice(0, MAX_DAMAGED),
      allows_baseline_changes: access.offers(request, 'write-baseline'),
      roles: [...access.roles(request)].sort(),
    });
  };
}
