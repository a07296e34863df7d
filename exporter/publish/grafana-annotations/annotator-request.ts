import { ConfigurationError } from '../../errors/configuration-error.ts';
import { readSecret, type SecretSource } from '../remote-write/receiver-request.ts';
import type { GrafanaAccess } from './annotations-client.ts';

/** A Grafana to annotate, as a person names it. */
export interface AnnotatorRequest {
  readonly url: string;
  /** Of a service account that may write annotations. */
  readonly token: SecretSource;
  /** The dashboard to annotate; null: annotations of the whole organization, found by their tags. */
  readonly dashboardUid: string | null;
}

/** Reads the token. Throws a `ConfigurationError`, which does not hold it. */
export async function readGrafanaAccess(
  { url: text, token: source }: AnnotatorRequest,
  environment: NodeJS.ProcessEnv,
): Promise<GrafanaAccess> {
  const url = grafanaAddress(text);
  const token = await readSecret(source, '--grafana-token', environment);
  if (token === null)
    throw new ConfigurationError('--grafana-url needs --grafana-token-env or --grafana-token-file: a token of Grafana');
  return { url, token };
}

/** Where Grafana is, without user info and query. Throws a `ConfigurationError`. */
export function grafanaAddress(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || !/^https?:$/.test(url.protocol))
    throw new ConfigurationError('--grafana-url must be an http or https address: http://host:3000');
  return `${url.origin}${url.pathname.replace(/\/+$/, '')}`;
}
