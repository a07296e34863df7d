import type { ProblemDetails, WrongParameter } from '../../core/api/service.ts';
import { StorageError } from '../errors/expected-error.ts';
import { STATUS_CODES } from '../http-client/node-http.ts';
import type { ErrorRequestHandler, RequestHandler } from 'express';

/** An error response (RFC 9457), the same format for every route. */
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

/** 400 for these parameters; for an unknown parameter, `allowed` lists the known ones. */
export function wrongParameters(
  parameters: readonly WrongParameter[],
  unknown: ReadonlySet<string> = new Set(),
): Problem {
  const lines = parameters.map(({ name, value, allowed }) => {
    if (unknown.has(name)) return `${name} is not a parameter here; parameters: ${allowed.join(', ') || 'none'}`;
    const given = value === null ? `${name} is missing` : `${name} is '${value}'`;
    return `${given} and must be ${allowed.length > 1 ? 'one of ' : ''}${allowed.join(', ')}`;
  });
  return new Problem(400, lines.join('; '), { parameters });
}

/**
 * Sends a `Problem` as it is, and any other error as 500 without its reason, which may name paths and goes to `log`: as
 * RFC 9457 has it, or in one line of text for people and Prometheus.
 */
export function problemHandler(log: (line: string) => void, format: 'json' | 'text' = 'json'): ErrorRequestHandler {
  return (error: unknown, request, response, next) => {
    const problem = problemOf(error);
    if (problem === null) log(`${request.method} ${request.baseUrl}${request.path} failed: ${messageOf(error)}`);
    // The headers are sent: Express closes the connection, which the client detects.
    if (response.headersSent) {
      next(error);
      return;
    }
    const { status, message, parameters, headers } =
      problem ?? new Problem(500, 'Internal error; see the log of llmbench.');
    response.status(status).set(headers);
    if (format === 'text') {
      response.type('text/plain').send(`${message}\n`);
      return;
    }
    const title = STATUS_CODES[status] ?? '';
    const body: ProblemDetails = { type: 'about:blank', title, status, detail: message, parameters };
    response.set('Cache-Control', 'no-store').type('application/problem+json').send(JSON.stringify(body));
  };
}

/** Null for an internal error. */
function problemOf(error: unknown): Problem | null {
  if (error instanceof Problem) return error;
  // The bucket is named where its runs are shown, and a reader of the page needs the reason.
  if (error instanceof StorageError) return new Problem(503, error.message);
  if (error instanceof URIError) return new Problem(400, 'the URL is malformed');
  return bodyProblem(error);
}

/** What express reports of a body that it does not read. */
function bodyProblem(error: unknown): Problem | null {
  const given: object = typeof error === 'object' && error !== null ? error : {};
  const { type, limit, status } = given as Readonly<Record<'type' | 'limit' | 'status', unknown>>;
  switch (type) {
    case 'entity.parse.failed':
      return new Problem(400, 'the body is not JSON');
    case 'entity.too.large':
      return new Problem(413, `the body is larger than ${String(limit)} bytes`, { headers: { Connection: 'close' } });
    case 'encoding.unsupported':
    case 'charset.unsupported':
      return new Problem(415, 'the body must be UTF-8, gzip or deflate at most');
    case 'request.aborted':
    case 'request.size.invalid':
      return new Problem(400, 'the body is not complete');
    default:
      // An error of decompression has no type.
      return status === 400 ? new Problem(400, 'the body cannot be decompressed') : null;
  }
}

/** 404 for every unknown path of the API. */
export const noSuchRoute: RequestHandler = (request) => {
  throw new Problem(404, `${request.baseUrl}${request.path} does not exist; see ${request.baseUrl}/openapi.yaml`);
};

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
