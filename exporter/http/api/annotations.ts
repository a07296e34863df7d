import type { RequestHandler } from 'express';
import { phaseAnnotations, runAnnotation, stageAnnotations } from '../../publish/views/annotations.ts';
import type { Annotation } from '../../publish/views/annotations.ts';
import { runFilter } from '../../publish/views/run-filter.ts';
import type { RunLibrary } from '../../publish/views/run-library.ts';
import { choices, integer, readQuery } from './query.ts';
import { RUN_PARAMETERS } from './run-parameters.ts';
import { sendJson } from './send-json.ts';

const KINDS = ['run', 'phase', 'stage'] as const;

const PARAMETERS = {
  ...RUN_PARAMETERS,
  kind: choices(KINDS),
  limit: integer(1, 1000, 200),
} as const;

/** `GET /annotations`: runs, their phases and the stages of their loads as regions of time, the newest run first. */
export function annotationsRoute(library: RunLibrary): RequestHandler {
  return async (request, response) => {
    const { kind, limit, ...filter } = readQuery(request, PARAMETERS);
    const wanted = kind.length === 0 ? KINDS : kind;
    const { runs } = await library.overview();
    const fitting = runs.filter(runFilter(filter)).filter(({ start }) => start !== null);
    const annotations = fitting.slice(0, limit).flatMap((run): Annotation[] => {
      const region = wanted.includes('run') ? runAnnotation(run) : null;
      return [
        ...(region === null ? [] : [region]),
        ...(wanted.includes('phase') ? phaseAnnotations(run) : []),
        ...(wanted.includes('stage') ? stageAnnotations(run) : []),
      ];
    });
    await sendJson(request, response, { annotations, total: fitting.length });
  };
}
