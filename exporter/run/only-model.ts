import type { ErrorReason } from '../../core/run/record.ts';
import type { Proxy } from '../http-client/proxy.ts';
import { ConfigurationError } from '../errors/configuration-error.ts';
import { messageExcerpt } from '../errors/message-excerpt.ts';
import { ExchangeError } from '../load/responses/whole-reader.ts';
import { connectionFailure, failureLine, isNotReady, ProbeError } from '../load/requests/probe.ts';
import { modelList, modelNames } from '../load/requests/model-list.ts';
import { whenReady } from '../load/requests/when-ready.ts';
import { serverAccess } from './prepared-traffic.ts';
import type { RunRequest } from './run-request.ts';

/**
 * The model that a server offers, when it offers exactly one. Throws a `ConfigurationError` when there is no such model
 * or the request cannot be sent, and a `ProbeError` when the server does not respond.
 */
export async function onlyModel(
  request: RunRequest,
  environment: NodeJS.ProcessEnv,
  say: (line: string) => void = () => undefined,
): Promise<string> {
  const { targets, headers, secrets, openTransport } = await serverAccess(request, environment);
  const transport = await openTransport();
  const [{ origin, modelsPath, proxy }] = targets;
  const [path] = modelsPath.split('?');
  const ask = async (): Promise<readonly string[] | null> => {
    try {
      const { status, said, models } = await modelList(transport, modelsPath, headers);
      const refused = (reason: ErrorReason, remedy: string): ProbeError =>
        new ProbeError(reason, failureLine(origin, messageExcerpt(`HTTP ${status}: ${said}`, secrets), remedy), status);
      if (isNotReady('http_5xx', status))
        throw refused('http_5xx', '--wait-ready SECONDS waits for a server that is not ready');
      if (status === 401 || status === 403)
        throw refused('http_4xx', 'Check the API key: --api-key-env VARIABLE or --api-key-file FILE');
      return models;
    } catch (error) {
      if (error instanceof ExchangeError) throw new ProbeError(error.reason, noResponse(origin, error, proxy));
      throw error;
    }
  };
  try {
    const models = await whenReady(ask, { seconds: request.waitReadySeconds, say });
    if (models === null) throw new ConfigurationError(`--model is required: ${origin} does not list models at ${path}`);
    const [model, ...others] = models;
    if (model === undefined)
      throw new ConfigurationError(`--model is required: ${origin} lists no model, check that one is loaded`);
    if (others.length > 0)
      throw new ConfigurationError(
        `--model is required: ${origin} has ${models.length} models: ${modelNames(models, secrets)}`,
      );
    return model;
  } finally {
    await transport.close();
  }
}

function noResponse(origin: string, { reason, message }: ExchangeError, proxy?: Proxy): string {
  return (
    connectionFailure(origin, reason, message, proxy) ??
    failureLine(origin, message, 'Check that the server runs, and host and port of --url')
  );
}
