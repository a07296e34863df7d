import { ExchangeError, wholeAnswer } from '../answers/whole-answer.ts';
import { isObject } from '../endpoints/json-object.ts';
import { messageExcerpt } from '../../errors/message-excerpt.ts';
import type { Transport } from '../transports/transport.ts';

const TIMEOUT_SECONDS = 10;
/** Enough of a model list to find the right one. */
const MODELS_SHOWN = 8;

/**
 * The ids that `/v1/models` lists, the list of models of OpenAI's API; null when the response is not such a list.
 * Rejects with an `ExchangeError` when there is no response.
 */
export async function modelList(
  transport: Transport,
  path: string,
  headers: Readonly<Record<string, string>>,
): Promise<readonly string[] | null> {
  const { status, body } = await wholeAnswer(transport, { method: 'GET', path, headers, body: null }, TIMEOUT_SECONDS);
  if (status !== 200) return null;
  let list: unknown;
  try {
    list = JSON.parse(body);
  } catch {
    return null;
  }
  if (!isObject(list) || !Array.isArray(list.data)) return null;
  return (list.data as unknown[]).flatMap((model) =>
    isObject(model) && typeof model.id === 'string' ? [model.id] : [],
  );
}

/** The same for a message that the list only improves: null also without a response. */
export async function modelListIfAny(
  transport: Transport,
  path: string,
  headers: Readonly<Record<string, string>>,
): Promise<readonly string[] | null> {
  try {
    return await modelList(transport, path, headers);
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
