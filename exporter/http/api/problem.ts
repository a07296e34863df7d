import { STATUS_CODES } from 'node:http';
import type { ErrorRequestHandler, RequestHandler } from 'express';

/** A parameter that is wrong, and what it may be. */
export interface WrongParameter {
  readonly name: string;
  /** Null: it is missing. */
  readonly value: string | null;
  /** The values, or a rule in words. */
  readonly allowed: readonly string[];
}

/** Why a request is not answered: RFC 9457 in one shape for every route. */
export class Problem extends Error {
  override readonly name = 'Problem';
  readonly status: number;
  readonly parameters: readonly WrongParameter[];
  readonly headers: Readonly<Record<string, string>>;

  /** `detail` is one line for people. */
  constructor(
    status: number,
    detail: string,
    more: { readonly parameters?: readonly WrongParameter[]; readonly headers?: Readonly<Record<string, string>> } = {},
  ) {
    super(detail);
    this.status = status;
    this.parameters = more.parameters ?? [];
    this.headers = more.headers ?? {};
  }
}

/** 400 for these parameters; `allowed` of one that is not known are those that are. */
export function wrongParameters(
  parameters: readonly WrongParameter[],
  unknown: ReadonlySet<string> = new Set(),
): Problem {
  const lines = parameters.map(({ name, value, allowed }) => {
    if (unknown.has(name)) return `${name} is no parameter here; there is ${allowed.join(', ') || 'none'}`;
    const given = value === null ? `${name} is missing` : `${name} is '${value}'`;
    return `${given} and must be ${allowed.length > 1 ? 'one of ' : ''}${allowed.join(', ')}`;
  });
  return new Problem(400, lines.join('; '), { parameters });
}

/** Answers a `Problem` as it is, and anything else with 500 without its reason, which goes to `log`. */
export function problemHandler(log: (line: string) => void): ErrorRequestHandler {
  return (error: unknown, request, response, next) => {
    const problem = problemOf(error);
    if (problem === null) log(`${request.method} ${request.baseUrl}${request.path} failed: ${messageOf(error)}`);
    // Too late for another status: Express then breaks the connection off.
    if (response.headersSent) {
      next(error);
      return;
    }
    const { status, message, parameters, headers } =
      problem ?? new Problem(500, 'llmbench could not answer; its log says why');
    response.status(status).set(headers).set('Cache-Control', 'no-store').type('application/problem+json');
    const title = STATUS_CODES[status];
    response.send(JSON.stringify({ type: 'about:blank', title, status, detail: message, parameters }));
  };
}

/** Null: the fault is on this side. */
function problemOf(error: unknown): Problem | null {
  if (error instanceof Problem) return error;
  return error instanceof URIError ? new Problem(400, 'the address is not well formed') : null;
}

/** 404 for every address of the API that is no route. */
export const noSuchRoute: RequestHandler = (request) => {
  throw new Problem(
    404,
    `there is no ${request.baseUrl}${request.path}; ${request.baseUrl}/openapi.yaml says what there is`,
  );
};

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
