import { ExchangeError, wholeResponse } from '../responses/whole-reader.ts';
import { serverMessage } from '../responses/answered-request.ts';
import { isObject } from '../endpoints/endpoint.ts';
import { messageExcerpt } from '../../errors/message-excerpt.ts';
import type { Transport } from '../transports/transport.ts';

const TIMEOUT_SECONDS = 10;
/** Enough of a model list to find the right one. */
const MODELS_SHOWN = 8;

/** What a server answers at its list of models. */
interface ModelList {
  readonly status: number;
  /** The beginning of the body, or the server's message in it. */
  readonly said: string;
  /** Null: the body is no list of models. */
  readonly models: readonly string[] | null;
}

/**
 * The models that a server lists: `{data: [{id}]}` (OpenAI), a bare list of these or of names (Together, gateways), or
 * `{models: [{name}]}` (Ollama, llama.cpp). Rejects with an `ExchangeError` when there is no response.
 */
export async function modelList(
  transport: Transport,
  path: string,
  headers: Readonly<Record<string, string>>,
): Promise<ModelList> {
  const { status, body } = await wholeResponse(
    transport,
    { method: 'GET', path, headers, body: null },
    TIMEOUT_SECONDS,
  );
  return { status, said: serverMessage(body), models: status === 200 ? modelsOf(body) : null };
}

function modelsOf(body: string): readonly string[] | null {
  let response: unknown;
  try {
    response = JSON.parse(body);
  } catch {
    return null;
  }
  const list = isObject(response) ? (response.data ?? response.models) : response;
  if (!Array.isArray(list)) return null;
  const names = (list as unknown[]).map((model) => (isObject(model) ? (model.id ?? model.name ?? model.model) : model));
  const models = names.filter((name) => typeof name === 'string');
  // Objects without a name are something else.
  return models.length === 0 && names.length > 0 ? null : models;
}

/** The same for a message that the list only improves: null also without a response. */
export async function modelListIfAny(
  transport: Transport,
  path: string,
  headers: Readonly<Record<string, string>>,
): Promise<readonly string[] | null> {
  try {
    return (await modelList(transport, path, headers)).models;
  } catch (error) {
    if (error instanceof ExchangeError) return null;
    throw error;
  }
}

/** The first names of a list, for a message. */
export function modelNames(models: readonly string[], secrets: readonly string[]): string {
  const shown = models.slice(0, MODELS_SHOWN).map((id) => messageExcerpt(id, secrets));
  const more = models.length > MODELS_SHOWN ? `, and ${models.length - MODELS_SHOWN} more` : '';
  return `${shown.join(', ')}${more}`;
}
